/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stretch of a trace begins while calls are open in its threads, of which it knows nothing: an exit that none of its
 * own enters explains may be theirs, or of a call that is not open at all. It is kept, and with it whatever is open
 * then, since that may end by it; the stretch goes on as if nothing were open. What is left open at its end is kept in
 * the same way. Who has come to the end of the stretch before pairs what was kept with what is open there, as if it had
 * read on. Where calls are nested as they should be, that are as many exits as calls were open.
 */
#include "model/calls_parts.h"

#define PENDING_MOST ((size_t)4096) /* of a thread: beyond that it is not worth it */

enum { PENDING_NOTHING = -1 }; /* an action: only `below` counts */

struct pending_call {
    uint64_t tsc;
    uint64_t below;   /* ticks of calls that ended since the one before, for what was open then */
    uint64_t callees; /* of an enter: ticks of what it called so far */
    uint32_t function;
    int32_t action;
};

void pending_free(struct calls_pending *p, struct memory *memory) {
    mem_free(memory, p->at, p->room, sizeof *p->at);
    *p = (struct calls_pending){.wanted = false};
}

static pfr_status add(struct calls_lane_state *l, struct thread_calls *t, const struct pending_call *one,
                      pfr_error *err) {
    struct calls_pending *p = &t->pending;
    p->too_many = p->too_many || p->count == PENDING_MOST;
    if (p->too_many)
        return PFR_OK;
    void *more = mem_grow(&l->memory, p->at, p->count, &p->room, 32, sizeof *p->at);
    if (!more)
        return mem_fail(&l->memory, err, "calls");
    p->at = more;
    p->at[p->count++] = *one;
    return PFR_OK;
}

/* What is open now is pending, and nothing is open. */
static pfr_status set_aside(struct calls_lane_state *l, struct thread_calls *t, pfr_error *err) {
    uint64_t below = t->open[0].callees;
    for (size_t i = 1; i <= t->depth; i++) {
        const struct open_call *call = &t->open[i];
        PFR_TRY(
            add(l, t, &(struct pending_call){call->enter, below, call->callees, call->function, PFR_TRACE_ENTER}, err));
        below = 0;
    }
    while (t->depth > 0)
        pair_pop(t);
    t->open[0].callees = below;
    return PFR_OK;
}

static pfr_status add_last(struct calls_lane_state *l, struct thread_calls *t, const struct trace_call *exit,
                           int32_t action, pfr_error *err) {
    PFR_TRY(set_aside(l, t, err));
    const struct pending_call last = {exit->tsc, t->open[0].callees, 0, exit->function, action};
    t->open[0].callees = 0;
    return add(l, t, &last, err);
}

pfr_status pending_exit(struct calls_lane_state *l, struct thread_calls *t, const struct trace_call *exit,
                        pfr_error *err) {
    return add_last(l, t, exit, (int32_t)exit->action, err);
}

pfr_status pending_end(struct calls_lane_state *l, struct thread_calls *t, pfr_error *err) {
    return add_last(l, t, &(struct trace_call){0}, PENDING_NOTHING, err);
}

pfr_status pending_replay(struct calls_lane_state *l, struct thread_calls *t, const struct thread_calls *from,
                          pfr_error *err) {
    const struct calls_pending *p = &from->pending;
    if (p->too_many)
        return PFR_END;
    for (size_t i = 0; i < p->count; i++) {
        const struct pending_call *one = &p->at[i];
        if (t->depth + from->room > CALLS_DEEPEST) /* some may have been too deep */
            return PFR_END;
        t->open[t->depth].callees += one->below;
        if (one->action == PENDING_NOTHING)
            continue;
        PFR_TRY(pair_carefully(l, t, &(struct trace_call){one->tsc, one->function, (uint32_t)one->action}, err));
        if (one->action == PFR_TRACE_ENTER)
            t->open[t->depth].callees = one->callees;
    }
    return PFR_OK;
}
