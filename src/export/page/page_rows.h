/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_ROWS_H
#define PFR_EXPORT_PAGE_ROWS_H
/*
 * Samples of a page, ordered by thread and time. If there are too many samples, their times become coarser: samples of
 * one thread, event and stack in one time slot become one row, which has their number and the sum of their weights.
 * Sums stay the same; only times become less exact.
 */
#include "export/page/page_tables.h"

struct page_row {
    uint64_t time;   /* slot number, counted from `begin`; 0 for samples without a time */
    uint64_t weight; /* sum over the row's samples */
    uint32_t thread; /* thread id in the model */
    uint32_t node;
    uint32_t count; /* number of samples */
    uint16_t event; /* event id in the model, minus 1 */
};

struct page_rows {
    struct memory *memory;
    struct page_row *at;
    size_t count, room;
    uint64_t begin; /* ns: the time of slot 0 */
    uint64_t slot;  /* ns, a power of two */
    size_t most;    /* maximum number of rows */
    bool is_coarse; /* a row may represent several samples */
};

/* Prepares for at most `most` rows; `begin` is the start of the page, `slot` the finest resolution of its times. */
void page_rows_init(struct page_rows *rows, uint64_t begin, uint64_t slot, size_t most, struct memory *memory);
void page_rows_free(struct page_rows *rows);

/* Reads all samples of the model. Errors: MEMORY, LIMIT, and errors of reading samples. */
pfr_status page_rows_read(struct page_rows *rows, const struct page_tables *tables, pfr_error *err);

/* Makes slots four times as long and merges rows with the same slot, thread, event and node. */
void page_rows_coarsen(struct page_rows *rows);

#endif
