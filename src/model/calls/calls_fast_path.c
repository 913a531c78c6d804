/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nearly all events are ordinary: an exit ends the innermost open call, or the path of an enter is in the caches. Such
 * events are paired here in one loop, mostly straight from the bytes of the file, with the state of the loop in
 * registers. The loop stops at any other event, which calls_pair.c handles.
 */
#include "model/calls/calls_fast_path.h"
#include "model/calls/calls_pair.h"

#include "base/memory/cursor.h"
#include "base/memory/sizes.h"

/* Source of the events: bytes as in xray_run, or an array of struct xray_call. */
struct plain_source {
    const uint8_t *at, *end;
    uint64_t tsc; /* time of the previous event */
    bool is_bytes;
};

static inline struct xray_call load_call(const uint8_t *at) {
    struct xray_call call;
    memcpy(&call, at, sizeof call);
    return call;
}

/* --- The loop. */

#define IS_EXIT(action) (((action) + 1) & 2) /* an exit or a tail exit */

/* State of the loop, in registers. */
struct at_hand {
    struct open_call *top;
    struct call *out;       /* used with CALLS_SINGLY */
    uint32_t *touched;      /* used with CALLS_SUMMED */
    uint64_t tsc, shortest; /* used with all forms but CALLS_MEASURED */
};

#define INLINE static inline __attribute__((always_inline))

INLINE struct at_hand take_up(struct calls_worker_state *l, struct thread_calls *t, uint64_t tsc,
                              enum calls_gather as) {
    struct at_hand h = {.top = t->open + t->depth, .tsc = tsc};
    if (as == CALLS_SINGLY)
        h.out = l->batch + l->batched;
    if (as == CALLS_SUMMED)
        h.touched = l->gathered.touched + l->gathered.nr_touched;
    if (as != CALLS_MEASURED)
        h.shortest = l->totals.shortest;
    return h;
}

/* The last entry up to which the stack may grow in the loop. */
INLINE const struct open_call *highest(const struct thread_calls *t) {
    return t->open + (t->room - 1 < CALLS_NEAR ? t->room - 1 : CALLS_NEAR);
}

INLINE void put_down(const struct at_hand *h, struct calls_worker_state *l, struct thread_calls *t,
                     enum calls_gather as) {
    t->depth = (size_t)(h->top - t->open);
    if (as == CALLS_SINGLY)
        l->batched = (size_t)(h->out - l->batch);
    if (as == CALLS_SUMMED)
        l->gathered.nr_touched = (uint32_t)(h->touched - l->gathered.touched);
    if (as != CALLS_MEASURED)
        l->totals.shortest = h->shortest;
}

/* Stores the latency of a call if its path is prepared for that. false: not stored; pair_carefully() must deliver it.
 */
INLINE bool measure_call(struct calls_gathered *g, uint32_t node, uint64_t latency, uint64_t callees) {
    struct path_calls *calls = &g->calls[node];
    const uint32_t used = calls->used;
    if (used - 1 >= PATH_CALLS - 1)
        return false;
    g->latencies[node].at[used] = (uint32_t)latency;
    calls->used = used + 1;
    calls->callees += callees;
    return true;
}

/* As measure_call, for calls that are delivered singly or summed. */
INLINE bool give_call(struct calls_worker_state *l, struct at_hand *h, const struct open_call *call, uint64_t exit,
                      uint32_t action, enum calls_gather as) {
    const uint64_t latency = exit - call->enter, self = latency - call->callees;
    if (as == CALLS_SUMMED) {
        struct path_sum *sum = &l->gathered.sums[call->node];
        if (sum->count++ == 0)
            *h->touched++ = call->node;
        sum->self += self;
    } else if (h->out == l->batch + sizes.calls_batch) {
        return false;
    } else {
        *h->out++ = (struct call){exit, latency, (int64_t)self, call->node, action >> 1};
    }
    h->shortest = latency < h->shortest ? latency : h->shortest;
    return true;
}

_Static_assert(CALL_TAIL == PFR_TRACE_TAIL_EXIT >> 1 && PFR_TRACE_EXIT >> 1 == 0, "the flag is made of the action");

/* Ends the innermost call. */
INLINE bool end_call(struct calls_worker_state *l, struct at_hand *h, uint64_t exit, uint32_t action,
                     enum calls_gather as) {
    const struct open_call *call = h->top;
    const uint64_t latency = exit - call->enter;
    if (as == CALLS_MEASURED) {
        if ((latency | call->callees) >> 32 || call->node >= GATHERED_MOST ||
            !measure_call(&l->gathered, call->node, latency, call->callees))
            return false;
    } else if (exit < call->enter || !give_call(l, h, call, exit, action, as)) {
        return false;
    }
    (--h->top)->callees += latency;
    return true;
}

/* Ends a call whose exit directly follows its enter, so that it never gets onto the stack. */
INLINE bool end_leaf(struct calls_worker_state *l, struct at_hand *h, uint64_t enter, uint32_t latency, uint32_t node,
                     enum calls_gather as) {
    const struct open_call call = {.enter = enter, .node = node};
    if (as == CALLS_MEASURED ? !measure_call(&l->gathered, node, latency, 0)
                             : !give_call(l, h, &call, enter + latency, PFR_TRACE_EXIT, as))
        return false;
    h->top->callees += latency;
    return true;
}

/* Pairs events of an array. */
INLINE void pair_array(struct calls_worker_state *l, struct thread_calls *t, struct plain_source *from,
                       unsigned reach) {
    const struct open_call *const high = highest(t);
    struct at_hand h = take_up(l, t, from->tsc, CALLS_SINGLY);
    for (; from->at != from->end; from->at += sizeof(struct xray_call)) {
        const struct xray_call call = load_call(from->at);
        if (IS_EXIT(call.action)) {
            if (h.top->function != call.function || h.top == t->open ||
                !end_call(l, &h, call.tsc, call.action, CALLS_SINGLY))
                break;
        } else {
            const uint32_t node = call_path_met(l, h.top, h.top == t->open, call.function, reach);
            if (node == 0 || h.top >= high)
                break;
            *++h.top = (struct open_call){call.tsc, 0, call.function, node};
        }
    }
    put_down(&h, l, t, CALLS_SINGLY);
}

#define KIND 15u /* bits of a record's first word other than the function */
#define ENTER_KIND ((uint32_t)PFR_TRACE_ENTER << 1)
#define EXIT_KIND ((uint32_t)PFR_TRACE_EXIT << 1)
#define TAIL_KIND ((uint32_t)PFR_TRACE_TAIL_EXIT << 1)

/* Pairs events from the bytes of the file. Leaves out the last event, because the loop looks at each event's successor.
   Most functions make no traced calls: their enter and exit are handled in one step. */
INLINE void pair_bytes(struct calls_worker_state *l, struct thread_calls *t, struct plain_source *from, unsigned reach,
                       enum calls_gather as) {
    const struct open_call *const high = highest(t);
    const uint8_t *at = from->at, *const last = from->end - TRACE_CALL;
    struct at_hand h = take_up(l, t, from->tsc, as);
    while (at < last) {
        const uint64_t word = load_u64(at, false), tsc = h.tsc + (word >> 32);
        const uint32_t low = (uint32_t)word, function = low >> 4;
        if ((low & KIND) == ENTER_KIND) {
            const uint32_t node = call_path_met(l, h.top, h.top == t->open, function, reach);
            const uint64_t next = load_u64(at + TRACE_CALL, false);
            if (node == 0)
                break;
            if ((uint32_t)next == (low | EXIT_KIND)) {
                if (!end_leaf(l, &h, tsc, (uint32_t)(next >> 32), node, as))
                    break;
                h.tsc = tsc + (next >> 32);
                at += 2 * TRACE_CALL;
                continue;
            }
            if (h.top >= high)
                break;
            *++h.top = (struct open_call){tsc, 0, function, node};
        } else if ((low & KIND) == EXIT_KIND || (low & KIND) == TAIL_KIND) {
            if (h.top->function != function || !end_call(l, &h, tsc, (low & KIND) >> 1, as))
                break;
        } else {
            break;
        }
        h.tsc = tsc;
        at += TRACE_CALL;
    }
    from->at = at;
    from->tsc = h.tsc;
    put_down(&h, l, t, as);
}

typedef void plain_fn(struct calls_worker_state *l, struct thread_calls *t, struct plain_source *from);

#define ARRAY(name, reach)                                                                                             \
    static void name(struct calls_worker_state *l, struct thread_calls *t, struct plain_source *from) {                \
        pair_array(l, t, from, reach);                                                                                 \
    }
#define PLAIN(name, reach, as)                                                                                         \
    static void name(struct calls_worker_state *l, struct thread_calls *t, struct plain_source *from) {                \
        pair_bytes(l, t, from, reach, as);                                                                             \
    }
ARRAY(array_of_paths, 0)
ARRAY(array_of_functions, 1)
ARRAY(array_of_callers, 2)
PLAIN(paths, 0, CALLS_SINGLY)
PLAIN(functions, 1, CALLS_SINGLY)
PLAIN(callers, 2, CALLS_SINGLY)
PLAIN(paths_summed, 0, CALLS_SUMMED)
PLAIN(functions_summed, 1, CALLS_SUMMED)
PLAIN(callers_summed, 2, CALLS_SUMMED)
PLAIN(paths_measured, 0, CALLS_MEASURED)
PLAIN(functions_measured, 1, CALLS_MEASURED)
PLAIN(callers_measured, 2, CALLS_MEASURED)

static plain_fn *const of_array[] = {array_of_paths, array_of_functions, array_of_callers};
static plain_fn *const of_bytes[][3] = {
    [CALLS_SINGLY] = {paths, functions, callers},
    [CALLS_SUMMED] = {paths_summed, functions_summed, callers_summed},
    [CALLS_MEASURED] = {paths_measured, functions_measured, callers_measured},
};

static void pair_some(struct calls_worker_state *l, struct thread_calls *t, struct plain_source *from) {
    const unsigned reach = l->request->reach < 2 ? l->request->reach : 2;
    if (t->over || t->depth > CALLS_NEAR)
        return;
    if (from->is_bytes)
        of_bytes[l->gathered.as][reach](l, t, from);
    else
        of_array[reach](l, t, from);
}

/* --- All events. */

pfr_status pair_calls(struct calls_worker_state *l, struct thread_calls *t, const struct xray_call *calls, size_t count,
                      pfr_error *err) {
    struct plain_source from = {.at = (const uint8_t *)calls, .end = (const uint8_t *)(calls + count)};
    for (;;) {
        pair_some(l, t, &from);
        if (from.at == from.end)
            return PFR_OK;
        const struct xray_call call = load_call(from.at);
        PFR_TRY(pair_carefully(l, t, &call, err));
        from.at += sizeof call;
    }
}

pfr_status pair_run(struct calls_worker_state *l, struct thread_calls *t, struct xray_run *run, pfr_error *err) {
    struct plain_source from = {.at = run->at, .end = run->end, .tsc = run->tsc, .is_bytes = true};
    for (;;) {
        pair_some(l, t, &from);
        run->at = from.at;
        run->tsc = from.tsc;
        const uint64_t word = from.at < from.end ? load_u64(from.at, false) : TRACE_NO_CALL;
        if (word & TRACE_NO_CALL)
            return PFR_OK;
        const struct xray_call call = xray_call_of_word(word, from.tsc + (word >> 32));
        PFR_TRY(pair_carefully(l, t, &call, err));
        from.at += TRACE_CALL;
        from.tsc = call.tsc;
    }
}
