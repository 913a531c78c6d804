/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_WINDOW_H
#define PFR_MODEL_WINDOW_H
/*
 * Records that wait until no earlier one can come any more. They are put in file order, with copies of their bytes, and
 * taken in the order of time; equal times go in the order they were put.
 *
 *     window_put(&w, &rec, key, &err);       as many as come
 *     window_release(&w, limit, &err);       what is not later than `limit` may go
 *     while ((at = window_take(&w)))         lives until the next window_take
 *         use(&at->rec, at->key);
 *
 * Memory follows what waits: the bytes lie in blocks that are used again when all of their records were taken.
 */
#include "base/memory.h"
#include "model/key.h"

struct waiting {
    pfr_record rec;
    struct key key;
    uint32_t block; /* of the bytes */
};

struct window_order {
    uint64_t time;
    uint32_t slot;
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
    struct waiting *slots;
    uint32_t *free_slots;
    size_t nr_slots, slots_room, nr_free, free_room;
    struct window_orders sorted, fresh, spare; /* in order; as they came; for merging */
    struct window_block *blocks;
    size_t nr_blocks, blocks_room;
    uint32_t block;    /* that is being filled */
    uint32_t last;     /* the slot that was taken last, NO_SLOT */
    uint64_t limit;    /* released up to here */
    bool has_released; /* limit counts */
    uint64_t bytes;    /* that wait, with what is needed to keep them */
    uint64_t latest;   /* the latest time that was ever put */
};

#define NO_SLOT UINT32_MAX

void window_init(struct window *w, struct memory *memory);
void window_free(struct window *w);

pfr_status window_put(struct window *w, const pfr_record *rec, struct key key, pfr_error *err);
/* Sorts what came and lets go what is not later. UINT64_MAX: everything. */
pfr_status window_release(struct window *w, uint64_t limit, pfr_error *err);
/* The next record that may go; NULL: none. */
const struct waiting *window_take(struct window *w);
/* A time that half of the way between the first and the last record lies at or before; only after window_release. */
uint64_t window_middle(const struct window *w);

#endif
