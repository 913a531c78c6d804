/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_OVERHEADS_H
#define PFR_VIEW_REPORT_OVERHEADS_H
/* Interface of report_overheads.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* With --latency: stores the undivided weights of rows and totals, then divides the weights of the profile. */
pfr_status overheads_learn(struct report *r, pfr_error *err);
void overheads_free(struct report *r);

#endif
