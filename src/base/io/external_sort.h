/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_EXTERNAL_SORT_H
#define PFR_BASE_EXTERNAL_SORT_H
/*
 * Sorts rows of equal size in bounded memory. As soon as `most` rows are in memory, they are sorted and written to an
 * unnamed temporary file as a run; runs are merged while rows are read. The sort is stable: rows with equal keys keep
 * the order in which they were added. Example:
 *
 *     struct external_sort sort;
 *     external_sort_init(&sort, &(struct external_sort_of){memory, sizeof(struct call), sizes.sort_rows, key_of_call});
 *     ... external_sort_add(&sort, &call, &err) ...
 *     PFR_TRY(external_sort_begin(&sort, &err));
 *     while ((st = external_sort_next(&sort, &row, &err)) == PFR_OK)
 *         ... (const struct call *)row ...
 *     external_sort_free(&sort);
 */
#include "base/memory/memory.h"

struct sort_key { /* rows are ordered by `major`, then by `minor` */
    uint64_t major;
    uint32_t minor;
};

struct external_sort_of {
    struct memory *memory;
    size_t row_size, most;
    struct sort_key (*key)(const void *row);
};

struct external_sort {
    struct external_sort_of of;
    uint64_t count; /* all rows */
    uint8_t *rows;  /* rows that are in no run; then the windows of the runs; and a spare row */
    size_t in_memory, room, at;
    struct sort_run *runs;
    size_t nr_runs, runs_room;
    struct sort_head *heap; /* runs that have rows left, the one with the smallest key first */
    size_t in_heap, heap_room;
    size_t window; /* rows of a run that are read together */
    uint64_t written;
    int fd;
    bool has_file, is_sorted, is_taken; /* is_taken: the first row of the heap was returned */
};

void external_sort_init(struct external_sort *sort, const struct external_sort_of *of);
pfr_status external_sort_add(struct external_sort *sort, const void *row, pfr_error *err);
/* Call it after all rows were added, before the first row is read; again to read all rows again. */
pfr_status external_sort_begin(struct external_sort *sort, pfr_error *err);
/* *row is valid until the next call. PFR_END: there are no more rows. */
pfr_status external_sort_next(struct external_sort *sort, const void **row, pfr_error *err);
/* Removes all rows, so that others can be added. The temporary file is used again. */
void external_sort_clear(struct external_sort *sort);
/* `sort` may be zeroed. */
void external_sort_free(struct external_sort *sort);

#endif
