/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_CALLS_H
#define PFR_EXPORT_PAGE_CALLS_H
/*
 * Calls of a page, thread after thread in the order of their enters. Calls that were never left have no duration and
 * are left out. Where there are more than fit, the shortest are left out too: their time is then their callers'.
 */
#include "export/page/page_tables.h"

struct page_call {
    uint64_t start, duration; /* as the model has them; start UINT64_MAX: left out */
    uint32_t node, thread, depth;
};

struct page_calls {
    struct memory *memory;
    struct page_call *at;
    size_t count, room;
    uint64_t left_out; /* shorter ones */
    uint64_t shortest; /* what the others last at least; 0: all are there */
    uint64_t open;     /* never left */
};

/* Errors: MEMORY, LIMIT, and what reading calls gives. page_calls_free must follow in every case. */
pfr_status page_calls_read(struct page_calls *calls, const struct page_tables *tables, size_t most,
                           struct memory *memory, pfr_error *err);
void page_calls_free(struct page_calls *calls);

/* Leaves out the shortest until at most `most` are left. */
void page_calls_cut(struct page_calls *calls, size_t most);

#endif
