/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_PREFETCH_H
#define PFR_MODEL_CALLS_PREFETCH_H
/* Interface of calls_prefetch.c, which describes how it works. */
#include "model/calls/calls_parts.h"

/* Whether `jobs` threads are used better if one of them pairs all calls and the others decode for it. */
bool calls_ahead_wanted(const struct calls_index *x, unsigned jobs);

/* Reads all threads of the index with the only worker, using `jobs` threads. PFR_HOLE: see calls_workers.clean. */
pfr_status calls_ahead_run(struct calls_workers *all, unsigned jobs, pfr_error *err);

#endif
