/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_PENDING_H
#define PFR_MODEL_CALLS_PENDING_H
/* What other files use of calls_pending.c, which says how it works. */
#include "model/calls/calls_parts.h"

void pending_free(struct calls_pending *pending, struct memory *memory);

/* What is open before the thread's first enter or exit is not known. */
pfr_status pending_begin(struct calls_worker_state *worker, struct thread_calls *t, pfr_error *err);

/* An exit of what is not open here. */
pfr_status pending_exit(struct calls_worker_state *worker, struct thread_calls *t, const struct trace_call *exit,
                        pfr_error *err);

/* What is open at the end of a stretch. */
pfr_status pending_end(struct thread_calls *t, pfr_error *err);

/* What `from` did not know happens to `t`, and its lane learns what its paths begin with. PFR_END: it cannot be told
   so. */
pfr_status pending_replay(struct calls_worker_state *worker, struct thread_calls *t, struct calls_worker_state *of,
                          const struct thread_calls *from, pfr_error *err);

/* Whether the function is none, but stands for what was open before: the lane's base of that number. */
bool pending_is_base(uint32_t function, uint32_t *number);

#endif
