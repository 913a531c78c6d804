/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of a page: see page_rows.h. */
#include "export/page/page_rows_sort.h"

#include "base/memory/fail.h"

#include <perfray/samples.h>

#define COARSER 4u
#define LONGEST_SLOT ((uint64_t)1 << 60) /* ns; one slot then holds all times */
#define STEPS 32u                        /* more than the number of times that 53 bits can be divided by COARSER */

void page_rows_init(struct page_rows *rows, uint64_t begin, uint64_t slot, size_t most, struct memory *memory) {
    *rows = (struct page_rows){.memory = memory, .begin = begin, .slot = slot, .most = most};
}

void page_rows_free(struct page_rows *rows) {
    mem_free(rows->memory, rows->at, rows->room, sizeof *rows->at);
}

static bool are_alike(const struct page_row *a, const struct page_row *b) {
    return a->thread == b->thread && a->time == b->time && a->event == b->event && a->node == b->node;
}

/* Merges equal rows, which are adjacent. */
static size_t merge_alike(struct page_row *rows, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept && are_alike(&rows[kept - 1], &rows[i]) && rows[kept - 1].count <= UINT32_MAX - rows[i].count) {
            rows[kept - 1].weight += rows[i].weight;
            rows[kept - 1].count += rows[i].count;
        } else
            rows[kept++] = rows[i];
    }
    return kept;
}

void page_rows_coarsen(struct page_rows *rows) {
    if (rows->slot >= LONGEST_SLOT)
        return;
    rows->slot *= COARSER;
    rows->is_coarse = true;
    for (size_t i = 0; i < rows->count; i++)
        rows->at[i].time /= COARSER;
    page_rows_sort_by_time(rows->at, rows->count);
    rows->count = merge_alike(rows->at, rows->count);
}

/* How many times a slot must become four times as long until two rows are equal; STEPS: they never
   are. */
static unsigned steps_until_alike(const struct page_row *x, const struct page_row *y) {
    if (x->thread != y->thread || x->event != y->event || x->node != y->node)
        return STEPS;
    const uint64_t differ = x->time ^ y->time;
    return differ ? (unsigned)(64 - __builtin_clzll(differ) + 1) / 2 : 0;
}

/* Returns how many times slots must become four times as long to leave at most `most` rows. Rows of
   different threads, events or nodes never merge, so the search also stops when there are at most
   1/8 more rows than distinct combinations of the three. Rows must be sorted by stack. */
static unsigned steps_to(const struct page_rows *rows, size_t most) {
    size_t alike[STEPS + 1] = {0}, left = rows->count;
    for (size_t i = 1; i < rows->count; i++)
        alike[steps_until_alike(&rows->at[i - 1], &rows->at[i])]++;
    const size_t distinct = 1 + alike[STEPS], enough = distinct + distinct / 8;
    for (unsigned steps = 0; steps < STEPS; steps++) {
        left -= alike[steps];
        if ((left <= most || left <= enough) && (steps || rows->is_coarse))
            return steps;
    }
    return STEPS - 1;
}

/* Reduces the rows to half of `most`, so that sorting is rare. After the first call, slots become
   longer only if it is not enough to merge equal rows that were added since the last call. */
static void shrink(struct page_rows *rows) {
    page_rows_sort_by_stack(rows->at, rows->count);
    const unsigned shift = 2 * steps_to(rows, rows->most / 2);
    for (size_t i = 0; i < rows->count; i++)
        rows->at[i].time >>= shift;
    rows->slot = shift < 60 && rows->slot < LONGEST_SLOT >> shift ? rows->slot << shift : LONGEST_SLOT;
    rows->is_coarse = true;
    rows->count = merge_alike(rows->at, rows->count);
    if (rows->count > rows->most / 2)
        rows->most *= 2; /* there are more distinct stacks: sorting at each sample would take too long */
}

static pfr_status make_room(struct page_rows *rows, pfr_error *err) {
    if (rows->count >= rows->most)
        shrink(rows);
    void *grown = mem_grow(rows->memory, rows->at, rows->count, &rows->room, 4096, sizeof *rows->at);
    if (!grown)
        return mem_fail(rows->memory, err, "samples");
    rows->at = grown;
    return PFR_OK;
}

static struct page_row row_of(const struct page_rows *rows, const struct page_tables *t, const pfr_sample_batch *b,
                              uint32_t i) {
    const bool has_time = b->time[i] != PFR_NO_TIME && b->time[i] > rows->begin;
    return (struct page_row){.time = has_time ? (b->time[i] - rows->begin) / rows->slot : 0,
                             .weight = b->weight[i],
                             .thread = b->thread[i],
                             .node = t->node_of_stack[b->stack[i]],
                             .count = 1,
                             .event = (uint16_t)(b->event[i] - 1)};
}

static pfr_status take_batch(struct page_rows *rows, const struct page_tables *t, const pfr_sample_batch *b,
                             pfr_error *err) {
    for (uint32_t i = 0; i < b->count; i++) {
        PFR_TRY(make_room(rows, err));
        rows->at[rows->count++] = row_of(rows, t, b, i);
    }
    return PFR_OK;
}

pfr_status page_rows_read(struct page_rows *rows, const struct page_tables *t, pfr_error *err) {
    const pfr_sample_batch *batch;
    pfr_status st = PFR_OK;
    pfr_samples *cursor = pfr_samples_open(t->model, NULL, err);
    if (!cursor)
        return err->status;
    while (st == PFR_OK && (st = pfr_samples_next(cursor, &batch, err)) == PFR_OK)
        st = take_batch(rows, t, batch, err);
    pfr_samples_close(cursor);
    page_rows_sort_by_time(rows->at, rows->count);
    if (rows->is_coarse)
        rows->count = merge_alike(rows->at, rows->count);
    return st < 0 ? st : PFR_OK;
}
