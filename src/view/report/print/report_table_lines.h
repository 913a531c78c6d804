/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TABLE_LINES_H
#define PFR_VIEW_REPORT_TABLE_LINES_H
/* Interface of report_table_lines.c; that file describes how it works. */
#include "view/report/print/report_print.h"

/* The escape sequence that highlights a percentage on a terminal; NULL: no highlighting. */
const char *report_color(const struct report *r, double percent);

#endif
