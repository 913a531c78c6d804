/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TABLE_LINES_H
#define PFR_VIEW_REPORT_TABLE_LINES_H
/* What other files use of report_table_lines.c, which says how it works. */
#include "view/report/print/report_print.h"

/* What makes a share stand out on a terminal; NULL: nothing. */
const char *report_color(const struct report *r, double percent);

#endif
