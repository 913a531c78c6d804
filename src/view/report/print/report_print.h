/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_PRINT_H
#define PFR_VIEW_REPORT_PRINT_H
/* Lines of one event, or of a group side by side, in each format. */
#include "base/text/json.h"
#include "view/report/fields/report_parts.h"

pfr_status report_print_table(struct report *r, const struct lines *lines, pfr_output *to, pfr_error *err);

/* What stands above a table: how many samples of which events. */
void report_write_totals(struct report *r, const struct lines *lines, pfr_output *to);

#define REPORT_COLOR_ENDS "\033[m"

#endif
