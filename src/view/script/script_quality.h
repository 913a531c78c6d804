/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_QUALITY_H
#define PFR_VIEW_SCRIPT_QUALITY_H
/* Interface of script_quality.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* Reports what the text omits or shows late; call it after everything was printed. */
void script_report_quality(struct script *s);
/* Notes why nothing was printed. */
void script_report_empty(const pfr_script_options *options);

#endif
