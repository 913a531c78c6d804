/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_PREFETCH_H
#define PFR_MODEL_CALLS_PREFETCH_H
/* What other files use of calls_prefetch.c, which says how it works. */
#include "model/calls/calls_parts.h"

/* Whether so many threads of ours are of more use if one has all the calls, and the others decode for it. */
bool calls_ahead_wanted(const struct calls_index *x, unsigned jobs);

/* All threads of the index on the one lane that there is, with as many threads of ours. PFR_HOLE: see calls_workers. */
pfr_status calls_ahead_run(struct calls_workers *all, unsigned jobs, pfr_error *err);

#endif
