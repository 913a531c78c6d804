/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a chunk of a trace begins, its worker does not know which calls are open in the threads. An exit that matches no
 * enter of the chunk may end one of those calls, or be unmatched. Such an exit is kept, together with all calls open at
 * that time, since it may end them too; then the chunk continues without open calls. Calls open at the end of the chunk
 * are kept the same way. When the previous chunk has ended, the kept events are paired with its open calls, as if its
 * worker had read on. If calls are properly nested, there are as many kept exits as there were open calls.
 *
 * If whole paths are requested, the paths of a chunk begin with a base, which represents the unknown open calls. A
 * thread begins with one base and gets another after each kept exit. The meaning of a base is known when the kept
 * events are paired.
 */
#include "model/calls/calls_pending.h"
#include "model/calls/calls_pair.h"

#include "base/memory/sizes.h"

#define FIRST_BASE (1u << 28) /* above the functions of a flight recorder */

enum { PENDING_NOTHING = -1 }; /* an action without an enter or exit: only `below` is used */

struct pending_call {
    uint64_t tsc;
    /* Ticks of calls that ended between the previous kept event and this one, and whose caller is the innermost call
       that was open before this event. */
    uint64_t below;
    uint64_t callees; /* of an enter: ticks of the callees that have ended so far */
    uint32_t function;
    int32_t action;
    uint32_t base; /* base that represents the calls open at that time; 0: no base */
};

void pending_free(struct calls_pending *p, struct memory *memory) {
    mem_free(memory, p->at, p->room, sizeof *p->at);
    *p = (struct calls_pending){.wanted = false};
}

bool pending_is_base(uint32_t function, uint32_t *number) {
    *number = function - FIRST_BASE;
    return function >= FIRST_BASE;
}

/* Makes a new base for the enters that follow. */
static pfr_status new_base(struct calls_worker_state *l, struct thread_calls *t, uint32_t *base, pfr_error *err) {
    *base = PATH_ROOT;
    if (l->request->reach == 0)
        PFR_TRY(worker_child(l, PATH_ROOT, FIRST_BASE + l->bases++, base, err));
    t->open[0].node = *base;
    return PFR_OK;
}

pfr_status pending_begin(struct calls_worker_state *l, struct thread_calls *t, pfr_error *err) {
    t->pending.wanted = true;
    return new_base(l, t, &t->pending.base, err);
}

static pfr_status add(struct thread_calls *t, const struct pending_call *one, pfr_error *err) {
    struct calls_pending *p = &t->pending;
    p->too_many = p->too_many || p->count == sizes.calls_pending;
    if (p->too_many)
        return PFR_OK;
    void *more = mem_grow(t->memory, p->at, p->count, &p->room, 32, sizeof *p->at);
    if (!more)
        return mem_fail(t->memory, err, "calls");
    p->at = more;
    p->at[p->count++] = *one;
    return PFR_OK;
}

/* Makes the open calls pending; then no call is open. */
static pfr_status defer_lookup(struct thread_calls *t, pfr_error *err) {
    uint64_t below = t->open[0].callees;
    for (size_t i = 1; i <= t->depth; i++) {
        const struct open_call *call = &t->open[i];
        const struct pending_call entered = {call->enter, below, call->callees, call->function, PFR_TRACE_ENTER, 0};
        PFR_TRY(add(t, &entered, err));
        below = 0;
    }
    while (t->depth > 0)
        pair_pop(t);
    t->open[0].callees = below;
    return PFR_OK;
}

pfr_status pending_exit(struct calls_worker_state *l, struct thread_calls *t, const struct xray_call *exit,
                        pfr_error *err) {
    PFR_TRY(defer_lookup(t, err));
    struct pending_call last = {exit->tsc, t->open[0].callees, 0, exit->function, (int32_t)exit->action, 0};
    t->open[0].callees = 0;
    PFR_TRY(new_base(l, t, &last.base, err));
    return add(t, &last, err);
}

pfr_status pending_end(struct thread_calls *t, pfr_error *err) {
    PFR_TRY(defer_lookup(t, err));
    return add(t, &(struct pending_call){.below = t->open[0].callees, .action = PENDING_NOTHING}, err);
}

/* Sets the meaning of the base to the calls that are open in `t` now. */
static void learn_base(struct calls_worker_state *of, uint32_t base, const struct thread_calls *t) {
    uint32_t number;
    if (base != PATH_ROOT && pending_is_base(of->paths.at[base].function, &number))
        of->base_is[number] = t->open[t->depth].node;
}

pfr_status pending_replay(struct calls_worker_state *l, struct thread_calls *t, struct calls_worker_state *of,
                          const struct thread_calls *from, pfr_error *err) {
    const struct calls_pending *p = &from->pending;
    if (p->too_many)
        return PFR_END;
    learn_base(of, p->base, t);
    for (size_t i = 0; i < p->count; i++) {
        const struct pending_call *one = &p->at[i];
        if (t->depth + from->room > CALLS_DEEPEST) /* some enters may have been too deep */
            return PFR_END;
        t->open[t->depth].callees += one->below;
        if (one->action == PENDING_NOTHING)
            continue;
        PFR_TRY(pair_carefully(l, t, &(struct xray_call){one->tsc, one->function, (uint32_t)one->action}, err));
        if (one->action == PFR_TRACE_ENTER)
            t->open[t->depth].callees = one->callees;
        learn_base(of, one->base, t);
    }
    return PFR_OK;
}
