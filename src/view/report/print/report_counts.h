/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_COUNTS_H
#define PFR_VIEW_REPORT_COUNTS_H
#include "view/report/fields/report_parts.h"

/* Of a recording without samples, what its READ records counted. */
pfr_status report_print_counts(struct report *r, pfr_output *to, pfr_error *err);

#endif
