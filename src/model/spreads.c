/* SPDX-License-Identifier: Apache-2.0 */
/* Values as they come, and counts by bucket beyond that: see spreads.h. */
#include "model/spreads.h"

#include "base/fail.h"

#include <string.h>

#define FIRST_ROOM 8u
#define OCTAVE (1u << SPREAD_BITS) /* buckets that a sketch grows by */

void spreads_init(struct spreads *all, struct memory *memory) {
    *all = (struct spreads){.memory = memory, .most = SPREAD_MOST};
}

static void free_arrays(struct spreads *all, struct spread *s) {
    mem_free(all->memory, s->values, s->values ? s->room : 0, sizeof *s->values);
    mem_free(all->memory, s->counts, s->counts ? s->room : 0, sizeof *s->counts);
    mem_free(all->memory, s->big, s->big ? s->room : 0, sizeof *s->big);
    mem_free(all->memory, s->recent, s->recent ? s->room : 0, sizeof *s->recent);
    s->values = s->big = NULL;
    s->counts = NULL;
    s->recent = NULL;
    s->room = 0;
}

void spreads_free(struct spreads *all) {
    for (uint32_t i = 0; i < all->count; i++)
        free_arrays(all, &all->at[i]);
    mem_free(all->memory, all->at, all->capacity, sizeof *all->at);
    spreads_init(all, all->memory);
}

pfr_status spreads_new(struct spreads *all, pfr_error *err) {
    void *more = mem_grow(all->memory, all->at, all->count, &all->capacity, 64, sizeof *all->at);
    if (!more)
        return mem_fail(all->memory, err, "latencies");
    all->at = more;
    all->at[all->count++] = (struct spread){.low = UINT64_MAX};
    return PFR_OK;
}

uint64_t spread_middle(uint32_t bucket) {
    if (bucket >> (SPREAD_BITS + 1) == 0)
        return bucket;
    const unsigned shift = (bucket >> SPREAD_BITS) - 1;
    const uint64_t low = ((uint64_t)bucket - ((uint64_t)shift << SPREAD_BITS)) << shift;
    return low + (((uint64_t)1 << shift) - 1) / 2;
}

/* --- Room. */

/* For `more` values; an exact spread has few, so that sums stay small. */
static pfr_status room_for_values(struct spreads *all, struct spread *s, uint32_t more, pfr_error *err) {
    uint32_t room = s->room ? s->room : FIRST_ROOM;
    while (room < s->count + more)
        room += room / 2;
    if (room == s->room)
        return PFR_OK;
    uint64_t *values = mem_resize(all->memory, s->values, s->room, room, sizeof *values);
    if (!values)
        return mem_fail(all->memory, err, "latencies");
    s->values = values;
    s->room = room;
    return PFR_OK;
}

static uint64_t count_of(const struct spread *s, uint32_t bucket) {
    return (s->big ? s->big[bucket] : s->counts[bucket]) + (s->recent ? s->recent[bucket] : 0u);
}

/* Recent counts become counts. */
static void settle(struct spread *s) {
    for (uint32_t i = 0; s->recent && i < s->room; i++)
        if (s->big)
            s->big[i] += s->recent[i];
        else
            s->counts[i] += s->recent[i];
    if (s->recent)
        memset(s->recent, 0, s->room * sizeof *s->recent);
    s->nr_recent = 0;
}

static void drop_recent(struct spreads *all, struct spread *s) {
    settle(s);
    mem_free(all->memory, s->recent, s->recent ? s->room : 0, sizeof *s->recent);
    s->recent = NULL;
}

/* For so many. */
static pfr_status room_for_recent(struct spreads *all, struct spread *s, uint32_t more, pfr_error *err) {
    if (more > UINT16_MAX - s->nr_recent)
        settle(s);
    if (!s->recent)
        s->recent = mem_zeroed(all->memory, s->room, sizeof *s->recent);
    return s->recent ? PFR_OK : mem_fail(all->memory, err, "latencies");
}

/* Up to the greatest value's bucket. */
static pfr_status room_for_buckets(struct spreads *all, struct spread *s, pfr_error *err) {
    const uint32_t bucket = spread_bucket(s->high), room = (bucket + OCTAVE) & ~(OCTAVE - 1);
    const size_t size = s->big ? sizeof *s->big : sizeof *s->counts;
    if (bucket < s->room)
        return PFR_OK;
    drop_recent(all, s);
    char *at = mem_resize(all->memory, s->big ? (void *)s->big : (void *)s->counts, s->room, room, size);
    if (!at)
        return mem_fail(all->memory, err, "latencies");
    memset(at + s->room * size, 0, (room - s->room) * size);
    if (s->big)
        s->big = (uint64_t *)(void *)at;
    else
        s->counts = (uint32_t *)(void *)at;
    s->room = room;
    return PFR_OK;
}

/* One bucket might get more than a small count can say. */
static pfr_status make_big(struct spreads *all, struct spread *s, pfr_error *err) {
    const uint32_t room = s->room;
    uint64_t *big = mem_alloc(all->memory, room, sizeof *big);
    if (!big)
        return mem_fail(all->memory, err, "latencies");
    for (uint32_t i = 0; i < room; i++)
        big[i] = count_of(s, i);
    free_arrays(all, s);
    s->big = big;
    s->room = room;
    s->nr_recent = 0;
    return PFR_OK;
}

/* For `more` values, of which s->low and s->high are known. */
static pfr_status make_room(struct spreads *all, struct spread *s, uint64_t more, pfr_error *err) {
    if (spread_is_exact(s))
        return room_for_values(all, s, (uint32_t)more, err);
    if (!s->big && s->count + more > UINT32_MAX)
        PFR_TRY(make_big(all, s, err));
    return room_for_buckets(all, s, err);
}

/* --- What is in it. */

static void count_value(struct spread *s, uint64_t value) {
    if (s->big)
        s->big[spread_bucket(value)]++;
    else
        s->counts[spread_bucket(value)]++;
}

static pfr_status make_sketch(struct spreads *all, struct spread *s, pfr_error *err) {
    struct spread to = {.high = s->high};
    PFR_TRY(room_for_buckets(all, &to, err));
    for (uint64_t i = 0; i < s->count; i++)
        to.counts[spread_bucket(s->values[i])]++;
    free_arrays(all, s);
    s->counts = to.counts;
    s->room = to.room;
    return PFR_OK;
}

static uint64_t charge_of(const struct spreads *all, const struct spread *s) {
    return s->count < all->most ? s->count : all->most;
}

static pfr_status keep_to_most(struct spreads *all, struct spread *s, pfr_error *err) {
    return s->count > all->most && spread_is_exact(s) ? make_sketch(all, s, err) : PFR_OK;
}

static pfr_status lower(struct spreads *all, uint32_t most, pfr_error *err) {
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

/* So many more are in it. */
static pfr_status add_count(struct spreads *all, struct spread *s, uint64_t more, pfr_error *err) {
    all->charged -= charge_of(all, s);
    s->count += more;
    all->charged += charge_of(all, s);
    PFR_TRY(keep_to_most(all, s, err));
    while (all->charged > SPREADS_MOST && all->most > SPREAD_LEAST)
        PFR_TRY(lower(all, less(all->most), err));
    return PFR_OK;
}

/* --- Adding. */

static void note_ends(struct spread *s, uint64_t low, uint64_t high) {
    s->low = low < s->low ? low : s->low;
    s->high = high > s->high ? high : s->high;
}

pfr_status spreads_add(struct spreads *all, uint32_t number, uint64_t value, pfr_error *err) {
    struct spread *s = &all->at[number];
    note_ends(s, value, value);
    PFR_TRY(make_room(all, s, 1, err));
    if (spread_is_exact(s))
        s->values[s->count] = value;
    else
        count_value(s, value);
    return add_count(all, s, 1, err);
}

#define AT_ONCE 128u

/* Up to so many: where they are counted is asked for before they are, since that is mostly not at hand. */
static void count_some(uint16_t *counts, const uint32_t *values, uint32_t count) {
    uint32_t bucket[AT_ONCE];
    for (uint32_t i = 0; i < count; i += 4) {
        spread_four_buckets(values + i, bucket + i);
        for (uint32_t k = i; k < i + 4; k++)
            __builtin_prefetch(&counts[bucket[k]], 1);
    }
    for (uint32_t i = 0; i < count; i++)
        counts[bucket[i]]++;
}

/* All but up to three that are left. */
static uint32_t count_fours(struct spread *s, const struct spread_many *many) {
    const uint32_t count = many->count & ~3u;
    for (uint32_t i = 0; i < count; i += AT_ONCE)
        count_some(s->recent, many->values + i, count - i < AT_ONCE ? count - i : AT_ONCE);
    s->nr_recent += count;
    return count;
}

static pfr_status count_many(struct spreads *all, struct spread *s, const struct spread_many *many, pfr_error *err) {
    const bool fits = many->count <= UINT16_MAX && many->high <= INT32_MAX;
    if (fits)
        PFR_TRY(room_for_recent(all, s, many->count, err));
    for (uint32_t i = fits ? count_fours(s, many) : 0; i < many->count; i++)
        count_value(s, many->values[i]);
    return PFR_OK;
}

static void keep_many(const struct spread *s, const struct spread_many *many) {
    for (uint32_t i = 0; i < many->count; i++)
        s->values[s->count + i] = many->values[i];
}

pfr_status spreads_add_many(struct spreads *all, uint32_t number, const struct spread_many *many, pfr_error *err) {
    struct spread *s = &all->at[number];
    note_ends(s, many->low, many->high);
    PFR_TRY(make_room(all, s, many->count, err));
    if (spread_is_exact(s))
        keep_many(s, many);
    else
        PFR_TRY(count_many(all, s, many, err));
    return add_count(all, s, many->count, err);
}

/* --- Merging. */

pfr_status spreads_merge_begin(struct spreads *all, const struct spreads *others, pfr_error *err) {
    return others->most < all->most ? lower(all, others->most, err) : PFR_OK;
}

static void take_buckets(struct spread *s, const struct spread *from) {
    for (uint32_t i = 0; i < from->room; i++) {
        const uint64_t count = count_of(from, i);
        if (count && s->big)
            s->big[i] += count;
        else if (count)
            s->counts[i] += (uint32_t)count;
    }
}

static void take_spread(struct spread *s, const struct spread *from) {
    if (!spread_is_exact(from)) {
        take_buckets(s, from);
        return;
    }
    for (uint64_t i = 0; i < from->count && !spread_is_exact(s); i++)
        count_value(s, from->values[i]);
    if (spread_is_exact(s))
        memcpy(s->values + s->count, from->values, from->count * sizeof *from->values);
}

/* A sketch has more than `most` values, with whatever it is merged. */
pfr_status spreads_merge(struct spreads *all, uint32_t number, const struct spreads *others, uint32_t other,
                         pfr_error *err) {
    const struct spread *from = &others->at[other];
    struct spread *s = &all->at[number];
    if (from->count == 0)
        return PFR_OK;
    note_ends(s, from->low, from->high);
    if (!spread_is_exact(from) && spread_is_exact(s))
        PFR_TRY(make_sketch(all, s, err));
    PFR_TRY(make_room(all, s, from->count, err));
    take_spread(s, from);
    return add_count(all, s, from->count, err);
}

/* --- Values in their order. */

#define DIGIT 8u
#define DIGITS (1u << DIGIT)

/* By one digit, in the order in which they are where that is equal. */
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

/* Where they are in order then, of two places for all of them. */
static const uint64_t *sort(const struct spread *s, uint64_t *places) {
    uint64_t *from = places, *to = places + s->count;
    memcpy(from, s->values, s->count * sizeof *from);
    for (unsigned shift = 0; shift < 64 && s->high >> shift; shift += DIGIT) {
        sort_by_digit(from, to, s->count, shift);
        uint64_t *const swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static void add_to_list(struct spread_list *list, uint64_t what, uint64_t count) {
    struct spread_slot *last = list->count ? &list->at[list->count - 1] : NULL;
    list->total += count;
    if (last && last->what == what)
        last->count += count;
    else
        list->at[list->count++] = (struct spread_slot){what, count};
}

static pfr_status list_values(const struct spreads *all, const struct spread *s, struct spread_list *list,
                              pfr_error *err) {
    uint64_t *places = mem_alloc(all->memory, s->count * 2, sizeof *places);
    if (!places)
        return mem_fail(all->memory, err, "latencies");
    const uint64_t *sorted = sort(s, places);
    for (uint64_t i = 0; i < s->count; i++)
        add_to_list(list, sorted[i], 1);
    mem_free(all->memory, places, s->count * 2, sizeof *places);
    return PFR_OK;
}

/* The middle of the lowest or highest bucket may lie outside of what was met. */
static uint64_t value_of(const struct spread *s, uint32_t bucket) {
    const uint64_t middle = spread_middle(bucket);
    return middle < s->low ? s->low : middle > s->high ? s->high : middle;
}

static void list_buckets(const struct spread *s, struct spread_list *list) {
    for (uint32_t i = 0; i < s->room; i++)
        if (count_of(s, i) != 0)
            add_to_list(list, value_of(s, i), count_of(s, i));
}

pfr_status spread_list(const struct spreads *all, uint32_t number, struct spread_list *list, pfr_error *err) {
    const struct spread *s = &all->at[number];
    const size_t room = spread_is_exact(s) ? (size_t)s->count : s->room;
    *list = (struct spread_list){0};
    if (s->count == 0)
        return PFR_OK;
    list->at = mem_alloc(all->memory, room, sizeof *list->at);
    if (!list->at)
        return mem_fail(all->memory, err, "latencies");
    list->room = room;
    const pfr_status st = spread_is_exact(s) ? list_values(all, s, list, err) : PFR_OK;
    if (st < 0)
        spread_list_free(all, list);
    else if (!spread_is_exact(s))
        list_buckets(s, list);
    return st;
}

void spread_list_free(const struct spreads *all, struct spread_list *list) {
    mem_free(all->memory, list->at, list->room, sizeof *list->at);
    *list = (struct spread_list){0};
}

uint64_t spread_rank(const struct spread_list *list, unsigned thousandths) {
    const unsigned __int128 product = (unsigned __int128)list->total * thousandths;
    uint64_t left = (uint64_t)((product + 999) / 1000);
    left = left ? left : 1;
    for (uint32_t i = 0; i < list->count; i++) {
        if (left <= list->at[i].count)
            return list->at[i].what;
        left -= list->at[i].count;
    }
    return 0;
}
