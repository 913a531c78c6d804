/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DISTRIBUTIONS_H
#define PFR_MODEL_DISTRIBUTIONS_H
/*
 * Spreads: of each of many keys, which values were met and how often, so that any percentile can be told.
 *
 * A spread is exact while its values are few: they are kept as they come, and put into order when they are asked for.
 * One that has more becomes a sketch, which counts by bucket: a value below 2^SPREAD_BITS * 2 has one of its own, above
 * that the leading SPREAD_BITS + 1 bits make it. A value told out of a bucket is its middle, never farther off than
 * SPREAD_ERROR of it. How many values there are, the smallest and the greatest stay exact.
 *
 * How many is few, `most`, starts with SPREAD_MOST and loses a quarter while all spreads together, each counted with
 * min(values, most), have above SPREADS_MOST; it stops at SPREAD_LEAST, where values take no more room than buckets.
 * That is a property of the values alone: spreads that were filled apart and merged end as those that were filled by
 * one, in whatever order.
 *
 *     distributions_init(&all, memory);
 *     distributions_new(&all, &err);                         the first one, number 0
 *     distributions_add(&all, number, latency, &err);
 *     distribution_list(&all, number, &list, &err);  distribution_rank(&list, 990)
 */
#include "base/memory/memory.h"
#include "model/latency/distribution_memory.h"

#include <string.h>

#define SPREAD_MOST 65536u
#define SPREAD_LEAST 1024u
#define SPREADS_MOST (1u << 19)
#define SPREAD_BITS 7u
#define SPREAD_ERROR (1.0 / (2u << SPREAD_BITS)) /* 0.39 % */
#define SPREAD_OCTAVE (1u << SPREAD_BITS)        /* buckets that a sketch grows by */
#define SPREAD_BUCKETS (((uint64_t)(64u - SPREAD_BITS) << SPREAD_BITS) + ((uint64_t)1 << SPREAD_BITS))

/* Values, counts or big counts, or none as long as there is no value. */
struct distribution {
    uint32_t *values;   /* exact: those that were met, */
    uint32_t *tops;     /* and what of them lies above 32 bits; NULL: nothing of any */
    uint32_t *counts;   /* a sketch: how many were met, by bucket */
    uint64_t *big;      /* the same, where they might not fit into those */
    uint16_t *recent;   /* what these do not have yet, or NULL: half the room, so that more of them stay at hand */
    uint32_t nr_recent; /* values in those */
    uint32_t room;      /* of each array */
    uint64_t count;     /* values */
    uint64_t low, high; /* low > high: no value */
};

struct distributions {
    struct memory *memory;
    struct distribution_tables tables;
    struct distribution *at;
    uint32_t count;
    size_t capacity;
    uint32_t most;    /* values of an exact spread */
    uint64_t charged; /* min(values, most) of all */
};

void distributions_init(struct distributions *all, struct memory *memory);
void distributions_free(struct distributions *all);

/* One more, empty; its number is all->count before. */
pfr_status distributions_new(struct distributions *all, pfr_error *err);

static inline bool distribution_is_exact(const struct distribution *s) {
    return !s->counts && !s->big;
}

/* Of an exact one. */
static inline uint64_t distribution_value(const struct distribution *s, uint64_t i) {
    return s->values[i] | (s->tops ? (uint64_t)s->tops[i] << 32 : 0);
}

/* Of a sketch. */
static inline uint64_t distribution_count_of(const struct distribution *s, uint32_t bucket) {
    return (s->big ? s->big[bucket] : s->counts[bucket]) + (s->recent ? s->recent[bucket] : 0u);
}

/* The bucket of a value. */
static inline uint32_t distribution_bucket(uint64_t value) {
    const uint64_t least = (2u << SPREAD_BITS) - 1; /* up to it, a value is its bucket */
    const unsigned shift = 63u - SPREAD_BITS - (unsigned)__builtin_clzll(value | least);
    return (shift << SPREAD_BITS) + (uint32_t)(value >> shift);
}

/* The same for four values below 2^31 at once, by those of numbers with a fraction: their exponent and the bits behind
   it are what the bucket is made of. Bits that such a number has no room for are left out before, so that none is
   rounded up into the next bucket. */
static inline void distribution_four_buckets(const uint32_t *values, uint32_t *buckets) {
    typedef int32_t four __attribute__((vector_size(16)));
    typedef float four_numbers __attribute__((vector_size(16)));
    four value, bits;
    memcpy(&value, values, sizeof value);
    value &= ~((value > 0xffffff) & 0xff);
    const four_numbers number = __builtin_convertvector(value, four_numbers);
    memcpy(&bits, &number, sizeof bits);
    const four bucket = (bits >> (23 - SPREAD_BITS)) - (int32_t)((127u + SPREAD_BITS - 1) << SPREAD_BITS);
    const four is_small = value < 1 << SPREAD_BITS, chosen = bucket ^ ((bucket ^ value) & is_small);
    memcpy(buckets, &chosen, sizeof chosen);
}

/* The value in the middle of a bucket. */
uint64_t distribution_middle(uint32_t bucket);

/* Errors: memory, limit. */
pfr_status distributions_add(struct distributions *all, uint32_t number, uint64_t value, pfr_error *err);

/* The same value so many times. */
pfr_status distributions_add_times(struct distributions *all, uint32_t number, uint64_t value, uint64_t times,
                                   pfr_error *err);

/* The same for many, of which the smallest and the greatest are known. */
struct distribution_many {
    const uint32_t *values;
    uint32_t count, low, high;
};
pfr_status distributions_add_many(struct distributions *all, uint32_t number, const struct distribution_many *many,
                                  pfr_error *err);

/* Adds all of a spread of others. */
pfr_status distributions_merge(struct distributions *all, uint32_t number, const struct distributions *others,
                               uint32_t other, pfr_error *err);

/* To be done once before spreads of `others` are merged. */
pfr_status distributions_merge_begin(struct distributions *all, const struct distributions *others, pfr_error *err);

struct distribution_slot {
    uint64_t what, count;
};

/* Different values in their order, and how often they were met. */
struct distribution_list {
    struct distribution_slot *at;
    size_t room;
    uint32_t count;
    uint64_t total; /* counts added up */
};

/* The list must be given back. */
pfr_status distribution_list(const struct distributions *all, uint32_t number, struct distribution_list *list,
                             pfr_error *err);
void distribution_list_free(const struct distributions *all, struct distribution_list *list);

/* Nearest rank: the smallest value that at least so many thousandths of all do not exceed. 0: there is none. */
uint64_t distribution_rank(const struct distribution_list *list, unsigned thousandths);

/* Several of them without a list, thousandths in ascending order. */
pfr_status distribution_ranks(const struct distributions *all, uint32_t number, const unsigned *thousandths,
                              unsigned count, uint64_t *values, pfr_error *err);

#endif
