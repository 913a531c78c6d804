/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_WINDOW_H
#define PFR_MODEL_WINDOW_H
/*
 * Records that wait until no earlier one can come any more. They are put in file order, with copies of their bytes, and
 * taken in the order of time; equal times go in the order they were put.
 *
 *     window_put(&w, &rec, time, &err);      as many as come
 *     window_release(&w, limit, &err);       what is not later than `limit` may go
 *     while ((at = window_take(&w)))         lives until the next window_put
 *         use(waiting_record(at, ...));
 *
 * Memory follows what waits: records lie in blocks, in the order they were put, and a block is used again when all of
 * its records were taken. What is taken is read in as many places as there were buffers, each from front to back.
 */
#include "base/cursor.h"
#include "base/memory.h"
#include "model/key.h"

/* What the bytes of a record do not say; they follow. */
struct waiting {
    uint64_t time, offset, inner;
    const struct pfr_context *context;
    uint32_t part : 31, inside : 1;
    uint32_t block;
    int32_t event;
    uint16_t tail, size;
    uint8_t bytes[];
};

struct window_order {
    uint64_t time;
    struct waiting *at;
};

struct window_orders {
    struct window_order *at;
    size_t first, count, room; /* at[first..count) are in use */
};

struct window_block {
    uint8_t *bytes;
    uint32_t used, live; /* bytes handed out; records not yet taken */
};

struct window {
    struct memory *memory;
    struct window_orders sorted, fresh, spare; /* in order; as they came; for merging */
    struct window_block *blocks;
    size_t nr_blocks, blocks_room;
    uint32_t block;  /* that is being filled */
    uint64_t limit;  /* released up to here; 0: nothing was */
    uint64_t bytes;  /* that wait, with what is needed to keep them */
    uint64_t latest; /* the latest time that was ever put */
};

void window_init(struct window *w, struct memory *memory);
void window_free(struct window *w);

/* The time is not 0. */
pfr_status window_put(struct window *w, const pfr_record *rec, uint64_t time, pfr_error *err);
/* Sorts what came and lets go what is not later. UINT64_MAX: everything. */
pfr_status window_release(struct window *w, uint64_t limit, pfr_error *err);
/* The next record that may go; NULL: none. It lives until the next window_put. */
const struct waiting *window_take(struct window *w);
/* A time that half of the way between the first and the last record lies at or before; only after window_release. */
uint64_t window_middle(const struct window *w);

/* With its bytes, in whole words. */
static inline size_t waiting_size(uint32_t record_size) {
    return sizeof(struct waiting) + ((record_size + 7u) & ~7u);
}

/* The record as it was put; rec->bytes lie in `at`. */
static inline void waiting_record(const struct waiting *at, bool swap, pfr_record *rec) {
    *rec = (pfr_record){.offset = at->offset,
                        .inner = at->inner,
                        .part = at->part,
                        .type = load_u32(at->bytes, swap),
                        .misc = load_u16(at->bytes + 4, swap),
                        .size = at->size,
                        .tail = at->tail,
                        .inside = at->inside,
                        .event = at->event,
                        .bytes = at->bytes,
                        .context = at->context};
}

#endif
