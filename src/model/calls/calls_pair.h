/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_PAIR_H
#define PFR_MODEL_CALLS_PAIR_H
/* What other files use of calls_pair.c, which says how it works. */
#include "model/calls/calls_parts.h"

pfr_status thread_calls_init(struct thread_calls *t, struct memory *memory, pfr_error *err);
void thread_calls_free(struct thread_calls *t);

/* An enter or exit. */
pfr_status pair_carefully(struct calls_worker_state *worker, struct thread_calls *t, const struct xray_call *call,
                          pfr_error *err);

/* The thread has no more: what is open stays open, and nothing is. */
pfr_status pair_end(struct calls_worker_state *worker, struct thread_calls *t, pfr_error *err);

/* The innermost open call is so no more. */
void pair_pop(struct thread_calls *t);

/* Gives the sink what is batched. */
pfr_status pair_flush(struct calls_worker_state *worker, pfr_error *err);

/* The child of a node, PATH_LIMIT where there is no room for one; the next enter finds it among the edges. */
pfr_status worker_child(struct calls_worker_state *worker, uint32_t parent, uint32_t function, uint32_t *child,
                        pfr_error *err);

/* What follows is of this thread. */
pfr_status worker_thread(struct calls_worker_state *worker, const struct calls_thread *thread, pfr_error *err);

/* One of `lanes`. */
pfr_status worker_init(struct calls_worker_state *worker, unsigned number, unsigned workers,
                       const struct calls_request *request, struct memory *memory, pfr_error *err);
void worker_free(struct calls_worker_state *worker);

#endif
