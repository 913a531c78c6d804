/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of one thread, ordered by entry. The model's cursor returns calls in the order of exits. Call ids ascend in the
 * order of entries, so this file sorts the calls by id.
 */
#include "model/open/batch_rows.h"
#include "export/rows/rows.h"

#include "base/memory/fail.h"
#include "base/memory/sizes.h"

static struct sort_key entry_of(const void *row) {
    return (struct sort_key){.major = ((const struct row_call *)row)->id};
}

static struct sort_key start_of(const void *row) {
    const struct row_call *call = row;
    return (struct sort_key){call->start, call->depth};
}

/* --- One thread. */

static void init(struct row_calls *c, struct rows *r) {
    struct external_sort_of of = {r->memory, sizeof(struct row_call), sizes.sort_rows, entry_of};
    *c = (struct row_calls){.rows = r, .now = &c->by_entry};
    external_sort_init(&c->by_entry, &of);
    of.key = start_of;
    external_sort_init(&c->by_start, &of);
}

static void clear(struct row_calls *c, uint32_t thread) {
    external_sort_clear(&c->by_entry);
    external_sort_clear(&c->by_start);
    c->thread = thread;
    c->count = c->unfinished = 0;
    c->now = &c->by_entry;
    c->only_finished = false;
}

static void free_calls(struct row_calls *c) {
    external_sort_free(&c->by_entry);
    external_sort_free(&c->by_start);
}

static pfr_status add_call(struct row_calls *c, uint64_t id, const pfr_call *call, pfr_error *err) {
    const struct row_call row = {.id = id,
                                 .start = call->start,
                                 .duration = call->duration,
                                 .self = call->self,
                                 .symbol = call->symbol,
                                 .stack = call->stack,
                                 .depth = call->depth,
                                 .flags = call->flags};
    c->count++;
    c->unfinished += (call->flags & PFR_CALL_OPEN) != 0;
    return external_sort_add(&c->by_entry, &row, err);
}

static pfr_status add_batch(struct row_calls *c, const pfr_call_batch *b, pfr_error *err) {
    for (uint32_t i = 0; i < b->count; i++) {
        const pfr_call call = call_of_batch(b, i);
        if (rows_want_call(c->rows, &call))
            PFR_TRY(add_call(c, b->id[i], &call, err));
    }
    return PFR_OK;
}

static pfr_status read_thread(struct row_calls *c, uint32_t thread, pfr_error *err) {
    const pfr_calls_options options = {.size = sizeof options, .thread = thread};
    const pfr_call_batch *batch;
    pfr_status st;
    clear(c, thread);
    pfr_calls *cursor = pfr_calls_open(c->rows->model, &options, err);
    if (!cursor)
        return err->status;
    while ((st = pfr_calls_next(cursor, &batch, err)) == PFR_OK && (st = add_batch(c, batch, err)) >= 0)
        continue;
    pfr_calls_close(cursor);
    return st < 0 ? st : PFR_OK;
}

pfr_status rows_each_thread(struct rows *r, row_thread_visit *visit, pfr_error *err) {
    struct row_calls calls;
    pfr_status st = PFR_OK;
    init(&calls, r);
    for (uint32_t id = 1; st >= 0 && id <= pfr_model_count(r->model, PFR_TABLE_THREAD); id++) {
        st = read_thread(&calls, id, err);
        if (st >= 0 && calls.count)
            st = visit(r, &calls, err);
    }
    free_calls(&calls);
    return st;
}

pfr_status rows_thread_calls(struct rows *r, uint32_t thread, row_thread_visit *visit, pfr_error *err) {
    struct row_calls calls;
    init(&calls, r);
    pfr_status st = read_thread(&calls, thread, err);
    if (st >= 0)
        st = visit(r, &calls, err);
    free_calls(&calls);
    return st;
}

/* --- Reading. */

pfr_status row_calls_begin(struct row_calls *c, pfr_error *err) {
    return external_sort_begin(c->now, err);
}

pfr_status row_calls_next(struct row_calls *c, const struct row_call **call, pfr_error *err) {
    const void *row;
    do {
        const pfr_status st = external_sort_next(c->now, &row, err);
        if (st != PFR_OK)
            return st;
        *call = row;
    } while (c->only_finished && (*call)->flags & PFR_CALL_OPEN);
    return PFR_OK;
}

static pfr_status check_order(struct row_calls *c, bool *in_order, pfr_error *err) {
    const struct row_call *call;
    uint64_t before = 0;
    pfr_status st = row_calls_begin(c, err);
    *in_order = true;
    while (st >= 0 && *in_order && (st = row_calls_next(c, &call, err)) == PFR_OK) {
        *in_order = call->start >= before;
        before = call->start;
    }
    return st < 0 ? st : PFR_OK;
}

pfr_status row_calls_by_start(struct row_calls *c, pfr_error *err) {
    const struct row_call *call;
    bool in_order;
    PFR_TRY(check_order(c, &in_order, err));
    c->only_finished = true;
    if (in_order)
        return PFR_OK;
    pfr_status st = row_calls_begin(c, err);
    while (st >= 0 && (st = row_calls_next(c, &call, err)) == PFR_OK)
        st = external_sort_add(&c->by_start, call, err);
    c->now = &c->by_start;
    return st < 0 ? st : PFR_OK;
}

/* --- Open calls. */

bool row_frames_pop(struct row_frames *frames, uint32_t depth, struct row_frame *left) {
    if (!frames->count || frames->at[frames->count - 1].depth < depth)
        return false;
    *left = frames->at[--frames->count];
    struct row_frame *caller = frames->count ? &frames->at[frames->count - 1] : NULL;
    if (caller && !caller->is_finished && caller->depth + 1 == left->depth && left->end > caller->end)
        caller->end = left->end;
    return true;
}

pfr_status row_frames_push(struct rows *r, struct row_frames *frames, const struct row_call *call, pfr_error *err) {
    struct row_frame *grown = mem_grow(r->memory, frames->at, frames->count, &frames->room, 64, sizeof *grown);
    if (!grown)
        return mem_fail(r->memory, err, "calls");
    frames->at = grown;
    frames->at[frames->count++] = (struct row_frame){.end = call->start + call->duration,
                                                     .symbol = call->symbol,
                                                     .depth = call->depth,
                                                     .is_finished = !(call->flags & PFR_CALL_OPEN)};
    return PFR_OK;
}

void row_frames_free(struct rows *r, struct row_frames *frames) {
    mem_free(r->memory, frames->at, frames->room, sizeof *frames->at);
}
