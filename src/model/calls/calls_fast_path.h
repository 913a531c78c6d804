/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_FAST_PATH_H
#define PFR_MODEL_CALLS_FAST_PATH_H
/* Pairs enters and exits. A fast loop handles the ordinary ones. */
#include "model/calls/calls_parts.h"

/* Pairs `count` enters and exits, in order. */
pfr_status pair_calls(struct calls_worker_state *worker, struct thread_calls *t, const struct xray_call *calls,
                      size_t count, pfr_error *err);

/* Pairs the enters and exits of a run, and advances the run past them. */
pfr_status pair_run(struct calls_worker_state *worker, struct thread_calls *t, struct xray_run *run, pfr_error *err);

#endif
