/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_CSV_H
#define PFR_VIEW_REPORT_CSV_H
/* Interface of report_csv.c; that file describes how it works. */
#include "view/report/print/report_print.h"

void report_write_csv_heading(struct report *r, pfr_output *to);
pfr_status report_write_csv(struct report *r, const struct lines *lines, pfr_output *to, pfr_error *err);

#endif
