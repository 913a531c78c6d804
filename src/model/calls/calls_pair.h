/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_PAIR_H
#define PFR_MODEL_CALLS_PAIR_H
/* Interface of calls_pair.c, which describes how it works. */
#include "model/calls/calls_parts.h"

pfr_status thread_calls_init(struct thread_calls *t, struct memory *memory, pfr_error *err);
void thread_calls_free(struct thread_calls *t);

/* Pairs one enter or exit. */
pfr_status pair_carefully(struct calls_worker_state *worker, struct thread_calls *t, const struct xray_call *call,
                          pfr_error *err);

/* Ends a thread: its open calls are delivered as open calls, and the stack is then empty. */
pfr_status pair_end(struct calls_worker_state *worker, struct thread_calls *t, pfr_error *err);

/* Removes the innermost open call from the stack. */
void pair_pop(struct thread_calls *t);

/* Delivers the batched calls to the sink. */
pfr_status pair_flush(struct calls_worker_state *worker, pfr_error *err);

/* Finds or adds the child of a node and puts it into the caches for the next enter. PATH_LIMIT: there is no room for a
   child. */
pfr_status worker_child(struct calls_worker_state *worker, uint32_t parent, uint32_t function, uint32_t *child,
                        pfr_error *err);

/* Reports to the sink that the following calls belong to this thread. */
pfr_status worker_thread(struct calls_worker_state *worker, const struct calls_thread *thread, pfr_error *err);

/* Initialises worker `number`, one of `workers`. */
pfr_status worker_init(struct calls_worker_state *worker, unsigned number, unsigned workers,
                       const struct calls_request *request, struct memory *memory, pfr_error *err);
void worker_free(struct calls_worker_state *worker);

#endif
