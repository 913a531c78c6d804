/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_PREFETCH_H
#define PFR_MODEL_CALLS_PREFETCH_H
/* Interface of calls_prefetch.c, which describes how it works. */
#include "model/calls/calls_parts.h"

/* Whether one thread should pair all calls while the others decode for it, instead of each thread pairing some of them.
   `jobs`: number of threads. */
bool calls_ahead_wanted(const struct calls_index *x, unsigned jobs);

/* Reads all threads of the index with the only worker, using `jobs` threads. PFR_HOLE: see calls_workers.clean. */
pfr_status calls_ahead_run(struct calls_workers *all, unsigned jobs, pfr_error *err);

#endif
