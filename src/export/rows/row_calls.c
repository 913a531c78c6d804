/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of one thread, ordered by entry. The model's cursor returns calls in the order of exits. Call ids ascend in the
 * order of entries, so this file sorts the calls by id.
 */
#include "model/open/batch_rows.h"
#include "export/rows/rows.h"

#include "base/memory/fail.h"
#include "base/tables/radix.h"

#include <stdlib.h>

struct ordering {
    struct row_calls calls;
    struct radix_item *items; /* room for twice the number of calls: ids, and space to sort them */
    size_t room;
    uint64_t *inner; /* see end_open_calls */
    size_t inner_room;
};

/* Sets the durations of open calls. Goes from the last call to the first. inner[d] is the latest end of the calls at
   depth d whose caller has not been reached yet. */
static pfr_status end_open_calls(struct rows *r, struct ordering *o, pfr_error *err) {
    for (size_t i = o->calls.count; i-- > 0;) {
        pfr_call *c = &o->calls.at[i];
        uint64_t *grown = mem_grow_zeroed(r->memory, o->inner, (size_t)c->depth + 1, &o->inner_room, 64, sizeof *grown);
        if (!grown)
            return mem_fail(r->memory, err, "calls");
        o->inner = grown;
        const uint64_t inside = o->inner[c->depth + 1];
        o->inner[c->depth + 1] = 0;
        if (c->flags & PFR_CALL_OPEN)
            c->duration = inside > c->start ? inside - c->start : 0;
        const uint64_t end = c->start + c->duration;
        o->inner[c->depth] = end > o->inner[c->depth] ? end : o->inner[c->depth];
    }
    return PFR_OK;
}

static int earlier_first(const void *a, const void *b) {
    const pfr_call *x = a, *y = b;
    if (x->start != y->start)
        return x->start > y->start ? 1 : -1;
    return (x->depth > y->depth) - (x->depth < y->depth);
}

void rows_sort_calls(struct row_calls *calls) {
    bool in_order = true;
    for (size_t i = 1; i < calls->count; i++)
        in_order = in_order && calls->at[i].start >= calls->at[i - 1].start;
    if (!in_order)
        qsort(calls->at, calls->count, sizeof *calls->at, earlier_first);
}

/* Moves each call to its place by following the cycles of the permutation. */
static void permute(pfr_call *at, struct radix_item *sorted, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const pfr_call first = at[i];
        size_t hole = i;
        while (sorted[hole].value != i) {
            const size_t from = sorted[hole].value;
            at[hole] = at[from];
            sorted[hole].value = (uint32_t)hole;
            hole = from;
        }
        at[hole] = first;
        sorted[hole].value = (uint32_t)hole;
    }
}

static void order_calls(struct ordering *o) {
    const size_t count = o->calls.count;
    bool in_order = true;
    for (size_t i = 1; i < count; i++)
        in_order = in_order && o->items[i].key > o->items[i - 1].key;
    if (!in_order)
        permute(o->calls.at, radix_sort(o->items, o->items + o->room, count), count);
}

static pfr_status finish_thread(struct rows *r, struct ordering *o, row_thread_visit *visit, pfr_error *err) {
    order_calls(o);
    if (o->inner_room)
        memset(o->inner, 0, o->inner_room * sizeof *o->inner);
    PFR_TRY(end_open_calls(r, o, err));
    const pfr_status st = visit(r, &o->calls, err);
    o->calls.count = 0;
    return st;
}

static pfr_status make_room(struct rows *r, struct ordering *o, pfr_error *err) {
    const size_t room = o->room ? o->room * 2 : 1024;
    struct radix_item *items = mem_alloc(r->memory, room, 2 * sizeof *items);
    pfr_call *calls = items ? mem_resize(r->memory, o->calls.at, o->room, room, sizeof *calls) : NULL;
    if (!calls) {
        mem_free(r->memory, items, room, 2 * sizeof *items);
        return mem_fail(r->memory, err, "calls");
    }
    if (o->calls.count)
        memcpy(items, o->items, o->calls.count * sizeof *items);
    mem_free(r->memory, o->items, o->room, 2 * sizeof *items);
    o->items = items;
    o->calls.at = calls;
    o->room = room;
    return PFR_OK;
}

static pfr_status add_call(struct rows *r, struct ordering *o, uint64_t id, const pfr_call *call, pfr_error *err) {
    if (o->calls.count == o->room)
        PFR_TRY(make_room(r, o, err));
    o->items[o->calls.count] = (struct radix_item){id, (uint32_t)o->calls.count};
    o->calls.at[o->calls.count++] = *call;
    return PFR_OK;
}

static pfr_status add_batch(struct rows *r, struct ordering *o, const pfr_call_batch *b, pfr_error *err) {
    for (uint32_t i = 0; i < b->count; i++) {
        const pfr_call call = call_of_batch(b, i);
        if (rows_want_call(r, &call))
            PFR_TRY(add_call(r, o, b->id[i], &call, err));
    }
    return PFR_OK;
}

static pfr_status read_thread(struct rows *r, uint32_t thread, struct ordering *o, pfr_error *err) {
    const pfr_calls_options options = {.size = sizeof options, .thread = thread};
    const pfr_call_batch *batch;
    pfr_status st;
    pfr_calls *cursor = pfr_calls_open(r->model, &options, err);
    if (!cursor)
        return err->status;
    while ((st = pfr_calls_next(cursor, &batch, err)) == PFR_OK && (st = add_batch(r, o, batch, err)) >= 0)
        continue;
    pfr_calls_close(cursor);
    return st < 0 ? st : PFR_OK;
}

static void free_ordering(struct rows *r, struct ordering *o) {
    mem_free(r->memory, o->calls.at, o->room, sizeof *o->calls.at);
    mem_free(r->memory, o->inner, o->inner_room, sizeof *o->inner);
    mem_free(r->memory, o->items, o->room, 2 * sizeof *o->items);
}

pfr_status rows_each_thread(struct rows *r, row_thread_visit *visit, pfr_error *err) {
    struct ordering o = {0};
    pfr_status st = PFR_OK;
    for (uint32_t id = 1; st >= 0 && id <= pfr_model_count(r->model, PFR_TABLE_THREAD); id++) {
        st = read_thread(r, id, &o, err);
        if (st >= 0 && o.calls.count)
            st = finish_thread(r, &o, visit, err);
    }
    free_ordering(r, &o);
    return st;
}

pfr_status rows_thread_calls(struct rows *r, uint32_t thread, row_thread_visit *visit, pfr_error *err) {
    struct ordering o = {0};
    pfr_status st = read_thread(r, thread, &o, err);
    if (st >= 0)
        st = finish_thread(r, &o, visit, err);
    free_ordering(r, &o);
    return st;
}
