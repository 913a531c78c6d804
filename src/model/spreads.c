/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of values with open addressing, three quarters full at most: see spreads.h. */
#include "model/spreads.h"

#include "base/fail.h"

#include <stdlib.h>

#define FIRST_ROOM 8u

void spreads_init(struct spreads *all, struct memory *memory) {
    *all = (struct spreads){.memory = memory, .most = SPREAD_MOST};
}

void spreads_free(struct spreads *all) {
    for (uint32_t i = 0; i < all->count; i++)
        mem_free(all->memory, all->at[i].slots, all->at[i].room, sizeof *all->at[i].slots);
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

static struct spread_slot *find(const struct spread *s, uint64_t key) {
    for (uint32_t i = spread_first(s, key);; i = (i + 1) & (s->room - 1))
        if (s->slots[i].count == 0 || s->slots[i].value == key)
            return &s->slots[i];
}

/* The same values in a table of so many slots, as buckets where it becomes a sketch; low and high are kept. */
static pfr_status move(struct spreads *all, struct spread *s, uint32_t room, bool sketched, pfr_error *err) {
    struct spread to = *s;
    to.room = room;
    to.used = 0;
    to.sketched = sketched;
    to.slots = mem_zeroed(all->memory, room, sizeof *to.slots);
    if (!to.slots)
        return mem_fail(all->memory, err, "latencies");
    for (uint32_t i = 0; i < s->room; i++) {
        if (s->slots[i].count == 0)
            continue;
        const uint64_t key = sketched && !s->sketched ? spread_bucket(s->slots[i].value) : s->slots[i].value;
        struct spread_slot *slot = find(&to, key);
        to.used += slot->count == 0;
        slot->value = key;
        slot->count += s->slots[i].count;
    }
    mem_free(all->memory, s->slots, s->room, sizeof *s->slots);
    *s = to;
    return PFR_OK;
}

static bool has_room(const struct spread *s, uint32_t used) {
    return used <= s->room / 4 * 3;
}

/* Moves a sketch into the smallest table that takes it: what it was as an exact spread needed more. */
static pfr_status shrink(struct spreads *all, struct spread *s, pfr_error *err) {
    uint32_t room = FIRST_ROOM;
    while (s->used > room / 4 * 3)
        room *= 2;
    return room < s->room ? move(all, s, room, true, err) : PFR_OK;
}

static pfr_status sketch(struct spreads *all, struct spread *s, pfr_error *err) {
    if (s->sketched)
        return PFR_OK;
    if (!s->slots) {
        s->sketched = true;
        return PFR_OK;
    }
    PFR_TRY(move(all, s, s->room, true, err));
    return shrink(all, s, err);
}

/* --- How many values are kept exactly. */

static pfr_status lower(struct spreads *all, uint32_t most, pfr_error *err) {
    uint64_t charged = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        struct spread *s = &all->at[i];
        if (!s->sketched && s->used > most)
            PFR_TRY(sketch(all, s, err));
        charged += s->sketched ? most : s->used;
    }
    all->most = most;
    all->charged = charged;
    return PFR_OK;
}

static pfr_status charge(struct spreads *all, pfr_error *err) {
    all->charged++;
    while (all->charged > SPREADS_MOST)
        PFR_TRY(lower(all, all->most / 2, err));
    return PFR_OK;
}

/* --- Values. */

static pfr_status add_new(struct spreads *all, struct spread *s, uint64_t key, uint64_t count, pfr_error *err) {
    if (!s->slots || !has_room(s, s->used + 1))
        PFR_TRY(move(all, s, s->slots ? s->room * 2 : FIRST_ROOM, s->sketched, err));
    struct spread_slot *slot = find(s, key);
    *slot = (struct spread_slot){key, count};
    s->used++;
    return s->sketched ? PFR_OK : charge(all, err);
}

static bool add_known(struct spread *s, uint64_t key, uint64_t count) {
    struct spread_slot *slot = s->slots ? find(s, key) : NULL;
    if (!slot || slot->count == 0)
        return false;
    slot->count += count;
    return true;
}

pfr_status spreads_add_slowly(struct spreads *all, uint32_t number, uint64_t value, uint64_t count, pfr_error *err) {
    struct spread *s = &all->at[number];
    if (add_known(s, s->sketched ? spread_bucket(value) : value, count))
        return PFR_OK;
    if (!s->sketched && s->used >= all->most)
        PFR_TRY(sketch(all, s, err));
    const uint64_t key = s->sketched ? spread_bucket(value) : value;
    return add_known(s, key, count) ? PFR_OK : add_new(all, s, key, count, err);
}

/* --- Merging. */

pfr_status spreads_merge_begin(struct spreads *all, const struct spreads *others, pfr_error *err) {
    return others->most < all->most ? lower(all, others->most, err) : PFR_OK;
}

/* One that was exact and becomes a sketch counts as `most` from then on. */
static pfr_status sketch_charged(struct spreads *all, struct spread *s, pfr_error *err) {
    if (s->sketched)
        return PFR_OK;
    const uint32_t had = s->used;
    PFR_TRY(sketch(all, s, err));
    all->charged += all->most > had ? all->most - had : 0;
    while (all->charged > SPREADS_MOST)
        PFR_TRY(lower(all, all->most / 2, err));
    return PFR_OK;
}

static pfr_status merge_slot(struct spreads *all, uint32_t number, const struct spread_slot *slot, bool is_bucket,
                             pfr_error *err) {
    struct spread *s = &all->at[number];
    if (!is_bucket)
        return spreads_add_slowly(all, number, slot->value, slot->count, err);
    return add_known(s, slot->value, slot->count) ? PFR_OK : add_new(all, s, slot->value, slot->count, err);
}

pfr_status spreads_merge(struct spreads *all, uint32_t number, const struct spreads *others, uint32_t other,
                         pfr_error *err) {
    const struct spread *from = &others->at[other];
    struct spread *s = &all->at[number];
    s->low = from->low < s->low ? from->low : s->low;
    s->high = from->high > s->high ? from->high : s->high;
    if (from->sketched)
        PFR_TRY(sketch_charged(all, s, err));
    for (uint32_t i = 0; i < from->room; i++)
        if (from->slots[i].count)
            PFR_TRY(merge_slot(all, number, &from->slots[i], from->sketched, err));
    return PFR_OK;
}

/* --- Percentiles. */

static int by_value(const void *a, const void *b) {
    const struct spread_slot *p = a, *q = b;
    return p->value < q->value ? -1 : p->value > q->value;
}

/* What a slot stands for. The middle of the lowest or highest bucket may lie outside of what was met. */
static uint64_t value_of(const struct spread *s, uint64_t key) {
    if (!s->sketched)
        return key;
    const uint64_t middle = spread_middle(key);
    return middle < s->low ? s->low : middle > s->high ? s->high : middle;
}

pfr_status spread_list(const struct spreads *all, uint32_t number, struct spread_list *list, pfr_error *err) {
    const struct spread *s = &all->at[number];
    *list = (struct spread_list){0};
    if (s->used == 0)
        return PFR_OK;
    list->at = mem_alloc(all->memory, s->used, sizeof *list->at);
    if (!list->at)
        return mem_fail(all->memory, err, "latencies");
    for (uint32_t i = 0; i < s->room; i++)
        if (s->slots[i].count) {
            list->at[list->count++] = (struct spread_slot){value_of(s, s->slots[i].value), s->slots[i].count};
            list->total += s->slots[i].count;
        }
    qsort(list->at, list->count, sizeof *list->at, by_value);
    return PFR_OK;
}

void spread_list_free(const struct spreads *all, struct spread_list *list) {
    mem_free(all->memory, list->at, list->count, sizeof *list->at);
    *list = (struct spread_list){0};
}

uint64_t spread_rank(const struct spread_list *list, unsigned thousandths) {
    const unsigned __int128 product = (unsigned __int128)list->total * thousandths;
    uint64_t left = (uint64_t)((product + 999) / 1000);
    left = left ? left : 1;
    for (uint32_t i = 0; i < list->count; i++) {
        if (left <= list->at[i].count)
            return list->at[i].value;
        left -= list->at[i].count;
    }
    return 0;
}
