/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects finished calls for the sink: in batches, or by path if the request allows it. There are far fewer paths than
 * calls, so a sink that adds up calls by path is spared most of the work.
 */
#include "model/calls/calls_gather.h"
#include "model/calls/calls_pair.h"

#include "base/memory/sizes.h"

/* --- Room. */

static pfr_status make_sums(struct calls_worker_state *l, uint32_t room, pfr_error *err) {
    struct calls_gathered *g = &l->gathered;
    struct path_sum *sums = mem_resize(&l->memory, g->sums, g->room, room, sizeof *sums);
    if (!sums)
        return mem_fail(&l->memory, err, "calls");
    memset(sums + g->room, 0, (room - g->room) * sizeof *sums);
    g->sums = sums;
    g->room = room;
    return PFR_OK;
}

static pfr_status make_latencies(struct calls_worker_state *l, uint32_t room, pfr_error *err) {
    struct calls_gathered *g = &l->gathered;
    struct path_latencies *more = mem_resize(&l->memory, g->latencies, g->latencies_room, room, sizeof *more);
    if (!more)
        return mem_fail(&l->memory, err, "calls");
    g->latencies = more;
    g->latencies_room = room;
    return PFR_OK;
}

static pfr_status make_calls(struct calls_worker_state *l, uint32_t room, pfr_error *err) {
    struct calls_gathered *g = &l->gathered;
    PFR_TRY(make_latencies(l, room, err));
    struct path_calls *more = mem_resize(&l->memory, g->calls, g->room, room, sizeof *more);
    if (!more)
        return mem_fail(&l->memory, err, "calls");
    memset(more + g->room, 0, (room - g->room) * sizeof *more);
    g->calls = more;
    g->room = room;
    return PFR_OK;
}

static pfr_status make_touched(struct calls_worker_state *l, pfr_error *err) {
    struct calls_gathered *g = &l->gathered;
    uint32_t *touched = mem_resize(&l->memory, g->touched, g->touched_room, g->room, sizeof *touched);
    if (!touched)
        return mem_fail(&l->memory, err, "calls");
    g->touched = touched;
    g->touched_room = g->room;
    return PFR_OK;
}

pfr_status gather_room(struct calls_worker_state *l, pfr_error *err) {
    const struct calls_gathered *g = &l->gathered;
    const uint32_t paths = l->paths.count, more = paths + paths / 2 + 256;
    if (g->as == CALLS_SINGLY || paths <= g->room || (g->as == CALLS_MEASURED && g->room == GATHERED_MOST))
        return PFR_OK;
    if (g->as == CALLS_MEASURED)
        PFR_TRY(make_calls(l, more < GATHERED_MOST ? more : GATHERED_MOST, err));
    else
        PFR_TRY(make_sums(l, more, err));
    return make_touched(l, err);
}

void gather_free(struct calls_worker_state *l) {
    struct calls_gathered *g = &l->gathered;
    mem_free(&l->memory, g->sums, g->sums ? g->room : 0, sizeof *g->sums);
    mem_free(&l->memory, g->calls, g->calls ? g->room : 0, sizeof *g->calls);
    mem_free(&l->memory, g->latencies, g->latencies_room, sizeof *g->latencies);
    mem_free(&l->memory, g->touched, g->touched_room, sizeof *g->touched);
    *g = (struct calls_gathered){.as = g->as};
}

/* --- Calls. */

static bool is_one_of_many(const struct call *call) {
    const bool is_short = call->latency <= UINT32_MAX && call->self >= -(int64_t)UINT32_MAX;
    return is_short && call->node < GATHERED_MOST && !(call->flags & ~(uint32_t)CALL_TAIL);
}

static inline __attribute__((always_inline)) void sum_latencies(struct call_many *many, uint32_t count) {
    uint32_t shortest = UINT32_MAX, longest = 0;
    uint64_t latency = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t one = many->latencies[i];
        latency += one;
        shortest = one < shortest ? one : shortest;
        longest = one > longest ? one : longest;
    }
    many->latency = latency;
    many->shortest = shortest;
    many->longest = longest;
}

/* Most groups are full: with a constant count the compiler can vectorise the loop. */
static struct call_many sum_up(const struct calls_gathered *g, uint32_t node) {
    struct call_many many = {.latencies = g->latencies[node].at, .count = g->calls[node].used, .node = node};
    if (many.count == PATH_CALLS)
        sum_latencies(&many, PATH_CALLS);
    else
        sum_latencies(&many, many.count);
    many.self = (int64_t)(many.latency - g->calls[node].callees);
    return many;
}

static pfr_status give_many(struct calls_worker_state *l, uint32_t node, pfr_error *err) {
    const struct calls_request *request = l->request;
    struct path_calls *calls = &l->gathered.calls[node];
    if (calls->used == 0)
        return PFR_OK;
    const struct call_many many = sum_up(&l->gathered, node);
    l->totals.shortest = many.shortest < l->totals.shortest ? many.shortest : l->totals.shortest;
    l->totals.calls += many.count;
    calls->used = 0;
    calls->callees = 0;
    return request->sink->many ? request->sink->many(request->context, &l->public, &many, err) : PFR_OK;
}

/* A path stays in `touched` until the thread ends, even if its calls were delivered to the sink. */
static pfr_status add_to_calls(struct calls_worker_state *l, const struct call *call, pfr_error *err) {
    struct calls_gathered *g = &l->gathered;
    struct path_calls *calls = &g->calls[call->node];
    if (calls->used == PATH_CALLS)
        PFR_TRY(give_many(l, call->node, err));
    else if (calls->used == 0)
        g->touched[g->nr_touched++] = call->node;
    g->latencies[call->node].at[calls->used++] = (uint32_t)call->latency;
    calls->callees += call->latency - (uint64_t)call->self;
    return PFR_OK;
}

static pfr_status add_to_batch(struct calls_worker_state *l, const struct call *call, pfr_error *err) {
    if (l->batched == sizes.calls_batch)
        PFR_TRY(pair_flush(l, err));
    l->batch[l->batched++] = *call;
    return PFR_OK;
}

void gather_sum(struct calls_worker_state *l, uint32_t node, const struct path_sum *more) {
    struct calls_gathered *g = &l->gathered;
    struct path_sum *sum = &g->sums[node];
    if (sum->count == 0)
        g->touched[g->nr_touched++] = node;
    sum->count += more->count;
    sum->self += more->self;
}

pfr_status gather_call(struct calls_worker_state *l, const struct call *call, pfr_error *err) {
    if (l->gathered.as == CALLS_MEASURED && is_one_of_many(call))
        return add_to_calls(l, call, err);
    if (l->gathered.as != CALLS_SUMMED)
        return add_to_batch(l, call, err);
    gather_sum(l, call->node, &(struct path_sum){(uint64_t)call->self, 1});
    return PFR_OK;
}

/* --- The end of a thread. */

static pfr_status give_sum(struct calls_worker_state *l, uint32_t node, pfr_error *err) {
    const struct calls_request *request = l->request;
    struct path_sum *sum = &l->gathered.sums[node];
    const struct call_sum given = {sum->count, 0, (int64_t)sum->self, node};
    if (sum->count == 0) /* the sum was already added to that of another path */
        return PFR_OK;
    *sum = (struct path_sum){0, 0};
    l->totals.calls += given.count;
    return request->sink->sum ? request->sink->sum(request->context, &l->public, &given, err) : PFR_OK;
}

pfr_status gather_end(struct calls_worker_state *l, pfr_error *err) {
    struct calls_gathered *g = &l->gathered;
    PFR_TRY(pair_flush(l, err));
    for (uint32_t i = 0; i < g->nr_touched; i++)
        PFR_TRY(g->as == CALLS_SUMMED ? give_sum(l, g->touched[i], err) : give_many(l, g->touched[i], err));
    g->nr_touched = 0;
    return PFR_OK;
}
