/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_SORTED_RUNS_H
#define PFR_MODEL_SORTED_RUNS_H
/*
 * Records in the order of time that are more than memory should hold: sorted runs in a temporary file, then merged.
 *
 *     runs_keep(&runs, &window, &err);          all that waits becomes one run; again and again
 *     runs_merge(&runs, &err);                  once, then
 *     while (runs_take(&runs, &rec, &time, &err) == PFR_OK)
 *         use(&rec);                            lives until the next runs_take
 *
 * Equal times go in the order of the runs. One buffer of 128 KB per run is held while they are merged.
 */
#include "model/timeline/reorder_buffer.h"

/* A record as it stands in the file, in whole words. */
struct kept {
    uint64_t time;
    pfr_record rec; /* but for rec.bytes, which follow */
    uint8_t bytes[];
};

/* A run, as far as it was read. */
struct sorted_run {
    uint64_t from, end; /* of what was not yet read, in the file */
    uint8_t *buffer;
    size_t at, length;       /* of what is in the buffer and was not yet given */
    const struct kept *next; /* in the buffer */
};

struct runs {
    struct memory *memory;
    int fd;        /* -1: none yet */
    uint64_t size; /* of the file */
    struct sorted_run *at;
    size_t count, room;
    uint32_t *heap; /* runs that have a record, the earliest first */
    size_t in_heap;
    uint32_t last; /* whose record was given last, NO_RUN */
};

#define NO_RUN UINT32_MAX

void runs_init(struct runs *runs, struct memory *memory);
void runs_free(struct runs *runs);
/* Errors: I/O, memory. */
pfr_status runs_keep(struct runs *runs, struct window *window, bool swap, pfr_error *err);
pfr_status runs_merge(struct runs *runs, pfr_error *err);
/* PFR_OK, PFR_END, or an error. */
pfr_status runs_take(struct runs *runs, pfr_record *rec, uint64_t *time, pfr_error *err);

#endif
