/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_ROWS_H
#define PFR_EXPORT_PAGE_ROWS_H
/*
 * Samples of a page in the order of threads and times. Too many for the page are coarsened: samples of one
 * thread, event and stack in one slot of time become one row with their number and the sum of their weights. Sums stay
 * what they were; only times are less exact.
 */
#include "export/page/page_tables.h"

struct page_row {
    uint64_t time;   /* slots since the first sample; without times 0 */
    uint64_t weight; /* sum of its samples */
    uint32_t thread; /* id of the model */
    uint32_t node;
    uint32_t count; /* number of its samples */
    uint16_t event; /* id of the model, minus 1 */
};

struct page_rows {
    struct memory *memory;
    struct page_row *at;
    size_t count, room;
    uint64_t begin; /* ns: the time of slot 0 */
    uint64_t slot;  /* ns, a power of two */
    size_t most;    /* rows */
    bool is_coarse; /* a row may be several samples */
};

/* `most` rows are kept; `begin` is when the page begins, `slot` how exact its times are at least. */
void page_rows_init(struct page_rows *rows, uint64_t begin, uint64_t slot, size_t most, struct memory *memory);
void page_rows_free(struct page_rows *rows);

/* All samples of the model. Errors: MEMORY, LIMIT, and what reading samples gives. */
pfr_status page_rows_read(struct page_rows *rows, const struct page_tables *tables, pfr_error *err);

/* Makes slots four times as long and merges rows of one slot, thread, event and node. */
void page_rows_coarsen(struct page_rows *rows);

#endif
