/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples in order of time. Rows that pass the filters are sorted chunk by chunk. If the earliest
 * time of all samples after a chunk is known (slices.least of the model), rows up to that time are
 * returned at once, and only the others wait for the next chunk. If too many rows wait, or the time
 * is not known, all rows are sorted in a temporary file (base/io/external_sort.h). Rows of equal
 * time are ordered by number, so that the order does not depend on the chunks.
 */
#include "model/open/samples_order.h"
#include "model/open/samples_cursor.h"

#include "base/io/external_sort.h"
#include "base/memory/sizes.h"
#include "base/tables/radix.h"

struct order_row {
    uint64_t time, id, weight, period;
    uint32_t thread, comm, cpu, event, stack, mode;
};

struct sample_order {
    struct order_row *chunk;
    size_t count, at, room;
    size_t ready; /* number of rows of the chunk that no later row can precede */
    struct external_sort all;
    bool is_read;    /* all samples were read */
    bool is_sorted;  /* all samples are sorted, in the chunk or in `all` */
    bool is_chunked; /* rows come from the chunk, not from `all` */
};

static struct sort_key key_of_row(const void *row) {
    return (struct sort_key){.major = ((const struct order_row *)row)->time};
}

static void begin(struct pfr_samples *c) {
    *c->order = (struct sample_order){.is_chunked = true};
    external_sort_init(&c->order->all,
                       &(struct external_sort_of){&c->memory, sizeof(struct order_row), sizes.order_rows, key_of_row});
}

pfr_status samples_order_open(struct pfr_samples *c, pfr_error *err) {
    c->order = mem_zeroed(&c->memory, 1, sizeof *c->order);
    if (!c->order)
        return mem_fail(&c->memory, err, "samples");
    begin(c);
    return PFR_OK;
}

static void free_rows(struct pfr_samples *c) {
    mem_free(&c->memory, c->order->chunk, c->order->room, sizeof *c->order->chunk);
    external_sort_free(&c->order->all);
}

void samples_order_rewind(struct pfr_samples *c) {
    if (!c->order)
        return;
    free_rows(c);
    begin(c);
}

void samples_order_close(struct pfr_samples *c) {
    if (!c->order)
        return;
    free_rows(c);
    mem_free(&c->memory, c->order, 1, sizeof *c->order);
    c->order = NULL;
}

/* --- Sorting. */

/* Sorts by time, samples without a time last. Rows were added by id; the sort is stable, so rows of equal time stay
   ordered by id. */
static pfr_status sort_rows(struct pfr_samples *c, pfr_error *err) {
    struct sample_order *o = c->order;
    struct radix_item *items = mem_alloc(&c->memory, o->count, 2 * sizeof *items);
    struct order_row *sorted = mem_alloc(&c->memory, o->room, sizeof *sorted);
    const pfr_status st = items && sorted ? PFR_OK : mem_fail(&c->memory, err, "samples");
    if (st >= 0) {
        for (size_t i = 0; i < o->count; i++)
            items[i] = (struct radix_item){o->chunk[i].time, (uint32_t)i};
        const struct radix_item *at = radix_sort(items, items + o->count, o->count);
        for (size_t i = 0; i < o->count; i++)
            sorted[i] = o->chunk[at[i].value];
        struct order_row *const before = o->chunk;
        o->chunk = sorted;
        sorted = before;
    }
    mem_free(&c->memory, sorted, o->room, sizeof *sorted);
    mem_free(&c->memory, items, o->count, 2 * sizeof *items);
    return st;
}

/* Many chunks are already in order. */
static pfr_status sort_chunk(struct pfr_samples *c, pfr_error *err) {
    const struct sample_order *o = c->order;
    for (size_t i = 1; i < o->count; i++)
        if (o->chunk[i - 1].time > o->chunk[i].time)
            return sort_rows(c, err);
    return PFR_OK;
}

static struct order_row row_of(const struct sample_rows *r, uint32_t i) {
    return (struct order_row){.time = r->time[i],
                              .id = r->id[i],
                              .weight = r->weight[i],
                              .period = r->period[i],
                              .thread = r->thread[i],
                              .comm = r->comm[i],
                              .cpu = r->cpu[i],
                              .event = r->event[i],
                              .stack = r->stack[i],
                              .mode = r->mode[i]};
}

static pfr_status add_to_chunk(struct pfr_samples *c, pfr_error *err) {
    struct sample_order *o = c->order;
    for (uint32_t i = 0; i < c->rows.count; i++) {
        void *grown = mem_grow(&c->memory, o->chunk, o->count, &o->room, SAMPLE_BATCH, sizeof *o->chunk);
        if (!grown)
            return mem_fail(&c->memory, err, "samples");
        o->chunk = grown;
        o->chunk[o->count++] = row_of(&c->rows, i);
    }
    return PFR_OK;
}

static pfr_status add_to_all(struct pfr_samples *c, pfr_error *err) {
    for (uint32_t i = 0; i < c->rows.count; i++) {
        const struct order_row row = row_of(&c->rows, i);
        PFR_TRY(external_sort_add(&c->order->all, &row, err));
    }
    return PFR_OK;
}

static pfr_status read_rows(struct pfr_samples *c, pfr_status (*add)(struct pfr_samples *c, pfr_error *err),
                            pfr_error *err) {
    const pfr_status st = samples_fill(c, err);
    if (st < 0)
        return st;
    c->order->is_read = st == PFR_END;
    return add(c, err);
}

/* The rows of the chunk are sorted by time, and by id at equal times. They precede all rows that were not read yet, in
   the order of ids, so rows of equal time stay ordered by id. */
static pfr_status sort_all(struct pfr_samples *c, pfr_error *err) {
    struct sample_order *o = c->order;
    for (size_t i = 0; i < o->count; i++)
        PFR_TRY(external_sort_add(&o->all, &o->chunk[i], err));
    mem_free(&c->memory, o->chunk, o->room, sizeof *o->chunk);
    o->chunk = NULL;
    o->count = o->room = 0;
    while (!o->is_read)
        PFR_TRY(read_rows(c, add_to_all, err));
    o->is_sorted = true;
    o->is_chunked = false;
    return external_sort_begin(&o->all, err);
}

/* --- Chunks, as long as the earliest time of the following samples is known. */

static void drop_given(struct sample_order *o) {
    if (o->at)
        memmove(o->chunk, o->chunk + o->at, (o->count - o->at) * sizeof *o->chunk);
    o->count -= o->at;
    o->at = o->ready = 0;
}

/* Numbers ascend, so rows of the chunk precede later rows of equal time. */
static size_t count_ready(const struct pfr_samples *c) {
    const struct sample_order *o = c->order;
    const struct pfr_model *m = c->model;
    if (o->is_read)
        return o->count;
    const uint64_t least = m->slices.least[c->next / SAMPLE_BATCH];
    size_t from = 0, until = o->count;
    while (from < until) {
        const size_t middle = from + (until - from) / 2;
        if (o->chunk[middle].time <= least)
            from = middle + 1;
        else
            until = middle;
    }
    return from;
}

/* If rows still wait after two chunks, sorts everything by runs, because they probably wait for more than the next
   chunk. */
static pfr_status make_ready(struct pfr_samples *c, pfr_error *err) {
    struct sample_order *o = c->order;
    drop_given(o);
    while (!o->is_sorted && o->ready == 0) {
        const size_t before = o->count;
        if (!c->model->slices.least || before > sizes.order_rows)
            return sort_all(c, err);
        while (!o->is_read && o->count < before + sizes.order_rows)
            PFR_TRY(read_rows(c, add_to_chunk, err));
        PFR_TRY(sort_chunk(c, err));
        o->ready = count_ready(c);
        o->is_sorted = o->is_read;
    }
    return PFR_OK;
}

static void give(struct sample_rows *to, const struct order_row *row) {
    const uint32_t at = to->count++;
    to->id[at] = row->id;
    to->time[at] = row->time;
    to->weight[at] = row->weight;
    to->period[at] = row->period;
    to->thread[at] = row->thread;
    to->comm[at] = row->comm;
    to->cpu[at] = row->cpu;
    to->event[at] = row->event;
    to->stack[at] = row->stack;
    to->mode[at] = (uint8_t)row->mode;
}

static pfr_status give_sorted(struct pfr_samples *c, pfr_error *err) {
    const void *row;
    pfr_status st = PFR_OK;
    while (c->rows.count < SAMPLE_BATCH && (st = external_sort_next(&c->order->all, &row, err)) == PFR_OK)
        give(&c->rows, row);
    return st < 0 ? st : PFR_OK;
}

pfr_status samples_order_next(struct pfr_samples *c, pfr_error *err) {
    struct sample_order *o = c->order;
    if (!o->is_sorted && o->at == o->ready)
        PFR_TRY(make_ready(c, err));
    c->rows.count = 0;
    if (!o->is_chunked)
        return give_sorted(c, err);
    while (c->rows.count < SAMPLE_BATCH && o->at < o->ready)
        give(&c->rows, &o->chunk[o->at++]);
    return PFR_OK;
}
