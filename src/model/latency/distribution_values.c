/* SPDX-License-Identifier: Apache-2.0 */
/* The sorted values of a distribution, and its percentiles: see distributions.h. */
#include "model/latency/distributions.h"

#include "base/memory/fail.h"

#define DIGIT 8u
#define DIGITS (1u << DIGIT)

/* Sorts by one digit; the sort is stable. */
static void sort_by_digit(const uint64_t *from, uint64_t *to, uint64_t count, unsigned shift) {
    uint32_t place[DIGITS] = {0}, next = 0;
    for (uint64_t i = 0; i < count; i++)
        place[from[i] >> shift & (DIGITS - 1)]++;
    for (unsigned d = 0; d < DIGITS; d++) {
        const uint32_t here = place[d];
        place[d] = next;
        next += here;
    }
    for (uint64_t i = 0; i < count; i++)
        to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

/* Radix sort. `places` has room for two copies of the values; returns the one that is sorted. */
static const uint64_t *sort(const struct distribution *s, uint64_t *places) {
    uint64_t *from = places, *to = places + s->count;
    for (uint64_t i = 0; i < s->count; i++)
        from[i] = distribution_value(s, i);
    for (unsigned shift = 0; shift < 64 && s->high >> shift; shift += DIGIT) {
        sort_by_digit(from, to, s->count, shift);
        uint64_t *const swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static void add_to_list(struct distribution_list *list, uint64_t what, uint64_t count) {
    struct distribution_slot *last = list->count ? &list->at[list->count - 1] : NULL;
    list->total += count;
    if (last && last->what == what)
        last->count += count;
    else
        list->at[list->count++] = (struct distribution_slot){what, count};
}

static pfr_status list_values(const struct distributions *all, const struct distribution *s,
                              struct distribution_list *list, pfr_error *err) {
    uint64_t *places = mem_alloc(all->memory, s->count * 2, sizeof *places);
    if (!places)
        return mem_fail(all->memory, err, "latencies");
    const uint64_t *sorted = sort(s, places);
    for (uint64_t i = 0; i < s->count; i++)
        add_to_list(list, sorted[i], 1);
    mem_free(all->memory, places, s->count * 2, sizeof *places);
    return PFR_OK;
}

/* The middle of the lowest or highest bucket may be less than `low` or greater than `high`: it is clamped. */
static uint64_t value_of(const struct distribution *s, uint32_t bucket) {
    const uint64_t middle = distribution_middle(bucket);
    return middle < s->low ? s->low : middle > s->high ? s->high : middle;
}

static void list_buckets(const struct distribution *s, struct distribution_list *list) {
    for (uint32_t i = 0; i < s->room; i++)
        if (distribution_count_of(s, i) != 0)
            add_to_list(list, value_of(s, i), distribution_count_of(s, i));
}

pfr_status distribution_list(const struct distributions *all, uint32_t number, struct distribution_list *list,
                             pfr_error *err) {
    const struct distribution *s = &all->at[number];
    const size_t room = distribution_is_exact(s) ? (size_t)s->count : s->room;
    *list = (struct distribution_list){0};
    if (s->count == 0)
        return PFR_OK;
    list->at = mem_alloc(all->memory, room, sizeof *list->at);
    if (!list->at)
        return mem_fail(all->memory, err, "latencies");
    list->room = room;
    const pfr_status st = distribution_is_exact(s) ? list_values(all, s, list, err) : PFR_OK;
    if (st < 0)
        distribution_list_free(all, list);
    else if (!distribution_is_exact(s))
        list_buckets(s, list);
    return st;
}

void distribution_list_free(const struct distributions *all, struct distribution_list *list) {
    mem_free(all->memory, list->at, list->room, sizeof *list->at);
    *list = (struct distribution_list){0};
}

/* The nearest rank of a percentile, from 1. */
static uint64_t rank_of(uint64_t total, unsigned thousandths) {
    const unsigned __int128 product = (unsigned __int128)total * thousandths;
    const uint64_t rank = (uint64_t)((product + 999) / 1000);
    return rank ? rank : 1;
}

uint64_t distribution_rank(const struct distribution_list *list, unsigned thousandths) {
    uint64_t left = rank_of(list->total, thousandths);
    for (uint32_t i = 0; i < list->count; i++) {
        if (left <= list->at[i].count)
            return list->at[i].what;
        left -= list->at[i].count;
    }
    return 0;
}

/* --- Ranks of a sketch: the search steps over whole octaves. */

static uint64_t count_big(const uint64_t *counts) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < SPREAD_OCTAVE; i++)
        sum += counts[i];
    return sum;
}

/* Small counts add up to less than 2^32. */
static uint32_t count_small(const uint32_t *counts) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < SPREAD_OCTAVE; i++)
        sum += counts[i];
    return sum;
}

static uint32_t count_recent(const uint16_t *counts) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < SPREAD_OCTAVE; i++)
        sum += counts[i];
    return sum;
}

static uint64_t count_octave(const struct distribution *s, uint32_t begin) {
    return (s->big ? count_big(s->big + begin) : count_small(s->counts + begin)) +
           (s->recent ? count_recent(s->recent + begin) : 0);
}

static void rank_buckets(const struct distribution *s, const unsigned *thousandths, unsigned count, uint64_t *values) {
    uint64_t before = 0, inside = 0; /* number of values below the current octave, and in it */
    uint32_t octave = distribution_bucket(s->low) & ~(SPREAD_OCTAVE - 1);
    inside = count_octave(s, octave);
    for (unsigned i = 0; i < count; i++) {
        const uint64_t rank = rank_of(s->count, thousandths[i]);
        while (before + inside < rank) {
            before += inside;
            octave += SPREAD_OCTAVE;
            inside = count_octave(s, octave);
        }
        uint64_t left = rank - before;
        uint32_t bucket = octave;
        for (; left > distribution_count_of(s, bucket); bucket++)
            left -= distribution_count_of(s, bucket);
        values[i] = value_of(s, bucket);
    }
}

pfr_status distribution_ranks(const struct distributions *all, uint32_t number, const unsigned *thousandths,
                              unsigned count, uint64_t *values, pfr_error *err) {
    const struct distribution *s = &all->at[number];
    struct distribution_list list;
    if (!distribution_is_exact(s)) {
        rank_buckets(s, thousandths, count, values);
        return PFR_OK;
    }
    PFR_TRY(distribution_list(all, number, &list, err));
    for (unsigned i = 0; i < count; i++)
        values[i] = distribution_rank(&list, thousandths[i]);
    distribution_list_free(all, &list);
    return PFR_OK;
}
