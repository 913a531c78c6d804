/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_PRINT_H
#define PFR_VIEW_REPORT_PRINT_H
/* Prints the lines of one event, or of a group of events side by side, in one format. */
#include "base/text/json.h"
#include "view/report/fields/report_parts.h"

pfr_status report_print_table(struct report *r, const struct lines *lines, pfr_output *to, pfr_error *err);

/* Writes the head of a table: the number of samples and the events. */
void report_write_totals(struct report *r, const struct lines *lines, pfr_output *to);

#define REPORT_COLOR_ENDS "\033[m"

#endif
