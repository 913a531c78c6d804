/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_GATHER_H
#define PFR_MODEL_CALLS_GATHER_H
/* Collects finished calls by path. */
#include "model/calls/calls_parts.h"

/* Makes room for all existing paths. < 0: memory. */
pfr_status gather_room(struct calls_worker_state *worker, pfr_error *err);
void gather_free(struct calls_worker_state *worker);

/* Adds a sum of calls to the path's sum. */
void gather_sum(struct calls_worker_state *worker, uint32_t node, const struct path_sum *sum);

/* Adds a finished call. */
pfr_status gather_call(struct calls_worker_state *worker, const struct call *call, pfr_error *err);

/* At the end of a thread: delivers everything collected to the sink. */
pfr_status gather_end(struct calls_worker_state *worker, pfr_error *err);

#endif
