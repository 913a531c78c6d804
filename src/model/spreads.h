/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_SPREADS_H
#define PFR_MODEL_SPREADS_H
/*
 * Spreads: of each of many keys, which values were met and how often, so that any percentile can be told.
 *
 * A spread is exact while its distinct values are few: a table of (value, count). One that has more becomes a sketch,
 * which counts by bucket: a value below 2^SPREAD_BITS * 2 has one of its own, above that the leading SPREAD_BITS + 1
 * bits make it. A value told out of a bucket is its middle, never farther off than SPREAD_ERROR of it. Counts, the
 * smallest and the greatest value stay exact.
 *
 * How many is few, `most`, starts with SPREAD_MOST and is halved while all spreads together, each counted with
 * min(distinct values, most), have above SPREADS_MOST. That is a property of the values alone: spreads that were filled
 * apart and merged end as those that were filled by one, in whatever order.
 *
 *     spreads_init(&all, memory);
 *     spreads_new(&all, &number, &err);
 *     spreads_find(&all, number, latency); spreads_add(&all, number, latency, &err);
 *     spread_list(&all, number, &list, &err);  spread_rank(&list, 990)
 */
#include "base/memory.h"

#define SPREAD_MOST 16384u
#define SPREADS_MOST 131072u
#define SPREAD_BITS 7u
#define SPREAD_ERROR (1.0 / (2u << SPREAD_BITS)) /* 0.39 % */

struct spread_slot {
    uint64_t value, count; /* count 0: the slot is empty */
};

#define SKETCH_PAGE 32u /* buckets side by side; a page of them is there when one of them was met */
#define SKETCH_PAGES (((64u - SPREAD_BITS) << SPREAD_BITS) / SKETCH_PAGE + (1u << SPREAD_BITS) / SKETCH_PAGE)

struct spread_sketch {
    uint64_t (*pages)[SKETCH_PAGE]; /* counts */
    size_t room, used;
    uint8_t page_of[SKETCH_PAGES]; /* and 1; 0: there is none */
};

struct spread {
    struct spread_slot *slots;    /* of an exact one; NULL: no value yet, or a sketch */
    struct spread_sketch *sketch; /* NULL: it is exact */
    uint32_t room, used;          /* slots, a power of two; those in use */
    uint64_t low, high;           /* low > high: no value */
};

struct spreads {
    struct memory *memory;
    struct spread *at;
    uint32_t count;
    size_t capacity;
    uint32_t most;    /* distinct values of an exact spread */
    uint64_t charged; /* min(distinct, most) of all */
    uint64_t moves;   /* how often counts got another place */
};

void spreads_init(struct spreads *all, struct memory *memory);
void spreads_free(struct spreads *all);

/* One more, empty; its number is all->count before. */
pfr_status spreads_new(struct spreads *all, pfr_error *err);

/* What spreads_add does for a value that is new or stands behind others; `count` of them. low and high are as they
 * were.
 */
pfr_status spreads_add_slowly(struct spreads *all, uint32_t number, uint64_t value, uint64_t count, pfr_error *err);

/* Number of the bucket of a value. */
static inline uint64_t spread_bucket(uint64_t value) {
    const uint64_t least = (2u << SPREAD_BITS) - 1; /* up to it, a value is its bucket */
    const unsigned shift = 63u - SPREAD_BITS - (unsigned)__builtin_clzll(value | least);
    return ((uint64_t)shift << SPREAD_BITS) + (value >> shift);
}

/* The value in the middle of a bucket. */
uint64_t spread_middle(uint64_t bucket);

/* Where a value is first looked for: mixed with where the slots happen to lie, so that a file cannot be made to
   collide. */
static inline uint32_t spread_first(const struct spread *s, uint64_t value) {
    const uint64_t mixed = (value ^ (uint64_t)(uintptr_t)s->slots) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(mixed >> 40) & (s->room - 1);
}

/* Errors: memory, limit. */
static inline pfr_status spreads_add(struct spreads *all, uint32_t number, uint64_t value, pfr_error *err) {
    const struct spread *s = &all->at[number];
    if (s->slots) {
        struct spread_slot *slot = &s->slots[spread_first(s, value)];
        if (slot->value == value && slot->count) {
            slot->count++;
            return PFR_OK;
        }
    }
    return spreads_add_slowly(all, number, value, 1, err);
}

/*
 * The same in two steps, for who adds many: the counts of different spreads lie far apart, and are fetched side by side
 * by the first step. It gives the place of the count, NULL where the second step has to look for it.
 */
static inline uint64_t *spreads_find(struct spreads *all, uint32_t number, uint64_t value) {
    struct spread *s = &all->at[number];
    s->low = value < s->low ? value : s->low;
    s->high = value > s->high ? value : s->high;
    if (s->sketch) {
        const uint64_t bucket = spread_bucket(value);
        const unsigned page = s->sketch->page_of[bucket / SKETCH_PAGE];
        uint64_t *count = page ? &s->sketch->pages[page - 1][bucket % SKETCH_PAGE] : NULL;
        __builtin_prefetch(count, 1);
        return count;
    }
    if (s->slots)
        __builtin_prefetch(&s->slots[spread_first(s, value)], 1);
    return NULL;
}

/* `moves` is all->moves of before the first step. */
static inline pfr_status spreads_add_found(struct spreads *all, uint64_t *count, uint64_t moves, uint32_t number,
                                           uint64_t value, pfr_error *err) {
    if (!count || moves != all->moves)
        return spreads_add(all, number, value, err);
    ++*count;
    return PFR_OK;
}

/* Adds all of a spread of others. */
pfr_status spreads_merge(struct spreads *all, uint32_t number, const struct spreads *others, uint32_t other,
                         pfr_error *err);

/* To be done once before spreads of `others` are merged. */
pfr_status spreads_merge_begin(struct spreads *all, const struct spreads *others, pfr_error *err);

/* The values in their order. */
struct spread_list {
    struct spread_slot *at;
    size_t room;
    uint32_t count;
    uint64_t total; /* counts added up */
};

/* The list must be given back. */
pfr_status spread_list(const struct spreads *all, uint32_t number, struct spread_list *list, pfr_error *err);
void spread_list_free(const struct spreads *all, struct spread_list *list);

/* Nearest rank: the smallest value that at least so many thousandths of all do not exceed. 0: there is none. */
uint64_t spread_rank(const struct spread_list *list, unsigned thousandths);

#endif
