/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a page: see page_calls.h. */
#include "export/page/page_calls.h"

#include "base/memory/fail.h"

#include <perfray/spans.h>

#define LEFT_OUT UINT64_MAX
#define DOUBLINGS 64u

void page_calls_free(struct page_calls *calls) {
    mem_free(calls->memory, calls->at, calls->room, sizeof *calls->at);
}

static void keep_others(struct page_calls *calls) {
    size_t kept = 0;
    for (size_t i = 0; i < calls->count; i++)
        if (calls->at[i].start != LEFT_OUT)
            calls->at[kept++] = calls->at[i];
    calls->count = kept;
}

static unsigned doublings(uint64_t duration) {
    return duration ? 63u - (unsigned)__builtin_clzll(duration) : 0;
}

/* A caller lasts at least as long as the calls inside it, so leaving out the shortest calls never removes the caller of
   a call that stays. */
static uint64_t shortest_to_keep(const struct page_calls *calls, size_t most) {
    size_t lasting[DOUBLINGS] = {0}, kept = 0;
    for (size_t i = 0; i < calls->count; i++)
        lasting[doublings(calls->at[i].duration)]++;
    unsigned power = DOUBLINGS;
    while (power > 0 && kept + lasting[power - 1] <= most)
        kept += lasting[--power];
    return power == DOUBLINGS ? (uint64_t)1 << (DOUBLINGS - 1) : (uint64_t)1 << power;
}

void page_calls_cut(struct page_calls *calls, size_t most) {
    if (calls->count <= most)
        return;
    calls->shortest = shortest_to_keep(calls, most);
    for (size_t i = 0; i < calls->count; i++)
        if (calls->at[i].duration < calls->shortest) {
            calls->at[i].start = LEFT_OUT;
            calls->left_out++;
        }
    keep_others(calls);
}

static void take_batch(struct page_calls *calls, const struct page_tables *t, const pfr_call_batch *b) {
    for (uint32_t i = 0; i < b->count; i++) {
        const bool is_open = b->flags[i] & PFR_CALL_OPEN;
        calls->open += is_open;
        if (!is_open && b->id[i] <= calls->count)
            calls->at[b->id[i] - 1] = (struct page_call){.start = b->start[i],
                                                         .duration = b->duration[i],
                                                         .node = t->node_of_stack[b->stack[i]],
                                                         .thread = b->thread[i],
                                                         .depth = b->depth[i]};
    }
}

static pfr_status read_all(struct page_calls *calls, const struct page_tables *t, pfr_error *err) {
    const pfr_call_batch *batch;
    pfr_status st;
    pfr_calls *cursor = pfr_calls_open(t->model, NULL, err);
    if (!cursor)
        return err->status;
    while ((st = pfr_calls_next(cursor, &batch, err)) == PFR_OK)
        take_batch(calls, t, batch);
    pfr_calls_close(cursor);
    return st < 0 ? st : PFR_OK;
}

static bool is_by_thread(const struct page_calls *calls) {
    for (size_t i = 1; i < calls->count; i++)
        if (calls->at[i].thread < calls->at[i - 1].thread)
            return false;
    return true;
}

/* next: zeros; for each thread id, the index of its next call. */
static void put_by_thread(const struct page_calls *calls, size_t *next, size_t threads, struct page_call *to) {
    for (size_t i = 0; i < calls->count; i++)
        next[calls->at[i].thread + 1]++;
    for (size_t id = 1; id < threads; id++)
        next[id] += next[id - 1];
    for (size_t i = 0; i < calls->count; i++)
        to[next[calls->at[i].thread]++] = calls->at[i];
}

/* A trace that is shown with a recording has the threads of the recording, whose ids are in another order. The calls of
   a thread keep their order. */
static pfr_status order_by_thread(struct page_calls *calls, const struct page_tables *t, pfr_error *err) {
    const size_t threads = (size_t)pfr_model_count(t->model, PFR_TABLE_THREAD) + 1;
    if (is_by_thread(calls))
        return PFR_OK;
    struct page_call *spare = mem_alloc(calls->memory, calls->room, sizeof *spare);
    size_t *next = mem_zeroed(calls->memory, threads + 1, sizeof *next);
    const pfr_status st = spare && next ? PFR_OK : mem_fail(calls->memory, err, "calls");
    if (st >= 0) {
        put_by_thread(calls, next, threads, spare);
        struct page_call *const before = calls->at;
        calls->at = spare;
        spare = before;
    }
    mem_free(calls->memory, spare, calls->room, sizeof *spare);
    mem_free(calls->memory, next, threads + 1, sizeof *next);
    return st;
}

pfr_status page_calls_read(struct page_calls *calls, const struct page_tables *t, size_t most, struct memory *memory,
                           pfr_error *err) {
    *calls = (struct page_calls){.memory = memory};
    calls->count = calls->room = (size_t)pfr_model_call_count(t->model);
    calls->at = mem_alloc(memory, calls->room, sizeof *calls->at);
    if (!calls->at) {
        calls->room = 0;
        return mem_fail(memory, err, "calls");
    }
    for (size_t i = 0; i < calls->count; i++)
        calls->at[i].start = LEFT_OUT;
    PFR_TRY(read_all(calls, t, err));
    keep_others(calls);
    page_calls_cut(calls, most);
    return order_by_thread(calls, t, err);
}
