/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted runs in a temporary file, merged by a heap of the runs' next keys: see external_sort.h. */
#include "base/io/external_sort.h"

#include "base/io/scratch.h"
#include "base/memory/fail.h"
#include "base/tables/radix.h"

#include <string.h>
#include <unistd.h>

#define WINDOW_LEAST 16u /* rows */

struct sort_run {
    uint64_t first, count; /* rows in the file */
    uint64_t read;         /* those that were read into the window so far */
    size_t at, in_window;
};

struct sort_head {
    struct sort_key key;
    uint32_t run;
};

void external_sort_init(struct external_sort *s, const struct external_sort_of *of) {
    *s = (struct external_sort){.of = *of};
}

void external_sort_clear(struct external_sort *s) {
    s->count = s->written = 0;
    s->in_memory = s->nr_runs = s->in_heap = 0;
    s->is_sorted = s->is_taken = false;
}

void external_sort_free(struct external_sort *s) {
    if (!s->of.memory)
        return;
    mem_free(s->of.memory, s->rows, s->room, s->of.row_size);
    mem_free(s->of.memory, s->runs, s->runs_room, sizeof *s->runs);
    mem_free(s->of.memory, s->heap, s->heap_room, sizeof *s->heap);
    if (s->has_file)
        close(s->fd);
    *s = (struct external_sort){0};
}

static uint8_t *row_at(const struct external_sort *s, size_t number) {
    return s->rows + number * s->of.row_size;
}

/* --- Sorting in memory. */

static bool is_before(struct sort_key a, struct sort_key b) {
    return a.major != b.major ? a.major < b.major : a.minor < b.minor;
}

/* Moves each row to its place by following the cycles of the permutation; the spare row holds the first of a cycle. */
static void permute(struct external_sort *s, struct radix_item *sorted) {
    uint8_t *const spare = row_at(s, s->in_memory);
    const size_t size = s->of.row_size;
    for (size_t i = 0; i < s->in_memory; i++) {
        if (sorted[i].value == i)
            continue;
        size_t hole = i;
        memcpy(spare, row_at(s, i), size);
        while (sorted[hole].value != i) {
            const size_t from = sorted[hole].value;
            memcpy(row_at(s, hole), row_at(s, from), size);
            sorted[hole].value = (uint32_t)hole;
            hole = from;
        }
        memcpy(row_at(s, hole), spare, size);
        sorted[hole].value = (uint32_t)hole;
    }
}

static bool is_in_order(const struct external_sort *s, bool *minors) {
    struct sort_key before = {0};
    bool in_order = true;
    for (size_t i = 0; i < s->in_memory; i++) {
        const struct sort_key key = s->of.key(row_at(s, i));
        in_order = in_order && !is_before(key, before);
        *minors = *minors || key.minor;
        before = key;
    }
    return in_order;
}

/* Sorts by the minor number first, then by the major one: radix_sort is stable. */
static void sort_items(const struct external_sort *s, struct radix_item *items, bool minors) {
    const size_t count = s->in_memory;
    for (size_t i = 0; i < count; i++)
        items[i] = (struct radix_item){minors ? s->of.key(row_at(s, i)).minor : 0, (uint32_t)i};
    struct radix_item *sorted = minors ? radix_sort(items, items + count, count) : items;
    for (size_t i = 0; i < count; i++)
        sorted[i].key = s->of.key(row_at(s, sorted[i].value)).major;
    sorted = radix_sort(sorted, sorted == items ? items + count : items, count);
    if (sorted != items)
        memcpy(items, sorted, count * sizeof *items);
}

static pfr_status sort_rows(struct external_sort *s, pfr_error *err) {
    bool minors = false;
    if (is_in_order(s, &minors))
        return PFR_OK;
    struct radix_item *items = mem_alloc(s->of.memory, s->in_memory, 2 * sizeof *items);
    if (!items)
        return mem_fail(s->of.memory, err, "sort");
    sort_items(s, items, minors);
    permute(s, items);
    mem_free(s->of.memory, items, s->in_memory, 2 * sizeof *items);
    return PFR_OK;
}

/* --- Runs. */

static pfr_status put_run(struct external_sort *s, pfr_error *err) {
    void *grown = mem_grow(s->of.memory, s->runs, s->nr_runs, &s->runs_room, 16, sizeof *s->runs);
    if (!grown)
        return mem_fail(s->of.memory, err, "sort");
    s->runs = grown;
    PFR_TRY(sort_rows(s, err));
    if (!s->has_file)
        PFR_TRY(scratch_open(&s->fd, err));
    s->has_file = true;
    if (!s->written)
        PFR_TRY(scratch_rewind(s->fd, err));
    PFR_TRY(scratch_write(s->fd, s->rows, s->in_memory * s->of.row_size, err));
    s->runs[s->nr_runs++] = (struct sort_run){.first = s->written, .count = s->in_memory};
    s->written += s->in_memory;
    s->in_memory = 0;
    return PFR_OK;
}

pfr_status external_sort_add(struct external_sort *s, const void *row, pfr_error *err) {
    if (s->in_memory >= s->of.most)
        PFR_TRY(put_run(s, err));
    void *grown = mem_grow(s->of.memory, s->rows, s->in_memory + 1, &s->room, 256, s->of.row_size);
    if (!grown)
        return mem_fail(s->of.memory, err, "sort");
    s->rows = grown;
    memcpy(row_at(s, s->in_memory++), row, s->of.row_size);
    s->count++;
    return PFR_OK;
}

/* --- Merging. The window of run i begins at row i * window. */

static uint8_t *next_of(const struct external_sort *s, uint32_t run) {
    return row_at(s, run * s->window + s->runs[run].at);
}

static pfr_status refill(struct external_sort *s, uint32_t number, pfr_error *err) {
    struct sort_run *run = &s->runs[number];
    const uint64_t left = run->count - run->read;
    const size_t count = left < s->window ? (size_t)left : s->window, bytes = count * s->of.row_size;
    size_t got;
    run->at = run->in_window = 0;
    PFR_TRY(scratch_read_at(s->fd, (run->first + run->read) * s->of.row_size, row_at(s, number * s->window), bytes,
                            &got, err));
    if (got < bytes)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "sort", "a temporary file is shorter than it was");
    run->read += count;
    run->in_window = count;
    return PFR_OK;
}

static bool is_head_before(const struct sort_head *a, const struct sort_head *b) {
    return is_before(a->key, b->key) || (!is_before(b->key, a->key) && a->run < b->run);
}

static void sift(struct external_sort *s, size_t at) {
    struct sort_head *const heap = s->heap;
    for (size_t child; (child = 2 * at + 1) < s->in_heap; at = child) {
        if (child + 1 < s->in_heap && is_head_before(&heap[child + 1], &heap[child]))
            child++;
        if (is_head_before(&heap[at], &heap[child]))
            return;
        const struct sort_head head = heap[at];
        heap[at] = heap[child];
        heap[child] = head;
    }
}

static pfr_status make_room(struct external_sort *s, pfr_error *err) {
    s->window = s->room / s->nr_runs < WINDOW_LEAST ? WINDOW_LEAST : s->room / s->nr_runs;
    uint8_t *rows = mem_grow(s->of.memory, s->rows, s->nr_runs * s->window - 1, &s->room, 256, s->of.row_size);
    if (!rows)
        return mem_fail(s->of.memory, err, "sort");
    s->rows = rows;
    struct sort_head *heap = mem_grow(s->of.memory, s->heap, s->nr_runs - 1, &s->heap_room, 16, sizeof *heap);
    if (!heap)
        return mem_fail(s->of.memory, err, "sort");
    s->heap = heap;
    return PFR_OK;
}

static pfr_status begin_merge(struct external_sort *s, pfr_error *err) {
    if (s->in_memory)
        PFR_TRY(put_run(s, err));
    PFR_TRY(make_room(s, err));
    for (uint32_t i = 0; i < s->nr_runs; i++) {
        s->runs[i].read = 0;
        PFR_TRY(refill(s, i, err));
        s->heap[i] = (struct sort_head){s->of.key(next_of(s, i)), i};
    }
    s->in_heap = s->nr_runs;
    for (size_t i = s->in_heap; i-- > 0;)
        sift(s, i);
    return PFR_OK;
}

pfr_status external_sort_begin(struct external_sort *s, pfr_error *err) {
    s->at = 0;
    s->is_taken = false;
    if (s->nr_runs)
        return begin_merge(s, err);
    if (!s->is_sorted)
        PFR_TRY(sort_rows(s, err));
    s->is_sorted = true;
    return PFR_OK;
}

/* Replaces the first row of the heap, which was returned, by the next row of its run. */
static pfr_status advance(struct external_sort *s, pfr_error *err) {
    struct sort_head *first = s->heap;
    struct sort_run *run = &s->runs[first->run];
    if (++run->at == run->in_window && run->read < run->count)
        PFR_TRY(refill(s, first->run, err));
    if (run->at < run->in_window)
        first->key = s->of.key(next_of(s, first->run));
    else
        *first = s->heap[--s->in_heap];
    sift(s, 0);
    return PFR_OK;
}

pfr_status external_sort_next(struct external_sort *s, const void **row, pfr_error *err) {
    if (!s->nr_runs)
        return s->at < s->in_memory ? (*row = row_at(s, s->at++), PFR_OK) : PFR_END;
    if (s->is_taken)
        PFR_TRY(advance(s, err));
    s->is_taken = s->in_heap > 0;
    if (s->is_taken)
        *row = next_of(s, s->heap->run);
    return s->is_taken ? PFR_OK : PFR_END;
}
