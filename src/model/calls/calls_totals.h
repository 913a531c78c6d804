/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_TOTALS_H
#define PFR_MODEL_CALLS_TOTALS_H
/* What other files use of calls_totals.c, which says how it works. */
#include "model/calls/calls_parts.h"

/* Tells a hole. */
void calls_tell(const struct calls_request *request, struct calls_totals *totals, const pfr_error *hole);

/* Adds what a lane counted. */
void calls_totals_add(struct calls_totals *to, const struct calls_totals *from);

#endif
