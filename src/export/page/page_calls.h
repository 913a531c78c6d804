/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_CALLS_H
#define PFR_EXPORT_PAGE_CALLS_H
/*
 * Calls of a page, ordered by thread and time of entry. Unfinished calls have no duration and are omitted. If there are
 * too many calls for the page, the shortest calls are omitted as well, and their time counts as self time of their
 * callers.
 */
#include "export/page/page_tables.h"

struct page_call {
    uint64_t start, duration; /* as in the model; start UINT64_MAX: the call is omitted */
    uint32_t node, thread, depth;
};

struct page_calls {
    struct memory *memory;
    struct page_call *at;
    size_t count, room;
    uint64_t left_out; /* number of short calls omitted */
    uint64_t shortest; /* minimum duration of the calls that remain; 0: no calls were omitted */
    uint64_t open;     /* number of unfinished calls */
};

/* Errors: MEMORY, LIMIT, and those of reading calls. page_calls_free must always be called afterwards. */
pfr_status page_calls_read(struct page_calls *calls, const struct page_tables *tables, size_t most,
                           struct memory *memory, pfr_error *err);
void page_calls_free(struct page_calls *calls);

/* Omits the shortest calls until at most `most` remain. */
void page_calls_cut(struct page_calls *calls, size_t most);

#endif
