/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DISTRIBUTIONS_H
#define PFR_MODEL_DISTRIBUTIONS_H
/*
 * Distributions: for each of many keys, the values that occurred and their counts, for any percentile.
 *
 * A distribution is exact while it has few values: they are stored in order of arrival, and sorted on request. A larger
 * one becomes a sketch, which counts by bucket: a value below 2^SPREAD_BITS * 2 has its own bucket, a larger one is
 * reduced to its leading SPREAD_BITS + 1 bits. A sketch returns the middle of a bucket for each value in it; the
 * relative error is at most SPREAD_ERROR. The number of values, the smallest and the greatest are always exact.
 *
 * The maximum number of values of an exact distribution, `most`, is at first SPREAD_MOST. It is reduced by a quarter
 * while the sum of min(values, most) over all distributions is above SPREADS_MOST, down to SPREAD_LEAST: that many
 * values take no more room than buckets. `most` depends only on the values, so distributions that are filled separately
 * and merged, in any order, equal distributions that one worker filled.
 *
 *    distributions_init(&all, memory);
 *    distributions_new(&all, &err);                         the first one, number 0
 *    distributions_add(&all, number, latency, &err);
 *    distribution_list(&all, number, &list, &err);  distribution_rank(&list, 990)
 */
#include "base/memory/memory.h"
#include "model/latency/distribution_memory.h"

#include <string.h>

#define SPREAD_MOST 65536u
#define SPREAD_LEAST 1024u
#define SPREADS_MOST (1u << 19)
#define SPREAD_BITS 7u
#define SPREAD_ERROR (1.0 / (2u << SPREAD_BITS)) /* 0.39 % */
#define SPREAD_OCTAVE (1u << SPREAD_BITS)        /* number of buckets by which a sketch grows */
#define SPREAD_BUCKETS (((uint64_t)(64u - SPREAD_BITS) << SPREAD_BITS) + ((uint64_t)1 << SPREAD_BITS))

/* Has one of `values`, `counts` and `big`, or none of them while there are no values. */
struct distribution {
    uint32_t *values; /* exact: the values */
    uint32_t *tops;   /* exact: upper 32 bits of the values; NULL: all are 0 */
    uint32_t *counts; /* sketch: counts by bucket */
    uint64_t *big;    /* sketch: counts of 64 bits, if 32 might not suffice */
    uint16_t *recent; /* counts not yet added to `counts` or `big`; may be NULL. They have only 16 bits, so that more of
                         them stay in the cache */
    uint32_t nr_recent; /* number of values in `recent` */
    uint32_t room;      /* number of elements in each array */
    uint64_t count;     /* number of values */
    uint64_t low, high; /* low > high: no values */
};

struct distributions {
    struct memory *memory;
    struct distribution_tables tables;
    struct distribution *at;
    uint32_t count;
    size_t capacity;
    uint32_t most;    /* maximum values of an exact distribution */
    uint64_t charged; /* sum of min(values, most) */
};

void distributions_init(struct distributions *all, struct memory *memory);
void distributions_free(struct distributions *all);

/* Adds an empty distribution; its number is all->count before the call. */
pfr_status distributions_new(struct distributions *all, pfr_error *err);

static inline bool distribution_is_exact(const struct distribution *s) {
    return !s->counts && !s->big;
}

/* Value `i` of an exact distribution. */
static inline uint64_t distribution_value(const struct distribution *s, uint64_t i) {
    return s->values[i] | (s->tops ? (uint64_t)s->tops[i] << 32 : 0);
}

/* The count of a bucket of a sketch. */
static inline uint64_t distribution_count_of(const struct distribution *s, uint32_t bucket) {
    return (s->big ? s->big[bucket] : s->counts[bucket]) + (s->recent ? s->recent[bucket] : 0u);
}

/* The bucket of a value. */
static inline uint32_t distribution_bucket(uint64_t value) {
    const uint64_t least = (2u << SPREAD_BITS) - 1; /* up to this value, each value has a bucket of its own */
    const unsigned shift = 63u - SPREAD_BITS - (unsigned)__builtin_clzll(value | least);
    return (shift << SPREAD_BITS) + (uint32_t)(value >> shift);
}

/*
 * distribution_bucket for four values below 2^31, through conversion to float: the exponent and the leading fraction
 * bits of the float make up the bucket. Bits beyond the precision of a float are cleared first, so that no value is
 * rounded up into the next bucket.
 */
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

/* Errors: PFR_ERR_MEMORY, PFR_ERR_LIMIT. */
pfr_status distributions_add(struct distributions *all, uint32_t number, uint64_t value, pfr_error *err);

/* Adds the same value `times` times. */
pfr_status distributions_add_times(struct distributions *all, uint32_t number, uint64_t value, uint64_t times,
                                   pfr_error *err);

/* Many values to add, with the smallest and greatest of them. */
struct distribution_many {
    const uint32_t *values;
    uint32_t count, low, high;
};
pfr_status distributions_add_many(struct distributions *all, uint32_t number, const struct distribution_many *many,
                                  pfr_error *err);

/* Adds all values of a distribution of `others`. */
pfr_status distributions_merge(struct distributions *all, uint32_t number, const struct distributions *others,
                               uint32_t other, pfr_error *err);

/* Call it once before distributions of `others` are merged. */
pfr_status distributions_merge_begin(struct distributions *all, const struct distributions *others, pfr_error *err);

/* Percentiles in tables of latencies, in thousandths: p50, p90, p95, p99, p99.9. */
#define LATENCY_RANKS 5u
extern const unsigned latency_thousandths[LATENCY_RANKS];

struct distribution_slot {
    uint64_t what, count;
};

/* Distinct values in ascending order, with their counts. */
struct distribution_list {
    struct distribution_slot *at;
    size_t room;
    uint32_t count;
    uint64_t total; /* sum of the counts */
};

/* Free the list with distribution_list_free. */
pfr_status distribution_list(const struct distributions *all, uint32_t number, struct distribution_list *list,
                             pfr_error *err);
void distribution_list_free(const struct distributions *all, struct distribution_list *list);

/* Nearest rank: the smallest value such that at least `thousandths` / 1000 of all values do not exceed it. 0: no
   values. */
uint64_t distribution_rank(const struct distribution_list *list, unsigned thousandths);

/* Computes several ranks without a list; `thousandths` must be ascending. */
pfr_status distribution_ranks(const struct distributions *all, uint32_t number, const unsigned *thousandths,
                              unsigned count, uint64_t *values, pfr_error *err);

#endif
