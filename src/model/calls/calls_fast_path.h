/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_FAST_PATH_H
#define PFR_MODEL_CALLS_FAST_PATH_H
/* What other files use of calls_fast_path.c, which says how it works. */
#include "model/calls/calls_parts.h"

/* Enters and exits, in their order. */
pfr_status pair_calls(struct calls_worker_state *worker, struct thread_calls *t, const struct trace_call *calls,
                      size_t count, pfr_error *err);

/* Those of a run, which is behind them then. */
pfr_status pair_run(struct calls_worker_state *worker, struct thread_calls *t, struct trace_run *run, pfr_error *err);

#endif
