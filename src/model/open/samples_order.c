/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples in order of time. Rows that pass the filters are sorted chunk by chunk. If the earliest
 * time of all samples after a chunk is known (slices.least of the model), rows up to that time are
 * returned at once, and only the others wait for the next chunk. If too many rows wait, or the time
 * is not known, chunks are written to a temporary file as sorted runs, which are then merged. Rows
 * of equal time are ordered by number, so that the order does not depend on the chunks.
 */
#include "model/open/samples_order.h"
#include "model/open/samples_cursor.h"

#include "base/io/scratch.h"
#include "base/memory/sizes.h"
#include "base/tables/radix.h"

#include <unistd.h>

#define RUN_ROWS 64u /* rows of each run in memory while runs are merged */

struct order_row {
    uint64_t time, id, weight, period;
    uint32_t thread, comm, cpu, event, stack, mode;
};

struct order_run {
    uint64_t from, end; /* rows in the file that were not read yet */
    struct order_row *rows;
    uint32_t at, count;
};

struct sample_order {
    struct order_row *chunk;
    size_t count, at, room;
    size_t ready; /* number of rows of the chunk that no later row can precede */
    struct order_run *runs;
    size_t nr_runs, runs_room;
    uint32_t *heap; /* heap of the runs that have rows left, the earliest first */
    size_t in_heap;
    uint64_t written; /* rows */
    int fd;
    bool is_read;   /* all samples were read */
    bool is_sorted; /* all samples are sorted: in runs, or in the chunk */
};

pfr_status samples_order_open(struct pfr_samples *c, pfr_error *err) {
    c->order = mem_zeroed(&c->memory, 1, sizeof *c->order);
    if (!c->order)
        return mem_fail(&c->memory, err, "samples");
    c->order->fd = -1;
    return PFR_OK;
}

static void free_runs(struct pfr_samples *c) {
    struct sample_order *o = c->order;
    for (size_t i = 0; i < o->nr_runs; i++)
        mem_free(&c->memory, o->runs[i].rows, RUN_ROWS, sizeof *o->runs[i].rows);
    mem_free(&c->memory, o->runs, o->runs_room, sizeof *o->runs);
    mem_free(&c->memory, o->heap, o->nr_runs, sizeof *o->heap);
    mem_free(&c->memory, o->chunk, o->room, sizeof *o->chunk);
    if (o->fd >= 0)
        close(o->fd);
    *o = (struct sample_order){.fd = -1};
}

void samples_order_rewind(struct pfr_samples *c) {
    if (c->order)
        free_runs(c);
}

void samples_order_close(struct pfr_samples *c) {
    if (!c->order)
        return;
    free_runs(c);
    mem_free(&c->memory, c->order, 1, sizeof *c->order);
    c->order = NULL;
}

/* --- Sorting. */

static int compare(const struct order_row *x, const struct order_row *y) {
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

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
        if (compare(&o->chunk[i - 1], &o->chunk[i]) > 0)
            return sort_rows(c, err);
    return PFR_OK;
}

static pfr_status put_run(struct pfr_samples *c, pfr_error *err) {
    struct sample_order *o = c->order;
    void *grown = mem_grow(&c->memory, o->runs, o->nr_runs, &o->runs_room, 16, sizeof *o->runs);
    if (!grown)
        return mem_fail(&c->memory, err, "samples");
    o->runs = grown;
    if (o->fd < 0)
        PFR_TRY(scratch_open(&o->fd, err));
    PFR_TRY(sort_chunk(c, err));
    PFR_TRY(scratch_write(o->fd, o->chunk, o->count * sizeof *o->chunk, err));
    o->runs[o->nr_runs++] = (struct order_run){.from = o->written, .end = o->written + o->count};
    o->written += o->count;
    o->count = 0;
    return PFR_OK;
}

/* Adds the rows of the batch to the chunk. A chunk of `most` rows is written as a run. */
static pfr_status put_rows(struct pfr_samples *c, size_t most, pfr_error *err) {
    struct sample_order *o = c->order;
    const struct sample_rows *r = &c->rows;
    for (uint32_t i = 0; i < r->count; i++) {
        if (o->count >= most)
            PFR_TRY(put_run(c, err));
        void *grown = mem_grow(&c->memory, o->chunk, o->count, &o->room, SAMPLE_BATCH, sizeof *o->chunk);
        if (!grown)
            return mem_fail(&c->memory, err, "samples");
        o->chunk = grown;
        o->chunk[o->count++] = (struct order_row){.time = r->time[i],
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
    return PFR_OK;
}

/* --- Merging. */

static pfr_status refill(struct pfr_samples *c, struct order_run *run, pfr_error *err) {
    const uint64_t left = run->end - run->from;
    const size_t count = left < RUN_ROWS ? (size_t)left : RUN_ROWS, bytes = count * sizeof *run->rows;
    size_t got;
    run->at = run->count = 0;
    if (!run->rows)
        run->rows = mem_alloc(&c->memory, RUN_ROWS, sizeof *run->rows);
    if (!run->rows)
        return mem_fail(&c->memory, err, "samples");
    PFR_TRY(scratch_read_at(c->order->fd, run->from * sizeof *run->rows, run->rows, bytes, &got, err));
    if (got != bytes)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "samples", "a temporary file is shorter than it was");
    run->from += count;
    run->count = (uint32_t)count;
    return PFR_OK;
}

static const struct order_row *head(const struct sample_order *o, uint32_t run) {
    return &o->runs[run].rows[o->runs[run].at];
}

static void sift(struct sample_order *o, size_t at) {
    for (size_t child; (child = 2 * at + 1) < o->in_heap; at = child) {
        if (child + 1 < o->in_heap && compare(head(o, o->heap[child + 1]), head(o, o->heap[child])) < 0)
            child++;
        if (compare(head(o, o->heap[at]), head(o, o->heap[child])) < 0)
            return;
        const uint32_t run = o->heap[at];
        o->heap[at] = o->heap[child];
        o->heap[child] = run;
    }
}

static pfr_status begin_merge(struct pfr_samples *c, pfr_error *err) {
    struct sample_order *o = c->order;
    PFR_TRY(put_run(c, err));
    mem_free(&c->memory, o->chunk, o->room, sizeof *o->chunk);
    o->chunk = NULL;
    o->room = 0;
    o->heap = mem_alloc(&c->memory, o->nr_runs, sizeof *o->heap);
    if (!o->heap)
        return mem_fail(&c->memory, err, "samples");
    for (uint32_t i = 0; i < o->nr_runs; i++) {
        PFR_TRY(refill(c, &o->runs[i], err));
        o->heap[o->in_heap++] = i;
    }
    for (size_t i = o->in_heap; i-- > 0;)
        sift(o, i);
    return PFR_OK;
}

static pfr_status read_rows(struct pfr_samples *c, size_t most, pfr_error *err) {
    const pfr_status st = samples_fill(c, err);
    if (st < 0)
        return st;
    c->order->is_read = st == PFR_END;
    return put_rows(c, most, err);
}

static pfr_status sort_all(struct pfr_samples *c, pfr_error *err) {
    struct sample_order *o = c->order;
    while (!o->is_read)
        PFR_TRY(read_rows(c, sizes.order_rows, err));
    o->is_sorted = true;
    if (o->nr_runs)
        return begin_merge(c, err);
    PFR_TRY(sort_chunk(c, err));
    o->ready = o->count;
    return PFR_OK;
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
            PFR_TRY(read_rows(c, SIZE_MAX, err));
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

static pfr_status give_merged(struct pfr_samples *c, pfr_error *err) {
    struct sample_order *o = c->order;
    struct order_run *run = &o->runs[o->heap[0]];
    give(&c->rows, &run->rows[run->at++]);
    if (run->at == run->count && run->from < run->end)
        PFR_TRY(refill(c, run, err));
    if (run->at == run->count)
        o->heap[0] = o->heap[--o->in_heap];
    sift(o, 0);
    return PFR_OK;
}

pfr_status samples_order_next(struct pfr_samples *c, pfr_error *err) {
    struct sample_order *o = c->order;
    if (!o->is_sorted && o->at == o->ready)
        PFR_TRY(make_ready(c, err));
    c->rows.count = 0;
    while (c->rows.count < SAMPLE_BATCH && o->in_heap > 0)
        PFR_TRY(give_merged(c, err));
    while (c->rows.count < SAMPLE_BATCH && o->at < o->ready)
        give(&c->rows, &o->chunk[o->at++]);
    return PFR_OK;
}
