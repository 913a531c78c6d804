/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_SUMS_H
#define PFR_VIEW_OFFCPU_SUMS_H
/*
 * Sums of waits by key, numbered in the order in which the keys were first added. Each interval is added to a sum, so
 * this is a table of its own: it compares keys of a fixed size in place, and hashes them in a few instructions. Some
 * intervals wait until several are added at once, so that their cache misses overlap.
 */
#include "base/memory/fail.h"
#include "base/memory/memory.h"

#include <stdbool.h>

/* Waits with the same key are summed. There are no padding bytes: keys are compared and hashed as words. */
struct offcpu_key {
    uint64_t address; /* of a futex; 0: not recorded */
    uint32_t thread, stack, waker, waker_stack;
    uint8_t state, reason, waker_kind, spare;
    uint32_t spares;
};

struct offcpu_sum {
    uint64_t ns, max;
    uint64_t count;
};

/* Together, so that an interval touches few cache lines. */
struct offcpu_sum_row {
    struct offcpu_key key;
    struct offcpu_sum sum;
};

#define OFFCPU_SUMS_AT_ONCE 16u

struct offcpu_sums {
    struct memory *memory;
    struct offcpu_sum_row *rows; /* by number */
    uint32_t *slots;             /* hash table: number + 1; 0: empty */
    size_t room, slot_count;
    uint32_t count;
    unsigned nr_waiting;
    struct offcpu_sum_row waiting[OFFCPU_SUMS_AT_ONCE + 1]; /* in the order of offcpu_sums_add; then the next one */
};

void offcpu_sums_init(struct offcpu_sums *s, struct memory *memory);
void offcpu_sums_free(struct offcpu_sums *s);
/* The row to fill for offcpu_sums_add, cleared. It is filled in place, because a copy of a struct that was just written
   waits for these writes. */
static inline struct offcpu_sum_row *offcpu_sums_next(struct offcpu_sums *s) {
    struct offcpu_sum_row *row = &s->waiting[s->nr_waiting];
    *row = (struct offcpu_sum_row){.key = {.address = 0}};
    return row;
}
/* Adds that row to the sum of its key; a sum is created if the key is new. Errors: memory, limit. The row may wait:
   call offcpu_sums_settle before rows are read. */
pfr_status offcpu_sums_add(struct offcpu_sums *s, pfr_error *err);
pfr_status offcpu_sums_settle(struct offcpu_sums *s, pfr_error *err);

#endif
