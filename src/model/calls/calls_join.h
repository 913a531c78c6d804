/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_JOIN_H
#define PFR_MODEL_CALLS_JOIN_H
/* What other files use of calls_join.c, which says how it works. */
#include "model/calls/calls_parts.h"

/* Whether lanes that read a stretch each can join what they have. */
bool join_can_be(const struct calls_request *request);

/* Whether it is sums, which go to the sink as the first lane's. */
bool join_takes_sums(const struct calls_request *request);

/* Room for what bases are, before pending_replay. */
pfr_status join_begin(struct calls_worker_state *from, pfr_error *err);

/* After it: sums of `from` are those of whole paths of `to`, the first lane, which may be the same. PFR_END: there was
   no room for all paths. */
pfr_status join_sums(struct calls_worker_state *to, struct calls_worker_state *from, pfr_error *err);
void join_free(struct calls_worker_state *from);

#endif
