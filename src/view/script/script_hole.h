/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_HOLE_H
#define PFR_VIEW_SCRIPT_HOLE_H
/* Interface of script_hole.c; that file describes how it works. */
#include "view/script/script_parts.h"

void script_report_hole(struct script *s, const pfr_error *hole);

#endif
