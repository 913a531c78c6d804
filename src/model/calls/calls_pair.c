/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs any enters and exits of one thread, one after the other; calls_fast_path.c handles the common ones. An exit
 * usually leaves the innermost open call; if not, the stack is searched. Open calls deeper than CALLS_NEAR are not
 * searched but counted by function, so that a trace full of unmatched exits cannot make these searches slow.
 */
#include "model/calls/calls_pair.h"
#include "model/calls/calls_gather.h"
#include "model/calls/calls_join.h"
#include "model/calls/calls_pending.h"

#include <string.h>

#define FIRST_ROOM ((size_t)64)

pfr_status thread_calls_init(struct thread_calls *t, struct memory *memory, pfr_error *err) {
    *t = (struct thread_calls){.memory = memory, .room = FIRST_ROOM};
    u64_map_init(&t->above, memory);
    t->open = mem_alloc(memory, t->room, sizeof *t->open);
    if (!t->open)
        return mem_fail(memory, err, "calls");
    t->open[0] = (struct open_call){.node = PATH_ROOT, .function = NO_FUNCTION};
    return PFR_OK;
}

void thread_calls_free(struct thread_calls *t) {
    mem_free(t->memory, t->open, t->room, sizeof *t->open);
    t->open = NULL;
    pending_free(&t->pending, t->memory);
    u64_map_free(&t->above);
}

/* --- Delivery to the sink. */

pfr_status pair_flush(struct calls_worker_state *l, pfr_error *err) {
    const struct calls_request *request = l->request;
    const size_t count = l->batched;
    l->batched = 0;
    if (l->gathered.as == CALLS_SUMMED) { /* `batch` only collects calls before they are summed */
        for (size_t i = 0; i < count; i++)
            gather_sum(l, l->batch[i].node, &(struct path_sum){(uint64_t)l->batch[i].self, 1});
        return PFR_OK;
    }
    l->totals.calls += count;
    if (count == 0 || !request->sink->calls)
        return PFR_OK;
    return request->sink->calls(request->context, &l->public, l->batch, count, err);
}

static pfr_status give_open(struct calls_worker_state *l, const struct open_call *call, pfr_error *err) {
    const struct calls_request *request = l->request;
    if (l->gathered.as == CALLS_SINGLY) /* the calls that ended before this open call must arrive first */
        PFR_TRY(pair_flush(l, err));
    l->totals.open++;
    return request->sink->open ? request->sink->open(request->context, &l->public, call->node, call->enter, err)
                               : PFR_OK;
}

static pfr_status give_lone(struct calls_worker_state *l, const struct thread_calls *t, const struct xray_call *exit,
                            pfr_error *err) {
    const struct calls_request *request = l->request;
    const uint32_t node = t->open[t->depth].node;
    l->totals.lone++;
    return request->sink->lone ? request->sink->lone(request->context, &l->public, node, exit->function, exit->tsc, err)
                               : PFR_OK;
}

/* --- The stack. */

static pfr_status grow(struct thread_calls *t, pfr_error *err) {
    struct open_call *more = mem_resize(t->memory, t->open, t->room, t->room * 2, sizeof *more);
    if (!more)
        return mem_fail(t->memory, err, "calls");
    t->open = more;
    t->room *= 2;
    return PFR_OK;
}

static pfr_status count_above(struct thread_calls *t, uint32_t function, pfr_error *err) {
    uint64_t *count = u64_map_at(&t->above, function, 0, NULL);
    if (!count)
        return mem_fail(t->memory, err, "calls");
    ++*count;
    return PFR_OK;
}

/* Makes room for one more call. If the call is deeper than CALLS_NEAR, counts it by its function. PFR_END: too deep. */
static pfr_status make_room(struct calls_worker_state *l, struct thread_calls *t, uint32_t function, pfr_error *err) {
    if (t->depth == CALLS_DEEPEST) {
        t->over++;
        l->totals.too_deep++;
        return PFR_END;
    }
    if (t->depth + 1 == t->room)
        PFR_TRY(grow(t, err));
    return t->depth >= CALLS_NEAR ? count_above(t, function, err) : PFR_OK;
}

static void count_less_above(struct thread_calls *t, uint32_t function) {
    --*u64_map_at(&t->above, function, 0, NULL); /* the entry exists */
}

void pair_pop(struct thread_calls *t) {
    if (t->depth > CALLS_NEAR)
        count_less_above(t, t->open[t->depth].function);
    t->depth--;
}

/* Makes room for the children of all existing paths. */
static pfr_status children_room(struct calls_worker_state *l, pfr_error *err) {
    const size_t had = l->children_room, paths = l->paths.count;
    if (paths <= had)
        return PFR_OK;
    const size_t room = paths + paths / 2 + 256;
    struct call_children *more = mem_resize(&l->paths_memory, l->children, had, room, sizeof *more);
    if (!more)
        return mem_fail(&l->paths_memory, err, "paths");
    memset(more + had, 0, (room - had) * sizeof *more);
    l->children = more;
    l->children_room = room;
    return PFR_OK;
}

static bool put_among_first(struct call_children *of, uint32_t function, uint32_t child) {
    unsigned i = 0;
    while (i < CALL_CHILDREN && of->child[i])
        if (of->child[i++] == child)
            return true;
    if (i == CALL_CHILDREN)
        return false;
    of->function[i] = function;
    of->child[i] = child;
    return true;
}

/* Adds the child to the caches. If latencies are collected by path, cached paths must have room for them. */
static void note_met(struct calls_worker_state *l, uint32_t parent, uint32_t function, uint32_t child) {
    if (l->gathered.as == CALLS_MEASURED && child >= GATHERED_MOST)
        return;
    if (parent == PATH_ROOT && function < CALLS_LOW)
        l->of_low[function] = child;
    if (parent == PATH_ROOT || !put_among_first(&l->children[parent], function, child))
        l->edges[call_edge_place(parent, function)] = (struct call_edge){parent, function, child};
}

static pfr_status find_child(struct calls_worker_state *l, uint32_t parent, uint32_t function, uint32_t *child,
                             pfr_error *err) {
    if (parent == PATH_LIMIT)
        return PFR_ERR_LIMIT;
    PFR_TRY(call_paths_child(&l->paths, parent, function, child, err));
    return children_room(l, err);
}

pfr_status worker_child(struct calls_worker_state *l, uint32_t parent, uint32_t function, uint32_t *child,
                        pfr_error *err) {
    *child = parent == PATH_ROOT ? call_met_at_root(l, function) : call_child_met(l, parent, function);
    if (*child)
        return PFR_OK;
    const pfr_status st = find_child(l, parent, function, child, err);
    if (st >= 0) {
        PFR_TRY(gather_room(l, err));
        note_met(l, parent, function, *child);
    }
    if (st != PFR_ERR_LIMIT)
        return st;
    *child = PATH_LIMIT;
    l->totals.limited++;
    return PFR_OK;
}

/* The innermost open call never ends: its callees count for the caller. */
static pfr_status leave_open(struct calls_worker_state *l, struct thread_calls *t, pfr_error *err) {
    const struct open_call call = t->open[t->depth];
    t->open[t->depth - 1].callees += call.callees;
    pair_pop(t);
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

/* Ends the innermost open call, by its own exit or by the exit of an enclosing call. */
static pfr_status end_innermost(struct calls_worker_state *l, struct thread_calls *t, const struct xray_call *exit,
                                uint32_t flags, pfr_error *err) {
    const struct open_call *call = &t->open[t->depth];
    const bool backward = exit->tsc < call->enter;
    const uint64_t latency = backward ? 0 : exit->tsc - call->enter;
    flags |= (exit->action == PFR_TRACE_TAIL_EXIT ? CALL_TAIL : 0) | (backward ? CALL_BACKWARD : 0);
    const struct call ended = {exit->tsc, latency, (int64_t)(latency - call->callees), call->node, flags};
    l->totals.backward += backward;
    l->totals.shortest = latency < l->totals.shortest ? latency : l->totals.shortest;
    t->open[t->depth - 1].callees += latency;
    pair_pop(t);
    return gather_call(l, &ended, err);
}

/* Handles an exit of another function than the innermost open call. PFR_END: no open call ends. */
static pfr_status leave_down_to(struct calls_worker_state *l, struct thread_calls *t, const struct xray_call *exit,
                                pfr_error *err) {
    if (t->over) { /* this exit belongs to a call that was too deep to be kept */
        t->over--;
        return PFR_END;
    }
    if (!is_open(t, exit->function)) {
        PFR_TRY(t->pending.wanted ? pending_exit(l, t, exit, err) : give_lone(l, t, exit, err));
        return PFR_END;
    }
    while (t->open[t->depth].function != exit->function)
        PFR_TRY(l->request->deduce ? end_innermost(l, t, exit, CALL_DEDUCED, err) : leave_open(l, t, err));
    return PFR_OK;
}

/* --- One enter or exit. */

/* Sets *parent to the parent of the path of a call that begins now. */
static pfr_status parent_of(struct calls_worker_state *l, const struct thread_calls *t, uint32_t *parent,
                            pfr_error *err) {
    const struct open_call *caller = &t->open[t->depth];
    *parent = l->request->reach ? PATH_ROOT : caller->node;
    return l->request->reach > 1 && t->depth > 0 ? worker_child(l, PATH_ROOT, caller->function, parent, err) : PFR_OK;
}

static pfr_status enter(struct calls_worker_state *l, struct thread_calls *t, const struct xray_call *call,
                        pfr_error *err) {
    uint32_t parent, node;
    if (t->depth + 1 == t->room || t->depth >= CALLS_NEAR) {
        const pfr_status st = make_room(l, t, call->function, err);
        if (st != PFR_OK)
            return st == PFR_END ? PFR_OK : st;
    }
    PFR_TRY(parent_of(l, t, &parent, err));
    PFR_TRY(worker_child(l, parent, call->function, &node, err));
    t->open[++t->depth] = (struct open_call){call->tsc, 0, call->function, node};
    return PFR_OK;
}

static pfr_status leave(struct calls_worker_state *l, struct thread_calls *t, const struct xray_call *exit,
                        pfr_error *err) {
    if (t->depth == 0 || t->over || t->open[t->depth].function != exit->function) {
        const pfr_status st = leave_down_to(l, t, exit, err);
        if (st != PFR_OK)
            return st == PFR_END ? PFR_OK : st;
    }
    return end_innermost(l, t, exit, 0, err);
}

pfr_status pair_carefully(struct calls_worker_state *l, struct thread_calls *t, const struct xray_call *call,
                          pfr_error *err) {
    const bool is_exit = call->action == PFR_TRACE_EXIT || call->action == PFR_TRACE_TAIL_EXIT;
    return is_exit ? leave(l, t, call, err) : enter(l, t, call, err);
}

pfr_status pair_end(struct calls_worker_state *l, struct thread_calls *t, pfr_error *err) {
    PFR_TRY(gather_end(l, err));
    while (t->depth > 0)
        PFR_TRY(leave_open(l, t, err));
    t->open[0].callees = 0;
    t->over = 0;
    return PFR_OK;
}

/* --- Workers. */

/* Percentage of the memory left that paths may use: a sink also needs memory per path */
#define PATHS_SHARE 25u

pfr_status worker_init(struct calls_worker_state *l, unsigned number, unsigned workers,
                       const struct calls_request *request, struct memory *memory, pfr_error *err) {
    l->public = (struct calls_worker){.number = number, .paths = &l->paths};
    l->request = request;
    l->totals = (struct calls_totals){.shortest = UINT64_MAX, .first = UINT64_MAX};
    l->batched = 0;
    memory_share(&l->memory, memory);
    memory_share(&l->paths_memory, memory);
    l->paths_memory.limit = (memory->limit - memory->used) / workers / 100 * PATHS_SHARE;
    l->gathered = (struct calls_gathered){.as = request->gather};
    l->children = NULL;
    l->children_room = 0;
    l->bases = 0;
    l->base_is = NULL;
    PFR_TRY(call_paths_init(&l->paths, &l->paths_memory, err));
    pfr_status st = children_room(l, err);
    if (st >= 0)
        st = gather_room(l, err);
    if (st < 0)
        worker_free(l);
    return st;
}

void worker_free(struct calls_worker_state *l) {
    gather_free(l);
    join_free(l);
    mem_free(&l->paths_memory, l->children, l->children_room, sizeof *l->children);
    l->children = NULL;
    l->children_room = 0;
    call_paths_free(&l->paths);
}

pfr_status worker_thread(struct calls_worker_state *l, const struct calls_thread *thread, pfr_error *err) {
    if (!l->request->mixed)
        PFR_TRY(gather_end(l, err));
    return l->request->sink->thread ? l->request->sink->thread(l->request->context, &l->public, thread, err) : PFR_OK;
}
