/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_TOTALS_H
#define PFR_MODEL_CALLS_TOTALS_H
/* Interface of calls_totals.c, which describes how it works. */
#include "model/calls/calls_parts.h"

/* Reports a hole to the caller, and notes it in the totals. */
void calls_report_hole(const struct calls_request *request, struct calls_totals *totals, const pfr_error *hole);

/* Adds the counts of a worker. */
void calls_totals_add(struct calls_totals *to, const struct calls_totals *from);

#endif
