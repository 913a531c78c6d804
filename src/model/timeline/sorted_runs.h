/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_SORTED_RUNS_H
#define PFR_MODEL_SORTED_RUNS_H
/*
 * Sorts records by time when there are too many for memory: writes sorted runs to a temporary file, then merges them.
 *
 *    runs_keep(&runs, &window, &err);          makes a run of all records in the window; may be repeated
 *    runs_merge(&runs, &err);                  once, after all runs were made
 *    while (runs_take(&runs, &rec, &time, &err) == PFR_OK)
 *        use(&rec);                            valid until the next runs_take
 *
 * Records of equal time are ordered by run. Merging holds one buffer of 128 KB per run.
 */
#include "model/timeline/reorder_buffer.h"

/* A record as stored in the file, padded to a multiple of 8 bytes. */
struct kept {
    uint64_t time;
    pfr_record rec; /* rec.bytes is not valid in the file: the bytes follow the struct */
    uint8_t bytes[];
};

/* A run and its read position. */
struct sorted_run {
    uint64_t from, end; /* range of the file not yet read */
    uint8_t *buffer;
    size_t at, length;       /* range of the buffer not yet returned */
    const struct kept *next; /* the next record to return; it is in the buffer */
};

struct runs {
    struct memory *memory;
    int fd;        /* -1: not open yet */
    uint64_t size; /* size of the file in bytes */
    struct sorted_run *at;
    size_t count, room;
    uint32_t *heap; /* runs that have a record left; the run with the earliest record is first */
    size_t in_heap;
    uint32_t last; /* the run of the record returned last, or NO_RUN */
};

#define NO_RUN UINT32_MAX

void runs_init(struct runs *runs, struct memory *memory);
void runs_free(struct runs *runs);
/* Fails for I/O errors or lack of memory. */
pfr_status runs_keep(struct runs *runs, struct window *window, bool swap, pfr_error *err);
pfr_status runs_merge(struct runs *runs, pfr_error *err);
/* Takes the next record. PFR_OK, PFR_END, or an error. */
pfr_status runs_take(struct runs *runs, pfr_record *rec, uint64_t *time, pfr_error *err);

#endif
