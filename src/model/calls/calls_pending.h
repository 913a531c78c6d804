/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_PENDING_H
#define PFR_MODEL_CALLS_PENDING_H
/* Exits and calls of a chunk that depend on the calls open before the chunk. calls_pending.c describes how they are
   resolved. */
#include "model/calls/calls_parts.h"

void pending_free(struct calls_pending *pending, struct memory *memory);

/* Call it before the thread's first enter or exit, if the calls open before it are unknown. */
pfr_status pending_begin(struct calls_worker_state *worker, struct thread_calls *t, pfr_error *err);

/* Handles an exit of a function that is not open in this chunk. */
pfr_status pending_exit(struct calls_worker_state *worker, struct thread_calls *t, const struct xray_call *exit,
                        pfr_error *err);

/* Handles the calls open at the end of a chunk. */
pfr_status pending_end(struct thread_calls *t, pfr_error *err);

/* Applies the pending events of `from` to `t`, and notes in the worker `of` which paths its bases represent. PFR_END:
   the events cannot be applied. */
pfr_status pending_replay(struct calls_worker_state *worker, struct thread_calls *t, struct calls_worker_state *of,
                          const struct thread_calls *from, pfr_error *err);

/* Whether `function` is not a function but a base of the worker. *number is then the number of the base, which
   represents the calls open before the chunk. */
bool pending_is_base(uint32_t function, uint32_t *number);

#endif
