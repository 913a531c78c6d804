/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of what was counted: by number, or slots with open addressing, three quarters full at most. See spreads.h.
 */
#include "model/spreads.h"

#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM (1u << SPREAD_ROW)
#define SKETCH 63u /* of `coarse` */

/* The same in all that are merged, so that their tables are alike. */
void spreads_init(struct spreads *all, struct memory *memory) {
    *all = (struct spreads){.memory = memory, .most = SPREAD_MOST, .seed = (uint64_t)(uintptr_t)spreads_init};
}

static void free_table(struct spreads *all, struct spread *s) {
    mem_free(all->memory, s->dense, s->dense ? s->room : 0, sizeof *s->dense);
    mem_free(all->memory, s->small, s->small ? s->room : 0, sizeof *s->small);
    mem_free(all->memory, s->wide, s->wide ? s->room : 0, sizeof *s->wide);
    s->dense = NULL;
    s->small = NULL;
    s->wide = NULL;
    s->room = s->used = s->limit = 0;
}

void spreads_free(struct spreads *all) {
    for (uint32_t i = 0; i < all->count; i++)
        free_table(all, &all->at[i]);
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

uint64_t spread_middle(uint64_t bucket) {
    if (bucket >> (SPREAD_BITS + 1) == 0)
        return bucket;
    const unsigned shift = (unsigned)(bucket >> SPREAD_BITS) - 1;
    const uint64_t low = (bucket - ((uint64_t)shift << SPREAD_BITS)) << shift;
    return low + (((uint64_t)1 << shift) - 1) / 2;
}

/* --- Tables. */

static struct spread_slot slot_at(const struct spread *s, uint32_t i) {
    if (s->dense)
        return (struct spread_slot){i, s->dense[i]};
    return s->wide ? s->wide[i] : (struct spread_slot){s->small[i].what, s->small[i].count};
}

static void set_slot(struct spread *s, uint32_t i, const struct spread_slot *slot) {
    if (s->dense)
        s->dense[i] = (uint32_t)slot->count;
    else if (s->wide)
        s->wide[i] = *slot;
    else
        s->small[i] = (struct spread_small){(uint32_t)slot->what, (uint32_t)slot->count};
}

/* The slot that it has or would have. */
static uint32_t find(const struct spreads *all, const struct spread *s, uint64_t what) {
    if (s->dense)
        return (uint32_t)what;
    for (uint32_t i = spread_first(all, s, what);; i = (i + 1) & (s->room - 1)) {
        const struct spread_slot slot = slot_at(s, i);
        if (slot.count == 0 || slot.what == what)
            return i;
    }
}

/* false: it is not there, its count is 0. */
static bool has(const struct spreads *all, const struct spread *s, uint64_t what, struct spread_slot *slot) {
    *slot = (struct spread_slot){what, 0};
    if (s->room && !(s->dense && what >= s->room))
        slot->count = slot_at(s, find(all, s, what)).count;
    return slot->count > 0;
}

/* How many may be in an exact table of small slots before more is to be thought of. */
static void set_limit(const struct spreads *all, struct spread *s) {
    const uint32_t most = s->room / 4 * 3;
    s->limit = s->small && spread_is_exact(s) ? (most < all->most ? most : all->most) : 0;
}

/* What a table must be for. */
struct shape {
    uint64_t greatest; /* what */
    uint32_t slots;
    bool wide; /* counts of 64 bits */
};

static void *make_dense(struct spreads *all, struct spread *to, const struct shape *shape) {
    to->room = (uint32_t)((shape->greatest + 16) & ~(uint64_t)15);
    return to->dense = mem_zeroed(all->memory, to->room, sizeof *to->dense);
}

static void *make_slots(struct spreads *all, struct spread *to, const struct shape *shape) {
    to->room = shape->slots;
    if (shape->wide || shape->greatest > UINT32_MAX)
        return to->wide = mem_zeroed(all->memory, to->room, sizeof *to->wide);
    return to->small = mem_zeroed(all->memory, to->room, sizeof *to->small);
}

static pfr_status make_table(struct spreads *all, struct spread *to, const struct shape *shape, pfr_error *err) {
    const bool is_dense = !shape->wide && shape->greatest / 2 < shape->slots;
    to->dense = NULL;
    to->small = NULL;
    to->wide = NULL;
    if (!(is_dense ? make_dense(all, to, shape) : make_slots(all, to, shape))) {
        to->room = 0;
        return mem_fail(all->memory, err, "latencies");
    }
    set_limit(all, to);
    return PFR_OK;
}

/* All that is in the table goes into another one. */
static pfr_status reshape(struct spreads *all, struct spread *s, const struct shape *shape, pfr_error *err) {
    struct spread to = *s;
    PFR_TRY(make_table(all, &to, shape, err));
    for (uint32_t i = 0; i < s->room; i++) {
        const struct spread_slot slot = slot_at(s, i);
        if (slot.count)
            set_slot(&to, find(all, &to, slot.what), &slot);
    }
    free_table(all, s);
    *s = to;
    return PFR_OK;
}

static uint32_t slots_for(uint32_t used) {
    uint32_t slots = FIRST_ROOM;
    while (used > slots / 4 * 3)
        slots *= 2;
    return slots;
}

static pfr_status make_room(struct spreads *all, struct spread *s, const struct spread_slot *slot, uint32_t used,
                            pfr_error *err) {
    const uint64_t high = spread_what(s->high, s->coarse);
    const struct shape shape = {slot->what > high ? slot->what : high, slots_for(used),
                                s->wide || slot->count > UINT32_MAX};
    return reshape(all, s, &shape, err);
}

/* What the spread has and this, whose count is all of it. */
static pfr_status put(struct spreads *all, struct spread *s, const struct spread_slot *slot, bool is_new,
                      pfr_error *err) {
    const uint32_t used = s->used + is_new;
    const bool has_room = s->dense ? slot->what < s->room : used <= s->room / 4 * 3;
    const bool fits = s->wide || (slot->count <= UINT32_MAX && (s->dense || slot->what <= UINT32_MAX));
    if (!has_room || !fits)
        PFR_TRY(make_room(all, s, slot, used, err));
    set_slot(s, find(all, s, slot->what), slot);
    s->used = used;
    return PFR_OK;
}

/* --- Sketches. */

/* Adds to a count that has room for it. */
static bool add_in_place(struct spread *to, uint64_t what, uint64_t count) {
    if (!to->dense || what >= to->room || count > UINT32_MAX - to->dense[what])
        return false;
    to->used += to->dense[what] == 0;
    to->dense[what] += (uint32_t)count;
    return true;
}

static pfr_status fill_sketch(struct spreads *all, struct spread *to, const struct spread *s, pfr_error *err) {
    for (uint32_t i = 0; i < s->room; i++) {
        const struct spread_slot slot = slot_at(s, i);
        struct spread_slot sum;
        if (slot.count == 0 || add_in_place(to, spread_what(slot.what, SKETCH), slot.count))
            continue;
        const bool is_known = has(all, to, spread_what(slot.what, SKETCH), &sum);
        sum.count += slot.count;
        PFR_TRY(put(all, to, &sum, !is_known, err));
    }
    return PFR_OK;
}

/* What the spread holds so far goes into its buckets. */
static pfr_status make_sketch(struct spreads *all, struct spread *s, pfr_error *err) {
    struct spread to = {.coarse = SKETCH, .low = s->low, .high = s->high};
    const struct shape shape = {spread_what(s->high, SKETCH), slots_for(s->used), false};
    if (!spread_is_exact(s))
        return PFR_OK;
    pfr_status st = make_table(all, &to, &shape, err);
    if (st >= 0)
        st = fill_sketch(all, &to, s, err);
    if (st < 0) {
        free_table(all, &to);
        return st;
    }
    free_table(all, s);
    *s = to;
    return PFR_OK;
}

/* --- How many values are kept exactly. */

static pfr_status lower(struct spreads *all, uint32_t most, pfr_error *err) {
    uint64_t charged = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        struct spread *s = &all->at[i];
        if (s->used > most)
            PFR_TRY(make_sketch(all, s, err));
        charged += spread_is_exact(s) ? s->used : most;
    }
    all->most = most;
    for (uint32_t i = 0; i < all->count; i++)
        set_limit(all, &all->at[i]);
    all->charged = charged;
    return PFR_OK;
}

static pfr_status charge(struct spreads *all, uint64_t values, pfr_error *err) {
    all->charged += values;
    while (all->charged > SPREADS_MOST)
        PFR_TRY(lower(all, all->most - (all->most + 3) / 4, err));
    return PFR_OK;
}

/* A spread that becomes a sketch counts as `most` values from then on. */
static pfr_status leave_exactness(struct spreads *all, struct spread *s, pfr_error *err) {
    const uint32_t had = s->used;
    if (!spread_is_exact(s))
        return PFR_OK;
    PFR_TRY(make_sketch(all, s, err));
    return charge(all, all->most > had ? all->most - had : 0, err);
}

/* --- Values. */

pfr_status spreads_add_slowly(struct spreads *all, uint32_t number, uint64_t value, uint64_t count, pfr_error *err) {
    struct spread *s = &all->at[number];
    struct spread_slot slot;
    bool is_known = has(all, s, spread_what(value, s->coarse), &slot);
    if (!is_known && spread_is_exact(s) && s->used >= all->most) {
        PFR_TRY(leave_exactness(all, s, err));
        is_known = has(all, s, spread_what(value, s->coarse), &slot);
    }
    slot.count += count;
    PFR_TRY(put(all, s, &slot, !is_known, err));
    return !is_known && spread_is_exact(s) ? charge(all, 1, err) : PFR_OK;
}

/* How many of them a dense table takes as they are; new ones only where nothing is charged for them. */
static uint32_t add_dense(struct spread *s, const uint32_t *values, uint32_t count) {
    uint32_t i = 0, met = 0, *const dense = s->dense;
    const uint32_t room = s->dense ? s->room : 0, coarse = s->coarse;
    uint64_t low = s->low, high = s->high;
    for (; i < count; i++) {
        const uint64_t value = values[i], what = spread_what(value, coarse);
        if (what >= room || (!spread_may_grow(dense[what]) && (dense[what] || !coarse)))
            break;
        met += dense[what]++ == 0;
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    s->used += met;
    s->low = low;
    s->high = high;
    return i;
}

/* Slots lie far apart: they are asked for at once, and looked at when they are there. (As a function of its own this is
 * nothing to gcc.) */
static inline __attribute__((always_inline)) void fetch_slots(const struct spreads *all, const struct spread *s,
                                                              const uint32_t *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(&s->small[spread_first(all, s, spread_what(values[i], s->coarse))], 1);
}

pfr_status spreads_add_many(struct spreads *all, uint32_t number, const uint32_t *values, uint32_t count,
                            pfr_error *err) {
    if (all->at[number].small)
        fetch_slots(all, &all->at[number], values, count);
    for (uint32_t i = 0; i < count; i++) {
        i += add_dense(&all->at[number], values + i, count - i);
        if (i < count)
            PFR_TRY(spreads_add(all, number, values[i], err));
    }
    return PFR_OK;
}

/* --- Merging. */

pfr_status spreads_merge_begin(struct spreads *all, const struct spreads *others, pfr_error *err) {
    return others->most < all->most ? lower(all, others->most, err) : PFR_OK;
}

/* The first one that comes is as it is. */
static pfr_status take_table(struct spreads *all, struct spread *s, const struct spread *from, pfr_error *err) {
    const size_t size = from->dense ? sizeof *from->dense : from->small ? sizeof *from->small : sizeof *from->wide;
    void *const copy = mem_alloc(all->memory, from->room, size);
    if (!copy)
        return mem_fail(all->memory, err, "latencies");
    free_table(all, s);
    memcpy(copy,
           from->dense   ? (void *)from->dense
           : from->small ? (void *)from->small
                         : (void *)from->wide,
           from->room * size);
    s->dense = from->dense ? copy : NULL;
    s->small = from->small ? copy : NULL;
    s->wide = from->wide ? copy : NULL;
    s->room = from->room;
    s->used = from->used;
    set_limit(all, s);
    return spread_is_exact(s) ? charge(all, s->used, err) : PFR_OK;
}

static pfr_status add_table(struct spreads *all, uint32_t number, const struct spread *from, pfr_error *err) {
    for (uint32_t i = 0; i < from->room; i++) {
        const struct spread_slot slot = slot_at(from, i);
        const uint64_t value = spread_is_exact(from) ? slot.what : spread_middle(slot.what);
        if (slot.count)
            PFR_TRY(spreads_add_slowly(all, number, value, slot.count, err));
    }
    return PFR_OK;
}

pfr_status spreads_merge(struct spreads *all, uint32_t number, const struct spreads *others, uint32_t other,
                         pfr_error *err) {
    const struct spread *from = &others->at[other];
    struct spread *s = &all->at[number];
    s->low = from->low < s->low ? from->low : s->low;
    s->high = from->high > s->high ? from->high : s->high;
    if (!spread_is_exact(from))
        PFR_TRY(leave_exactness(all, s, err));
    const bool is_alike = s->coarse == from->coarse && all->seed == others->seed;
    if (s->used == 0 && from->used > 0 && is_alike && (!spread_is_exact(from) || from->used <= all->most))
        return take_table(all, s, from, err);
    return add_table(all, number, from, err);
}

/* --- Percentiles. */

#define DIGIT 8u
#define FEW 48u

static int by_value(const void *a, const void *b) {
    const struct spread_slot *p = a, *q = b;
    return p->what < q->what ? -1 : p->what > q->what;
}

/* By one digit of what they are, in the order in which they are where that is equal. */
static void sort_by_digit(const struct spread_slot *from, struct spread_slot *to, uint32_t count, unsigned shift) {
    uint32_t place[1u << DIGIT] = {0}, next = 0;
    for (uint32_t i = 0; i < count; i++)
        place[from[i].what >> shift & ((1u << DIGIT) - 1)]++;
    for (unsigned d = 0; d < 1u << DIGIT; d++) {
        const uint32_t here = place[d];
        place[d] = next;
        next += here;
    }
    for (uint32_t i = 0; i < count; i++)
        to[place[from[i].what >> shift & ((1u << DIGIT) - 1)]++] = from[i];
}

/* The list has room for twice as many. */
static void sort(struct spread_list *list, uint64_t greatest) {
    struct spread_slot *from = list->at, *to = list->at + list->count;
    if (list->count <= FEW) {
        qsort(from, list->count, sizeof *from, by_value);
        return;
    }
    for (unsigned shift = 0; shift < 64 && greatest >> shift; shift += DIGIT) {
        sort_by_digit(from, to, list->count, shift);
        struct spread_slot *swap = from;
        from = to;
        to = swap;
    }
    if (from != list->at)
        memcpy(list->at, from, list->count * sizeof *from);
}

/* The middle of the lowest or highest bucket may lie outside of what was met. */
static uint64_t value_of(const struct spread *s, uint64_t bucket) {
    const uint64_t middle = spread_middle(bucket);
    return middle < s->low ? s->low : middle > s->high ? s->high : middle;
}

pfr_status spread_list(const struct spreads *all, uint32_t number, struct spread_list *list, pfr_error *err) {
    const struct spread *s = &all->at[number];
    *list = (struct spread_list){0};
    if (s->used == 0)
        return PFR_OK;
    list->at = mem_alloc(all->memory, (size_t)s->used * 2, sizeof *list->at);
    if (!list->at)
        return mem_fail(all->memory, err, "latencies");
    list->room = (size_t)s->used * 2;
    for (uint32_t i = 0; i < s->room; i++) {
        const struct spread_slot slot = slot_at(s, i);
        if (slot.count)
            list->at[list->count++] = slot;
        list->total += slot.count;
    }
    sort(list, spread_what(s->high, s->coarse));
    for (uint32_t i = 0; i < list->count && !spread_is_exact(s); i++)
        list->at[i].what = value_of(s, list->at[i].what);
    return PFR_OK;
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
