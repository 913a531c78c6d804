/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_JOIN_H
#define PFR_MODEL_CALLS_JOIN_H
/* Interface of calls_join.c, which describes how it works. */
#include "model/calls/calls_parts.h"

/* Whether the results of workers that read one chunk each can be joined. */
bool join_can_be(const struct calls_request *request);

/* Whether the results are joined as sums, which the first worker delivers to the sink. */
bool join_takes_sums(const struct calls_request *request);

/* Makes room for the paths that the bases represent. Call it before pending_replay. */
pfr_status join_begin(struct calls_worker_state *from, pfr_error *err);

/* Adds the sums of `from` to the sums by whole paths of `to`, the first worker. Both may be the same worker. Call it
   after pending_replay. PFR_END: there was no room for all paths. */
pfr_status join_sums(struct calls_worker_state *to, struct calls_worker_state *from, pfr_error *err);
void join_free(struct calls_worker_state *from);

#endif
