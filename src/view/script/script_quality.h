/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_QUALITY_H
#define PFR_VIEW_SCRIPT_QUALITY_H
/* Interface of script_quality.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* Tells what the text leaves out or shows late; once all of it is printed. */
void script_tell_quality(struct script *s);
/* Notes why nothing was printed. */
void script_tell_empty(const pfr_script_options *options);

#endif
