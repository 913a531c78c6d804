/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_REORDER_BUFFER_H
#define PFR_MODEL_REORDER_BUFFER_H
/*
 * Records that wait until no earlier one can come any more. They are put in file order, with copies of their bytes, and
 * taken in the order of time; equal times go in the order they were put.
 *
 *     window_put(&w, &rec, time, &err);      as many as come
 *     window_put_run(&w, &rec, ...);         many at once
 *     window_release(&w, limit, &err);       what is not later than `limit` may go
 *     while (window_take(&w, swap, &rec, &time))
 *         use(&rec);                         lives until the next window_put
 *
 * Memory follows what waits: records lie in blocks, in the order they were put, and a block is used again when all of
 * its records were taken. What the bytes of records do not say stands once ahead of as many as follow each other in the
 * file (struct stretch). What is taken is read in as many places as there were buffers, each from front to back.
 */
#include "base/memory/cursor.h"
#include "base/memory/memory.h"
#include "model/state/record_key.h"

/* Of records that lie behind each other in the file, of one event; their bytes follow. */
struct record_chunk {
    const struct pfr_context *context;
    uint64_t offset, inner; /* of the first; of the others one of the two grows with the bytes */
    uint32_t part : 31, inside : 1;
    int32_t event;
    uint32_t tail;
};

/* Where a record is: its block, its stretch, its bytes, both in words from the start of the block. */
#define PLACE_BITS 17u
struct window_order {
    uint64_t time, place;
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
    uint32_t block;      /* that is being filled */
    uint32_t chunk;      /* the last of it, in words */
    uint32_t chunk_ends; /* in bytes, where a record would go on with it; 0: nowhere */
    uint64_t limit;      /* released up to here; 0: nothing was */
    uint64_t bytes;      /* that wait, with what is needed to keep them */
    uint64_t latest;     /* the latest time that was ever put */
};

/* Bytes of records, in the file's byte order. */
struct window_run {
    const uint8_t *bytes;
    uint64_t length;
    uint32_t time_at;
    bool swap;
};

void window_init(struct window *w, struct memory *memory);
void window_free(struct window *w);

/* The time is not 0. */
pfr_status window_put(struct window *w, const pfr_record *rec, uint64_t time, pfr_error *err);
/*
 * The same for records that follow *rec in the file, which was put last and did not come out of another; they are of
 * its event, each is as long as its header says and has its time at `time_at`. Ends early when more than `most` bytes
 * wait. *used: bytes that were put, *count: how many records.
 */
pfr_status window_put_run(struct window *w, const pfr_record *rec, const struct window_run *run, uint64_t most,
                          uint64_t *used, uint64_t *count, pfr_error *err);
/* Sorts what came and lets go what is not later. UINT64_MAX: everything. */
pfr_status window_release(struct window *w, uint64_t limit, pfr_error *err);
/* The next record that may go; false: none. Its bytes live until the next window_put. */
bool window_take(struct window *w, bool swap, pfr_record *rec, uint64_t *time);
/* The type of that record; UINT32_MAX: none. */
uint32_t window_next_type(const struct window *w, bool swap);
/* A time that half of the way between the first and the last record lies at or before; only after window_release. */
uint64_t window_middle(const struct window *w);

#endif
