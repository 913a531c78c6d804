/* SPDX-License-Identifier: Apache-2.0 */
/* Stores values as they come, and counts by bucket if there are many: see distributions.h. */
#include "model/latency/distributions.h"

#include "base/memory/fail.h"

#include <string.h>

#define FIRST_ROOM 8u
#define OCTAVE SPREAD_OCTAVE

const unsigned latency_thousandths[LATENCY_RANKS] = {500, 900, 950, 990, 999};

void distributions_init(struct distributions *all, struct memory *memory) {
    *all = (struct distributions){.memory = memory, .tables = {.memory = memory}, .most = SPREAD_MOST};
}

static void free_arrays(struct distributions *all, struct distribution *s) {
    distribution_table_give(&all->tables, s->values, s->room, sizeof *s->values);
    distribution_table_give(&all->tables, s->tops, s->room, sizeof *s->tops);
    distribution_table_give(&all->tables, s->counts, s->room, sizeof *s->counts);
    distribution_table_give(&all->tables, s->big, s->room, sizeof *s->big);
    distribution_table_give(&all->tables, s->recent, s->room, sizeof *s->recent);
    s->values = s->tops = s->counts = NULL;
    s->big = NULL;
    s->recent = NULL;
    s->room = 0;
}

void distributions_free(struct distributions *all) {
    for (uint32_t i = 0; i < all->count; i++)
        free_arrays(all, &all->at[i]);
    mem_free(all->memory, all->at, all->capacity, sizeof *all->at);
    distribution_tables_free(&all->tables);
    distributions_init(all, all->memory);
}

pfr_status distributions_new(struct distributions *all, pfr_error *err) {
    void *more = mem_grow(all->memory, all->at, all->count, &all->capacity, 64, sizeof *all->at);
    if (!more)
        return mem_fail(all->memory, err, "latencies");
    all->at = more;
    all->at[all->count++] = (struct distribution){.low = UINT64_MAX};
    return PFR_OK;
}

uint64_t distribution_middle(uint32_t bucket) {
    if (bucket >> (SPREAD_BITS + 1) == 0)
        return bucket;
    const unsigned shift = (bucket >> SPREAD_BITS) - 1;
    const uint64_t low = ((uint64_t)bucket - ((uint64_t)shift << SPREAD_BITS)) << shift;
    return low + (((uint64_t)1 << shift) - 1) / 2;
}

/* --- Room. */

static pfr_status resize_values(struct distributions *all, uint32_t **at, uint32_t had, uint32_t room, pfr_error *err) {
    uint32_t *more = distribution_table_take(&all->tables, room, sizeof *more, false);
    if (!more)
        return mem_fail(all->memory, err, "latencies");
    if (*at)
        memcpy(more, *at, had * sizeof *more);
    distribution_table_give(&all->tables, *at, had, sizeof *more);
    *at = more;
    return PFR_OK;
}

/* Allocates `tops` when the first value above 32 bits comes; they are 0 for the earlier values. */
static pfr_status make_tops(struct distributions *all, struct distribution *s, pfr_error *err) {
    if (s->tops || s->high <= UINT32_MAX)
        return PFR_OK;
    s->tops = distribution_table_take(&all->tables, s->room, sizeof *s->tops, true);
    return s->tops ? PFR_OK : mem_fail(all->memory, err, "latencies");
}

/* Makes room for `more` values. An exact distribution has few values, so the sum cannot overflow. */
static pfr_status room_for_values(struct distributions *all, struct distribution *s, uint32_t more, pfr_error *err) {
    const uint32_t had = s->room;
    uint32_t room = had ? had : FIRST_ROOM;
    while (room < s->count + more)
        room *= 2;
    if (room != had) {
        PFR_TRY(resize_values(all, &s->values, had, room, err));
        if (s->tops)
            PFR_TRY(resize_values(all, &s->tops, had, room, err));
        s->room = room;
    }
    return make_tops(all, s, err);
}

/* Adds all buckets of an octave. `from` is copied first, because it may be equal to `to`. */
static void add_octave(uint32_t *to, const uint32_t *from) {
    uint32_t more[OCTAVE];
    memcpy(more, from, sizeof more);
    for (uint32_t i = 0; i < OCTAVE; i++)
        to[i] += more[i];
}

static void add_recent_octave(uint32_t *to, const uint16_t *from) {
    uint16_t more[OCTAVE];
    memcpy(more, from, sizeof more);
    for (uint32_t i = 0; i < OCTAVE; i++)
        to[i] += more[i];
}

/* Adds the recent counts to the counts. */
static void settle(struct distribution *s) {
    if (s->recent && s->big)
        for (uint32_t i = 0; i < s->room; i++)
            s->big[i] += s->recent[i];
    if (s->recent && !s->big)
        for (uint32_t i = 0; i < s->room; i += OCTAVE)
            add_recent_octave(s->counts + i, s->recent + i);
    if (s->recent)
        memset(s->recent, 0, s->room * sizeof *s->recent);
    s->nr_recent = 0;
}

static void drop_recent(struct distributions *all, struct distribution *s) {
    settle(s);
    distribution_table_give(&all->tables, s->recent, s->room, sizeof *s->recent);
    s->recent = NULL;
}

/* Makes room for `more` recent values. */
static pfr_status room_for_recent(struct distributions *all, struct distribution *s, uint32_t more, pfr_error *err) {
    if (more > UINT16_MAX - s->nr_recent)
        settle(s);
    if (!s->recent)
        s->recent = distribution_table_take(&all->tables, s->room, sizeof *s->recent, true);
    return s->recent ? PFR_OK : mem_fail(all->memory, err, "latencies");
}

/* Makes room up to the bucket of the greatest value. */
static pfr_status room_for_buckets(struct distributions *all, struct distribution *s, pfr_error *err) {
    const uint32_t bucket = distribution_bucket(s->high), had = s->room, room = (bucket + OCTAVE) & ~(OCTAVE - 1);
    const size_t size = s->big ? sizeof *s->big : sizeof *s->counts;
    void *const old = s->big ? (void *)s->big : (void *)s->counts;
    if (bucket < had)
        return PFR_OK;
    drop_recent(all, s);
    void *at = distribution_table_take(&all->tables, room, size, true);
    if (!at)
        return mem_fail(all->memory, err, "latencies");
    if (old)
        memcpy(at, old, had * size);
    distribution_table_give(&all->tables, old, had, size);
    if (s->big)
        s->big = at;
    else
        s->counts = at;
    s->room = room;
    return PFR_OK;
}

/* Changes to 64-bit counts, because the count of a bucket might exceed 32 bits. */
static pfr_status make_big(struct distributions *all, struct distribution *s, pfr_error *err) {
    const uint32_t room = s->room;
    uint64_t *big = distribution_table_take(&all->tables, room, sizeof *big, false);
    if (!big)
        return mem_fail(all->memory, err, "latencies");
    for (uint32_t i = 0; i < room; i++)
        big[i] = distribution_count_of(s, i);
    free_arrays(all, s);
    s->big = big;
    s->room = room;
    s->nr_recent = 0;
    return PFR_OK;
}

/* Makes room for `more` values; s->low and s->high already include them. */
static pfr_status make_room(struct distributions *all, struct distribution *s, uint64_t more, pfr_error *err) {
    if (distribution_is_exact(s))
        return room_for_values(all, s, (uint32_t)more, err);
    if (!s->big && s->count + more > UINT32_MAX)
        PFR_TRY(make_big(all, s, err));
    return room_for_buckets(all, s, err);
}

/* --- Counting. */

static void count_value(struct distribution *s, uint64_t value) {
    if (s->big)
        s->big[distribution_bucket(value)]++;
    else
        s->counts[distribution_bucket(value)]++;
}

#define AT_ONCE 128u

/* Counts at most AT_ONCE values. All counters are prefetched first, because they are mostly not in the cache. */
static void count_some(uint16_t *counts, const uint32_t *values, uint32_t count) {
    uint32_t bucket[AT_ONCE];
    for (uint32_t i = 0; i < count; i += 4) {
        distribution_four_buckets(values + i, bucket + i);
        for (uint32_t k = i; k < i + 4; k++)
            __builtin_prefetch(&counts[bucket[k]], 1);
    }
    for (uint32_t i = 0; i < count; i++)
        counts[bucket[i]]++;
}

/* Counts values in groups of four. Returns the number of values counted; up to three values remain. */
static uint32_t count_fours(struct distribution *s, const struct distribution_many *many) {
    const uint32_t count = many->count & ~3u;
    for (uint32_t i = 0; i < count; i += AT_ONCE)
        count_some(s->recent, many->values + i, count - i < AT_ONCE ? count - i : AT_ONCE);
    s->nr_recent += count;
    return count;
}

static pfr_status count_many(struct distributions *all, struct distribution *s, const struct distribution_many *many,
                             pfr_error *err) {
    const bool fits = many->count <= UINT16_MAX && many->high <= INT32_MAX;
    if (fits)
        PFR_TRY(room_for_recent(all, s, many->count, err));
    for (uint32_t i = fits ? count_fours(s, many) : 0; i < many->count; i++)
        count_value(s, many->values[i]);
    return PFR_OK;
}

static pfr_status count_values(struct distributions *all, struct distribution *to, const struct distribution *s,
                               pfr_error *err) {
    if (!s->tops)
        return count_many(
            all, to, &(struct distribution_many){s->values, (uint32_t)s->count, (uint32_t)s->low, (uint32_t)s->high},
            err);
    for (uint64_t i = 0; i < s->count; i++)
        count_value(to, distribution_value(s, i));
    return PFR_OK;
}

static pfr_status make_sketch(struct distributions *all, struct distribution *s, pfr_error *err) {
    struct distribution to = {.high = s->high};
    pfr_status st = room_for_buckets(all, &to, err);
    if (st >= 0)
        st = count_values(all, &to, s, err);
    if (st < 0) {
        free_arrays(all, &to);
        return st;
    }
    free_arrays(all, s);
    s->counts = to.counts;
    s->recent = to.recent;
    s->nr_recent = to.nr_recent;
    s->room = to.room;
    return PFR_OK;
}

static uint64_t charge_of(const struct distributions *all, const struct distribution *s) {
    return s->count < all->most ? s->count : all->most;
}

static pfr_status keep_to_most(struct distributions *all, struct distribution *s, pfr_error *err) {
    return s->count > all->most && distribution_is_exact(s) ? make_sketch(all, s, err) : PFR_OK;
}

static pfr_status lower(struct distributions *all, uint32_t most, pfr_error *err) {
    all->most = most;
    all->charged = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        PFR_TRY(keep_to_most(all, &all->at[i], err));
        all->charged += charge_of(all, &all->at[i]);
    }
    return PFR_OK;
}

static uint32_t less(uint32_t most) {
    const uint32_t fewer = most - (most + 3) / 4;
    return fewer > SPREAD_LEAST ? fewer : SPREAD_LEAST;
}

/* Adds `more` to the number of values, and changes to a sketch or lowers the limit if required. */
static pfr_status add_count(struct distributions *all, struct distribution *s, uint64_t more, pfr_error *err) {
    all->charged -= charge_of(all, s);
    s->count += more;
    all->charged += charge_of(all, s);
    PFR_TRY(keep_to_most(all, s, err));
    while (all->charged > SPREADS_MOST && all->most > SPREAD_LEAST)
        PFR_TRY(lower(all, less(all->most), err));
    return PFR_OK;
}

/* --- Adding. */

static void note_ends(struct distribution *s, uint64_t low, uint64_t high) {
    s->low = low < s->low ? low : s->low;
    s->high = high > s->high ? high : s->high;
}

static void keep_value(const struct distribution *s, uint64_t i, uint64_t value) {
    s->values[i] = (uint32_t)value;
    if (s->tops)
        s->tops[i] = (uint32_t)(value >> 32);
}

pfr_status distributions_add(struct distributions *all, uint32_t number, uint64_t value, pfr_error *err) {
    struct distribution *s = &all->at[number];
    note_ends(s, value, value);
    PFR_TRY(make_room(all, s, 1, err));
    if (distribution_is_exact(s))
        keep_value(s, s->count, value);
    else
        count_value(s, value);
    return add_count(all, s, 1, err);
}

/* While the distribution is exact, the value is added once per loop step: at most SPREAD_MOST times. */
pfr_status distributions_add_times(struct distributions *all, uint32_t number, uint64_t value, uint64_t times,
                                   pfr_error *err) {
    struct distribution *s = &all->at[number];
    for (; times && distribution_is_exact(s); times--)
        PFR_TRY(distributions_add(all, number, value, err));
    if (times > UINT64_MAX - s->count)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "latencies", "there are more than 2^64 calls");
    if (!times)
        return PFR_OK;
    note_ends(s, value, value);
    PFR_TRY(make_room(all, s, times, err));
    if (s->big)
        s->big[distribution_bucket(value)] += times;
    else
        s->counts[distribution_bucket(value)] += (uint32_t)times;
    return add_count(all, s, times, err);
}

static void keep_many(const struct distribution *s, const struct distribution_many *many) {
    memcpy(s->values + s->count, many->values, many->count * sizeof *many->values);
    if (s->tops)
        memset(s->tops + s->count, 0, many->count * sizeof *s->tops);
}

pfr_status distributions_add_many(struct distributions *all, uint32_t number, const struct distribution_many *many,
                                  pfr_error *err) {
    struct distribution *s = &all->at[number];
    note_ends(s, many->low, many->high);
    PFR_TRY(make_room(all, s, many->count, err));
    if (distribution_is_exact(s))
        keep_many(s, many);
    else
        PFR_TRY(count_many(all, s, many, err));
    return add_count(all, s, many->count, err);
}

/* --- Merging. */

pfr_status distributions_merge_begin(struct distributions *all, const struct distributions *others, pfr_error *err) {
    return others->most < all->most ? lower(all, others->most, err) : PFR_OK;
}

static void take_buckets(struct distribution *s, const struct distribution *from) {
    const uint32_t begin = distribution_bucket(from->low) & ~(OCTAVE - 1), end = distribution_bucket(from->high) + 1;
    if (s->big || from->big) {
        for (uint32_t i = begin; i < end; i++)
            if (s->big)
                s->big[i] += distribution_count_of(from, i);
            else
                s->counts[i] += (uint32_t)distribution_count_of(from, i);
        return;
    }
    for (uint32_t i = begin; i < end; i += OCTAVE) {
        add_octave(s->counts + i, from->counts + i);
        if (from->recent)
            add_recent_octave(s->counts + i, from->recent + i);
    }
}

static void take_values(struct distribution *s, const struct distribution *from) {
    for (uint64_t i = 0; i < from->count; i++)
        if (distribution_is_exact(s))
            keep_value(s, s->count + i, distribution_value(from, i));
        else
            count_value(s, distribution_value(from, i));
}

static void take_distribution(struct distribution *s, const struct distribution *from) {
    if (distribution_is_exact(from))
        take_values(s, from);
    else
        take_buckets(s, from);
}

/* A sketch has more than `most` values; so if the other distribution is a sketch, the result is a sketch, too. */
pfr_status distributions_merge(struct distributions *all, uint32_t number, const struct distributions *others,
                               uint32_t other, pfr_error *err) {
    const struct distribution *from = &others->at[other];
    struct distribution *s = &all->at[number];
    if (from->count == 0)
        return PFR_OK;
    note_ends(s, from->low, from->high);
    if (!distribution_is_exact(from) && distribution_is_exact(s))
        PFR_TRY(make_sketch(all, s, err));
    PFR_TRY(make_room(all, s, from->count, err));
    take_distribution(s, from);
    return add_count(all, s, from->count, err);
}
