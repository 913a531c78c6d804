/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_INTERVALS_H
#define PFR_EXPORT_PAGE_INTERVALS_H
/*
 * States of the threads of a page, ordered by thread and time. If there are too many intervals for the page, the
 * shortest are left out.
 */
#include "export/page/page_waits.h"

struct page_interval {
    uint64_t start, duration; /* ns */
    uint32_t thread;          /* thread id in the model */
    uint32_t wait;            /* number of the sum that it is part of: see page_waits_row */
    uint8_t kind;             /* pfr_interval_kind */
    bool open;                /* it began before the recording or lasted beyond its end */
};

struct page_intervals {
    struct memory *memory;
    struct page_interval *at;
    size_t count, room;
    uint64_t left_out, shortest; /* number of intervals left out, which are shorter than `shortest` */
};

/* Reads the intervals of the model, and keeps at most `most` of them. Errors: MEMORY. page_intervals_free must always
   be called afterwards. */
pfr_status page_intervals_read(struct page_intervals *intervals, const struct page_tables *tables,
                               const struct page_waits *waits, size_t most, struct memory *memory, pfr_error *err);
void page_intervals_free(struct page_intervals *intervals);

/* Leaves out the shortest intervals until at most `most` remain. */
void page_intervals_cut(struct page_intervals *intervals, size_t most);

#endif
