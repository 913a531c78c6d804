/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_COUNTS_H
#define PFR_VIEW_REPORT_COUNTS_H
#include "view/report/fields/report_parts.h"

/* For a recording without samples, prints the counts from its READ records. */
pfr_status report_print_counts(struct report *r, pfr_output *to, pfr_error *err);

#endif
