/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_BARS_H
#define PFR_VIEW_REPORT_BARS_H
/* Interface of report_bars.c; that file describes how it works. */
#include "view/report/print/report_print.h"

/* Prints the whole call tree instead of rows. */
pfr_status report_print_bars(struct report *r, const struct lines *lines, pfr_output *to, pfr_error *err);

#endif
