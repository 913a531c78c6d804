/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_SPREADS_H
#define PFR_MODEL_SPREADS_H
/*
 * Spreads: of each of many keys, which values were met and how often, so that any percentile can be told.
 *
 * A spread is a table of (what, count). It is exact while its distinct values are few: what is counted is the value
 * itself. One that has more becomes a sketch, which counts by bucket: a value below 2^SPREAD_BITS * 2 has one of its
 * own, above that the leading SPREAD_BITS + 1 bits make it. A value told out of a bucket is its middle, never farther
 * off than SPREAD_ERROR of it. Counts, the smallest and the greatest value stay exact.
 *
 * How many is few, `most`, starts with SPREAD_MOST and loses a quarter while all spreads together, each counted with
 * min(distinct values, most), have above SPREADS_MOST. That is a property of the values alone: spreads that were filled
 * apart and merged end as those that were filled by one, in whatever order.
 *
 *     spreads_init(&all, memory);
 *     spreads_new(&all, &err);                         the first one, number 0
 *     spreads_add(&all, number, latency, &err);
 *     spread_list(&all, number, &list, &err);  spread_rank(&list, 990)
 */
#include "base/memory.h"

#define SPREAD_MOST 65536u
#define SPREADS_MOST 262144u
#define SPREAD_BITS 7u
#define SPREAD_ERROR (1.0 / (2u << SPREAD_BITS)) /* 0.39 % */
#define SPREAD_BUCKETS (((uint64_t)(64u - SPREAD_BITS) << SPREAD_BITS) + ((uint64_t)1 << SPREAD_BITS))

struct spread_slot {
    uint64_t what, count; /* count 0: the slot is empty */
};

/* The same where both fit, which is nearly always so. */
struct spread_small {
    uint32_t what, count;
};

/* One of three tables, or none as long as there is no value. */
struct spread {
    uint32_t *dense;            /* counts by `what`, where that takes no more room than slots do */
    struct spread_small *small; /* slots */
    struct spread_slot *wide;   /* where something does not fit into those */
    uint32_t room, used;        /* counts or slots, and those that are not 0; slots are a power of two */
    uint32_t limit;             /* of small slots that may be used without a closer look */
    uint32_t coarse;            /* the shift of a value that may be made: 0 exact, 63 a sketch */
    uint64_t low, high;         /* low > high: no value */
};

struct spreads {
    struct memory *memory;
    struct spread *at;
    uint32_t count;
    size_t capacity;
    uint32_t most;    /* distinct values of an exact spread */
    uint64_t charged; /* min(distinct, most) of all */
    uint64_t seed;
};

void spreads_init(struct spreads *all, struct memory *memory);
void spreads_free(struct spreads *all);

/* One more, empty; its number is all->count before. */
pfr_status spreads_new(struct spreads *all, pfr_error *err);

static inline bool spread_is_exact(const struct spread *s) {
    return s->coarse == 0;
}

/* What spreads_add does where it has to look closer; `count` of them. low and high are as they were. */
pfr_status spreads_add_slowly(struct spreads *all, uint32_t number, uint64_t value, uint64_t count, pfr_error *err);

/* What is counted of a value: its bucket where `coarse` is 63, itself where it is 0. */
static inline uint64_t spread_what(uint64_t value, uint32_t coarse) {
    const uint64_t least = (2u << SPREAD_BITS) - 1; /* up to it, a value is its bucket */
    const unsigned shift = (63u - SPREAD_BITS - (unsigned)__builtin_clzll(value | least)) & coarse;
    return ((uint64_t)shift << SPREAD_BITS) + (value >> shift);
}

/* The value in the middle of a bucket. */
uint64_t spread_middle(uint64_t bucket);

#define SPREAD_ROW 3u /* values that differ in so many bits at their end are looked for side by side */

/* Where something is first looked for: mixed with where the code happens to lie, so that a file cannot be made to
   collide. */
static inline uint32_t spread_first(const struct spreads *all, const struct spread *s, uint64_t what) {
    const uint64_t mixed = ((what >> SPREAD_ROW) ^ all->seed) * 0x9e3779b97f4a7c15u;
    const uint32_t row = (uint32_t)(mixed >> 40) << SPREAD_ROW;
    return (row | ((uint32_t)what & ((1u << SPREAD_ROW) - 1))) & (s->room - 1);
}

static inline bool spread_may_grow(uint32_t count) {
    return count - 1 < UINT32_MAX - 1; /* it is there, and fits with one more */
}

/* Errors: memory, limit. */
static inline pfr_status spreads_add(struct spreads *all, uint32_t number, uint64_t value, pfr_error *err) {
    struct spread *s = &all->at[number];
    s->low = value < s->low ? value : s->low;
    s->high = value > s->high ? value : s->high;
    const uint64_t what = spread_what(value, s->coarse);
    if (s->dense && what < s->room && spread_may_grow(s->dense[what]))
        return s->dense[what]++, PFR_OK;
    for (uint32_t i = s->small ? spread_first(all, s, what) : 0; s->small; i = (i + 1) & (s->room - 1)) {
        struct spread_small *slot = &s->small[i];
        if (!spread_may_grow(slot->count)) {
            if (slot->count || s->used >= s->limit || all->charged >= SPREADS_MOST || what > UINT32_MAX)
                break;
            *slot = (struct spread_small){(uint32_t)what, 1};
            s->used++;
            all->charged++;
            return PFR_OK;
        }
        if (slot->what == what)
            return slot->count++, PFR_OK;
    }
    return spreads_add_slowly(all, number, value, 1, err);
}

/* The same for many. */
pfr_status spreads_add_many(struct spreads *all, uint32_t number, const uint32_t *values, uint32_t count,
                            pfr_error *err);

/* Adds all of a spread of others. */
pfr_status spreads_merge(struct spreads *all, uint32_t number, const struct spreads *others, uint32_t other,
                         pfr_error *err);

/* To be done once before spreads of `others` are merged. */
pfr_status spreads_merge_begin(struct spreads *all, const struct spreads *others, pfr_error *err);

/* The values in their order. */
struct spread_list {
    struct spread_slot *at; /* value, count */
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
