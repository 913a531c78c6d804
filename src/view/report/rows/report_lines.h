/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_LINES_H
#define PFR_VIEW_REPORT_LINES_H
/* Interface of report_lines.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* Determines the rows of each event; call it before making lines. */
pfr_status lines_prepare(struct report *r, pfr_error *err);

/* Makes sorted lines from the rows of `members` events from `leader` on; rows below options->percent_limit are left
   out. */
pfr_status lines_make(struct report *r, uint32_t leader, uint32_t members, struct lines *lines, pfr_error *err);
void lines_free(struct report *r, struct lines *lines);

#endif
