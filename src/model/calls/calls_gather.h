/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_GATHER_H
#define PFR_MODEL_CALLS_GATHER_H
/* What other files use of calls_gather.c, which says how it works. */
#include "model/calls/calls_parts.h"

/* Room for all paths that there are. < 0: memory. */
pfr_status gather_room(struct calls_worker_state *worker, pfr_error *err);
void gather_free(struct calls_worker_state *worker);

/* More of the calls of a path that is summed. */
void gather_sum(struct calls_worker_state *worker, uint32_t node, const struct path_sum *sum);

/* A finished call. */
pfr_status gather_call(struct calls_worker_state *worker, const struct call *call, pfr_error *err);

/* What was gathered goes to the sink: the thread ends. */
pfr_status gather_end(struct calls_worker_state *worker, pfr_error *err);

#endif
