/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enters and exits of one thread to calls. The innermost open call is mostly the one that an exit leaves; where it is
 * not, the stack is searched. So that a trace full of lone exits cannot make that long, functions of calls that are
 * open above CALLS_NEAR are counted.
 */
#include "model/calls_parts.h"

#include <string.h>

#define FIRST_ROOM ((size_t)64)

pfr_status thread_calls_init(struct thread_calls *t, struct memory *memory, pfr_error *err) {
    *t = (struct thread_calls){.room = FIRST_ROOM};
    u64_map_init(&t->above, memory);
    t->open = mem_alloc(memory, t->room, sizeof *t->open);
    if (!t->open)
        return mem_fail(memory, err, "calls");
    t->open[0] = (struct open_call){.node = PATH_ROOT};
    return PFR_OK;
}

void thread_calls_free(struct thread_calls *t, struct memory *memory) {
    mem_free(memory, t->open, t->room, sizeof *t->open);
    t->open = NULL;
    u64_map_free(&t->above);
}

/* --- What goes to the sink. */

pfr_status pair_flush(struct calls_lane_state *l, pfr_error *err) {
    const struct calls_wish *wish = l->wish;
    const size_t count = l->batched;
    l->batched = 0;
    l->totals.calls += count;
    if (count == 0 || !wish->sink->calls)
        return PFR_OK;
    return wish->sink->calls(wish->context, &l->public, l->batch, count, err);
}

static pfr_status give_open(struct calls_lane_state *l, const struct open_call *call, pfr_error *err) {
    const struct calls_wish *wish = l->wish;
    l->totals.open++;
    return wish->sink->open ? wish->sink->open(wish->context, &l->public, call->node, call->enter, err) : PFR_OK;
}

static pfr_status give_lone(struct calls_lane_state *l, const struct thread_calls *t, const struct trace_call *exit,
                            pfr_error *err) {
    const struct calls_wish *wish = l->wish;
    const uint32_t node = t->open[t->depth].node;
    l->totals.lone++;
    return wish->sink->lone ? wish->sink->lone(wish->context, &l->public, node, exit->function, exit->tsc, err)
                            : PFR_OK;
}

/* --- The stack. */

static pfr_status grow(struct calls_lane_state *l, struct thread_calls *t, pfr_error *err) {
    struct open_call *more = mem_resize(&l->memory, t->open, t->room, t->room * 2, sizeof *more);
    if (!more)
        return mem_fail(&l->memory, err, "calls");
    t->open = more;
    t->room *= 2;
    return PFR_OK;
}

static pfr_status count_above(struct calls_lane_state *l, struct thread_calls *t, uint32_t function, pfr_error *err) {
    uint64_t *count = u64_map_at(&t->above, function, 0, NULL);
    if (!count)
        return mem_fail(&l->memory, err, "calls");
    ++*count;
    return PFR_OK;
}

/* Room for one more, and its count where counts are kept. PFR_END: it is too deep. */
static pfr_status make_room(struct calls_lane_state *l, struct thread_calls *t, uint32_t function, pfr_error *err) {
    if (t->depth == CALLS_DEEPEST) {
        t->over++;
        l->totals.too_deep++;
        return PFR_END;
    }
    if (t->depth + 1 == t->room)
        PFR_TRY(grow(l, t, err));
    return t->depth >= CALLS_NEAR ? count_above(l, t, function, err) : PFR_OK;
}

static void count_less_above(struct thread_calls *t, uint32_t function) {
    --*u64_map_at(&t->above, function, 0, NULL); /* which is there */
}

static void pop(struct thread_calls *t) {
    if (t->depth > CALLS_NEAR)
        count_less_above(t, t->open[t->depth].function);
    t->depth--;
}

pfr_status lane_child(struct calls_lane_state *l, uint32_t parent, uint32_t function, uint32_t *child, pfr_error *err) {
    const pfr_status st =
        parent == PATH_LIMIT ? PFR_ERR_LIMIT : call_paths_child(&l->paths, parent, function, child, err);
    if (st >= 0)
        l->edges[call_edge_place(parent, function)] = (struct call_edge){parent, function, *child};
    if (st != PFR_ERR_LIMIT)
        return st;
    *child = PATH_LIMIT;
    l->totals.limited++;
    return PFR_OK;
}

/* The innermost open call never ends: its callees are the caller's. */
static pfr_status leave_open(struct calls_lane_state *l, struct thread_calls *t, pfr_error *err) {
    const struct open_call call = t->open[t->depth];
    t->open[t->depth - 1].callees += call.callees;
    pop(t);
    return give_open(l, &call, err);
}

static bool is_open(const struct thread_calls *t, uint32_t function) {
    uint64_t count;
    if (t->depth > CALLS_NEAR && u64_map_get(&t->above, function, &count) && count > 0)
        return true;
    for (size_t i = t->depth < CALLS_NEAR ? t->depth : CALLS_NEAR; i > 0; i--)
        if (t->open[i].function == function)
            return true;
    return false;
}

/* What an open call becomes by its exit. */
static inline struct call end_of(const struct open_call *call, const struct trace_call *exit) {
    const bool backward = exit->tsc < call->enter;
    const uint64_t latency = backward ? 0 : exit->tsc - call->enter;
    const uint32_t tail = exit->action == PFR_TRACE_TAIL_EXIT ? CALL_TAIL : 0;
    return (struct call){call->enter, exit->tsc, (int64_t)(latency - call->callees), call->node,
                         tail | (backward ? CALL_BACKWARD : 0)};
}

/* The innermost open call ends because one around it does. */
static pfr_status end_with(struct calls_lane_state *l, struct thread_calls *t, const struct trace_call *exit,
                           pfr_error *err) {
    struct call call = end_of(&t->open[t->depth], exit);
    const uint64_t latency = call_latency(&call);
    l->totals.backward += call.flags & CALL_BACKWARD ? 1 : 0;
    l->totals.shortest = latency < l->totals.shortest ? latency : l->totals.shortest;
    call.flags |= CALL_DEDUCED;
    l->batch[l->batched++] = call;
    t->open[t->depth - 1].callees += latency;
    pop(t);
    return l->batched == CALLS_BATCH ? pair_flush(l, err) : PFR_OK;
}

/* The exit is not the innermost open call's. PFR_END: it is that of none. */
static pfr_status leave_down_to(struct calls_lane_state *l, struct thread_calls *t, const struct trace_call *exit,
                                pfr_error *err) {
    if (t->over) { /* of a call that was too deep to be open */
        t->over--;
        return PFR_END;
    }
    if (!is_open(t, exit->function)) {
        PFR_TRY(give_lone(l, t, exit, err));
        return PFR_END;
    }
    while (t->open[t->depth].function != exit->function)
        PFR_TRY(l->wish->deduce ? end_with(l, t, exit, err) : leave_open(l, t, err));
    return PFR_OK;
}

/* --- One call after the other. */

/* What is used for each of them, in registers: the lane and its thread are as they were until put_down. */
struct at_hand {
    struct open_call *base, *top;
    const struct open_call *high; /* from there on an enter needs a look */
    const struct call_edge *edges;
    unsigned reach; /* of the wish */
    size_t batched;
    uint64_t shortest;
    bool over;
};

static inline struct at_hand take_up(const struct calls_lane_state *l, const struct thread_calls *t) {
    const size_t plain = t->room - 1 < CALLS_NEAR ? t->room - 1 : CALLS_NEAR;
    return (struct at_hand){.base = t->open,
                            .top = t->open + t->depth,
                            .high = t->open + plain,
                            .edges = l->edges,
                            .reach = l->wish->reach,
                            .batched = l->batched,
                            .shortest = l->totals.shortest,
                            .over = t->over > 0};
}

static inline void put_down(const struct at_hand *h, struct calls_lane_state *l, struct thread_calls *t) {
    t->depth = (size_t)(h->top - h->base);
    l->batched = h->batched;
    l->totals.shortest = h->shortest;
}

/* Below which path a call is looked for. */
static pfr_status parent_of(struct calls_lane_state *l, const struct thread_calls *t, uint32_t *parent,
                            pfr_error *err) {
    const struct open_call *caller = &t->open[t->depth];
    *parent = l->wish->reach ? PATH_ROOT : caller->node;
    return l->wish->reach > 1 && t->depth > 0 ? lane_child(l, PATH_ROOT, caller->function, parent, err) : PFR_OK;
}

static __attribute__((noinline)) pfr_status enter_slowly(struct calls_lane_state *l, struct thread_calls *t,
                                                         const struct trace_call *call, pfr_error *err) {
    uint32_t parent, node;
    if (t->depth + 1 == t->room || t->depth >= CALLS_NEAR) {
        const pfr_status st = make_room(l, t, call->function, err);
        if (st != PFR_OK)
            return st == PFR_END ? PFR_OK : st;
    }
    PFR_TRY(parent_of(l, t, &parent, err));
    PFR_TRY(lane_child(l, parent, call->function, &node, err));
    t->open[++t->depth] = (struct open_call){call->tsc, 0, call->function, node};
    return PFR_OK;
}

/* PFR_OK: now the innermost call is the one that ends. */
static __attribute__((noinline)) pfr_status leave_slowly(struct calls_lane_state *l, struct thread_calls *t,
                                                         const struct trace_call *exit, pfr_error *err) {
    if (l->batched == CALLS_BATCH)
        PFR_TRY(pair_flush(l, err));
    if (t->depth > 0 && !t->over && t->open[t->depth].function == exit->function)
        return PFR_OK;
    return leave_down_to(l, t, exit, err);
}

/* 0: it was not met lately. */
static inline uint32_t met_lately(const struct at_hand *h, uint32_t parent, uint32_t function) {
    const struct call_edge *edge = &h->edges[call_edge_place(parent, function)];
    return edge->parent == parent && edge->function == function ? edge->child : 0;
}

/* false: it needs a look. So it does where the path of its caller was not met lately. */
static inline bool enter(struct at_hand *h, const struct trace_call *call) {
    uint32_t parent = h->reach ? PATH_ROOT : h->top->node;
    if (h->reach > 1 && h->top != h->base && (parent = met_lately(h, PATH_ROOT, h->top->function)) == 0)
        return false;
    const uint32_t child = met_lately(h, parent, call->function);
    if (h->top >= h->high || child == 0)
        return false;
    *++h->top = (struct open_call){call->tsc, 0, call->function, child};
    return true;
}

static inline bool may_leave(const struct at_hand *h, const struct trace_call *exit) {
    return h->top->function == exit->function && h->top != h->base && !h->over && h->batched < CALLS_BATCH;
}

/* The innermost open call ends. */
static inline void leave(struct at_hand *h, struct calls_lane_state *l, const struct trace_call *exit) {
    const struct call call = end_of(h->top, exit);
    const uint64_t latency = call_latency(&call);
    l->batch[h->batched++] = call;
    if (__builtin_expect(call.flags & CALL_BACKWARD, 0))
        l->totals.backward++;
    h->shortest = latency < h->shortest ? latency : h->shortest;
    (--h->top)->callees += latency;
}

pfr_status pair_calls(struct calls_lane_state *l, struct thread_calls *t, const struct trace_call *calls, size_t count,
                      pfr_error *err) {
    struct at_hand h = take_up(l, t);
    for (size_t i = 0; i < count; i++) {
        const struct trace_call *call = &calls[i];
        const bool is_exit = (call->action + 1) & 2; /* an exit or a tail exit */
        if (is_exit ? may_leave(&h, call) : enter(&h, call)) {
            if (!is_exit)
                continue;
        } else {
            put_down(&h, l, t);
            const pfr_status st = is_exit ? leave_slowly(l, t, call, err) : enter_slowly(l, t, call, err);
            PFR_TRY(st);
            h = take_up(l, t);
            if (!is_exit || st == PFR_END)
                continue;
        }
        if (h.top - h.base > (ptrdiff_t)CALLS_NEAR)
            count_less_above(t, call->function);
        leave(&h, l, call);
    }
    put_down(&h, l, t);
    return l->batched == CALLS_BATCH ? pair_flush(l, err) : PFR_OK;
}

pfr_status pair_end(struct calls_lane_state *l, struct thread_calls *t, pfr_error *err) {
    PFR_TRY(pair_flush(l, err));
    while (t->depth > 0)
        PFR_TRY(leave_open(l, t, err));
    t->open[0].callees = 0;
    t->over = 0;
    return PFR_OK;
}

/* --- Lanes. */

/* Of what memory is left, in hundreds, that paths may take: a sink needs some for each, too. */
#define PATHS_SHARE 10u

pfr_status lane_init(struct calls_lane_state *l, unsigned number, unsigned lanes, const struct calls_wish *wish,
                     struct memory *memory, pfr_error *err) {
    l->public = (struct calls_lane){.number = number, .paths = &l->paths};
    l->wish = wish;
    l->totals = (struct calls_totals){.shortest = UINT64_MAX, .first = UINT64_MAX};
    l->batched = 0;
    memset(l->edges, 0, sizeof l->edges);
    memory_share(&l->memory, memory);
    memory_share(&l->paths_memory, memory);
    l->paths_memory.limit = (memory->limit - memory->used) / lanes / 100 * PATHS_SHARE;
    return call_paths_init(&l->paths, &l->paths_memory, err);
}

void lane_free(struct calls_lane_state *l) {
    call_paths_free(&l->paths);
}

pfr_status lane_thread(struct calls_lane_state *l, const struct calls_thread *thread, pfr_error *err) {
    PFR_TRY(pair_flush(l, err));
    return l->wish->sink->thread ? l->wish->sink->thread(l->wish->context, &l->public, thread, err) : PFR_OK;
}
