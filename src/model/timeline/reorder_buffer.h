/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_REORDER_BUFFER_H
#define PFR_MODEL_REORDER_BUFFER_H
/*
 * Holds records until no earlier one can arrive. Records are put in file order, with copies of their bytes, and taken
 * in order of time; equal times keep the order in which they were put.
 *
 *    window_put(&w, &rec, time, &err);      for each record
 *    window_put_run(&w, &rec, ...);         many at once
 *    window_release(&w, limit, &err);       makes records not later than `limit` available to window_take
 *    while (window_take(&w, swap, &rec, &time))
 *        use(&rec);                         valid until the next window_put
 *
 * Memory is proportional to the records held. Records are stored in blocks, in put order; a block is reused when all
 * its records were taken. Data that are not in the bytes of a record are stored once per chunk of records that are
 * adjacent in the file (struct record_chunk). Within each ring buffer, window_take reads the records from front to
 * back.
 */
#include "base/memory/cursor.h"
#include "base/memory/memory.h"
#include "model/state/record_key.h"

/* Records of one event that are adjacent in the file; their bytes follow. */
struct record_chunk {
    const struct pfr_context *context;
    /* Place of the first record. The place of each next record is that plus the size of the records before it: added to
       `inner` if `inside`, otherwise to `offset`. */
    uint64_t offset, inner;
    uint32_t part : 31, inside : 1;
    int32_t event;
    uint32_t tail;
};

/* Location of a record: its block, and the positions of its chunk and its bytes, in words from the start of the
   block. */
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
    uint32_t used, live; /* bytes in use; number of records not yet taken */
};

struct window {
    struct memory *memory;
    struct window_orders sorted, fresh, spare; /* in order of time; in put order, not yet sorted; used by merging */
    struct window_block *blocks;
    size_t nr_blocks, blocks_room;
    uint32_t block;      /* index of the block being filled */
    uint32_t chunk;      /* position of the last chunk of that block, in words */
    uint32_t chunk_ends; /* byte offset in the block where the next record continues the chunk; 0: no record can */
    uint64_t limit;      /* records up to this time are released; 0: none */
    uint64_t bytes;      /* bytes held, including bookkeeping */
    uint64_t latest;     /* the latest time of all records ever put */
};

/* Records in the read buffer, in the byte order of the file. */
struct window_run {
    const uint8_t *bytes;
    uint64_t length;
    uint32_t time_at;
    bool swap;
};

void window_init(struct window *w, struct memory *memory);
void window_free(struct window *w);

/* `time` must not be 0. */
pfr_status window_put(struct window *w, const pfr_record *rec, uint64_t time, pfr_error *err);
/*
 * Puts records that follow *rec in the file. *rec must be the last record put, and not from a COMPRESSED record. Each
 * record must be of the same event as *rec, state its own size in its header, and have its time at byte `time_at`.
 * Stops when more than `most` bytes are held. *used: bytes put, *count: records put.
 */
pfr_status window_put_run(struct window *w, const pfr_record *rec, const struct window_run *run, uint64_t most,
                          uint64_t *used, uint64_t *count, pfr_error *err);
/* Sorts the records put, and releases those not later than `limit`. UINT64_MAX releases all. */
pfr_status window_release(struct window *w, uint64_t limit, pfr_error *err);
/* Takes the next released record; false: no such record. Its bytes are valid until the next window_put. */
bool window_take(struct window *w, bool swap, pfr_record *rec, uint64_t *time);
/* The type of the record that window_take would return; UINT32_MAX: no such record. */
uint32_t window_next_type(const struct window *w, bool swap);
/* The time midway between the times of the first and the last record held. Call it only after window_release. */
uint64_t window_middle(const struct window *w);

#endif
