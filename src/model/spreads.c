/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of values with open addressing, three quarters full at most, and sketches by pages: see spreads.h. */
#include "model/spreads.h"

#include "base/fail.h"

#include <stdlib.h>

#define FIRST_ROOM 8u
#define FIRST_PAGES ((size_t)4)

void spreads_init(struct spreads *all, struct memory *memory) {
    *all = (struct spreads){.memory = memory, .most = SPREAD_MOST};
}

static void free_slots(struct spreads *all, struct spread *s) {
    mem_free(all->memory, s->slots, s->room, sizeof *s->slots);
    s->slots = NULL;
    s->room = s->used = 0;
}

static void free_sketch(struct spreads *all, struct spread *s) {
    if (s->sketch)
        mem_free(all->memory, s->sketch->pages, s->sketch->room, sizeof *s->sketch->pages);
    mem_free(all->memory, s->sketch, s->sketch ? 1 : 0, sizeof *s->sketch);
    s->sketch = NULL;
}

void spreads_free(struct spreads *all) {
    for (uint32_t i = 0; i < all->count; i++) {
        free_slots(all, &all->at[i]);
        free_sketch(all, &all->at[i]);
    }
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

/* --- Sketches. */

static pfr_status add_page(struct spreads *all, struct spread_sketch *sketch, uint8_t *number, pfr_error *err) {
    void *more = mem_grow(all->memory, sketch->pages, sketch->used, &sketch->room, FIRST_PAGES, sizeof *sketch->pages);
    if (!more)
        return mem_fail(all->memory, err, "latencies");
    sketch->pages = more;
    all->moves++;
    for (unsigned i = 0; i < SKETCH_PAGE; i++)
        sketch->pages[sketch->used][i] = 0;
    *number = (uint8_t)++sketch->used;
    return PFR_OK;
}

static pfr_status add_to_bucket(struct spreads *all, struct spread_sketch *sketch, uint64_t bucket, uint64_t count,
                                pfr_error *err) {
    uint8_t *page = &sketch->page_of[bucket / SKETCH_PAGE];
    if (*page == 0)
        PFR_TRY(add_page(all, sketch, page, err));
    sketch->pages[*page - 1][bucket % SKETCH_PAGE] += count;
    return PFR_OK;
}

/* What the spread holds so far goes into its buckets. */
static pfr_status make_sketch(struct spreads *all, struct spread *s, pfr_error *err) {
    if (s->sketch)
        return PFR_OK;
    all->moves++;
    s->sketch = mem_zeroed(all->memory, 1, sizeof *s->sketch);
    if (!s->sketch)
        return mem_fail(all->memory, err, "latencies");
    for (uint32_t i = 0; i < s->room; i++)
        if (s->slots[i].count)
            PFR_TRY(add_to_bucket(all, s->sketch, spread_bucket(s->slots[i].value), s->slots[i].count, err));
    free_slots(all, s);
    return PFR_OK;
}

/* --- Tables. */

static struct spread_slot *find(const struct spread *s, uint64_t value) {
    for (uint32_t i = spread_first(s, value);; i = (i + 1) & (s->room - 1))
        if (s->slots[i].count == 0 || s->slots[i].value == value)
            return &s->slots[i];
}

static pfr_status grow(struct spreads *all, struct spread *s, pfr_error *err) {
    struct spread to = *s;
    to.room = s->room ? s->room * 2 : FIRST_ROOM;
    to.slots = mem_zeroed(all->memory, to.room, sizeof *to.slots);
    if (!to.slots)
        return mem_fail(all->memory, err, "latencies");
    for (uint32_t i = 0; i < s->room; i++)
        if (s->slots[i].count)
            *find(&to, s->slots[i].value) = s->slots[i];
    mem_free(all->memory, s->slots, s->room, sizeof *s->slots);
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
        charged += s->sketch ? most : s->used;
    }
    all->most = most;
    all->charged = charged;
    return PFR_OK;
}

static pfr_status charge(struct spreads *all, uint64_t values, pfr_error *err) {
    all->charged += values;
    while (all->charged > SPREADS_MOST)
        PFR_TRY(lower(all, all->most / 2, err));
    return PFR_OK;
}

/* A spread that becomes a sketch counts as `most` values from then on. */
static pfr_status leave_exactness(struct spreads *all, struct spread *s, pfr_error *err) {
    const uint32_t had = s->used;
    if (s->sketch)
        return PFR_OK;
    PFR_TRY(make_sketch(all, s, err));
    return charge(all, all->most > had ? all->most - had : 0, err);
}

/* --- Values. */

static bool add_known(struct spread *s, uint64_t value, uint64_t count) {
    struct spread_slot *slot = s->slots ? find(s, value) : NULL;
    if (!slot || slot->count == 0)
        return false;
    slot->count += count;
    return true;
}

static pfr_status add_new(struct spreads *all, struct spread *s, uint64_t value, uint64_t count, pfr_error *err) {
    if (s->used + 1 > s->room / 4 * 3)
        PFR_TRY(grow(all, s, err));
    *find(s, value) = (struct spread_slot){value, count};
    s->used++;
    return charge(all, 1, err);
}

pfr_status spreads_add_slowly(struct spreads *all, uint32_t number, uint64_t value, uint64_t count, pfr_error *err) {
    struct spread *s = &all->at[number];
    if (add_known(s, value, count))
        return PFR_OK;
    if (s->used >= all->most)
        PFR_TRY(leave_exactness(all, s, err));
    if (s->sketch)
        return add_to_bucket(all, s->sketch, spread_bucket(value), count, err);
    return add_new(all, s, value, count, err);
}

/* --- Merging. */

pfr_status spreads_merge_begin(struct spreads *all, const struct spreads *others, pfr_error *err) {
    return others->most < all->most ? lower(all, others->most, err) : PFR_OK;
}

static pfr_status merge_sketch(struct spreads *all, uint32_t number, const struct spread_sketch *from, pfr_error *err) {
    PFR_TRY(leave_exactness(all, &all->at[number], err));
    for (uint64_t bucket = 0; bucket < SKETCH_PAGES * SKETCH_PAGE; bucket++) {
        const unsigned page = from->page_of[bucket / SKETCH_PAGE];
        const uint64_t count = page ? from->pages[page - 1][bucket % SKETCH_PAGE] : 0;
        if (count)
            PFR_TRY(add_to_bucket(all, all->at[number].sketch, bucket, count, err));
    }
    return PFR_OK;
}

pfr_status spreads_merge(struct spreads *all, uint32_t number, const struct spreads *others, uint32_t other,
                         pfr_error *err) {
    const struct spread *from = &others->at[other];
    struct spread *s = &all->at[number];
    s->low = from->low < s->low ? from->low : s->low;
    s->high = from->high > s->high ? from->high : s->high;
    if (from->sketch)
        return merge_sketch(all, number, from->sketch, err);
    for (uint32_t i = 0; i < from->room; i++)
        if (from->slots[i].count)
            PFR_TRY(spreads_add_slowly(all, number, from->slots[i].value, from->slots[i].count, err));
    return PFR_OK;
}

/* --- Percentiles. */

static pfr_status make_list(const struct spreads *all, size_t room, struct spread_list *list, pfr_error *err) {
    list->at = mem_alloc(all->memory, room, sizeof *list->at);
    list->room = list->at ? room : 0;
    return list->at ? PFR_OK : mem_fail(all->memory, err, "latencies");
}

static void list_value(struct spread_list *list, uint64_t value, uint64_t count) {
    if (count == 0)
        return;
    list->at[list->count++] = (struct spread_slot){value, count};
    list->total += count;
}

/* The middle of the lowest or highest bucket may lie outside of what was met. */
static uint64_t value_of(const struct spread *s, uint64_t bucket) {
    const uint64_t middle = spread_middle(bucket);
    return middle < s->low ? s->low : middle > s->high ? s->high : middle;
}

static pfr_status list_sketch(const struct spreads *all, const struct spread *s, struct spread_list *list,
                              pfr_error *err) {
    PFR_TRY(make_list(all, s->sketch->used * SKETCH_PAGE, list, err));
    for (uint64_t bucket = 0; bucket < SKETCH_PAGES * SKETCH_PAGE; bucket++) {
        const unsigned page = s->sketch->page_of[bucket / SKETCH_PAGE];
        if (page)
            list_value(list, value_of(s, bucket), s->sketch->pages[page - 1][bucket % SKETCH_PAGE]);
    }
    return PFR_OK;
}

static int by_value(const void *a, const void *b) {
    const struct spread_slot *p = a, *q = b;
    return p->value < q->value ? -1 : p->value > q->value;
}

pfr_status spread_list(const struct spreads *all, uint32_t number, struct spread_list *list, pfr_error *err) {
    const struct spread *s = &all->at[number];
    *list = (struct spread_list){0};
    if (s->sketch)
        return list_sketch(all, s, list, err);
    if (s->used == 0)
        return PFR_OK;
    PFR_TRY(make_list(all, s->used, list, err));
    for (uint32_t i = 0; i < s->room; i++)
        list_value(list, s->slots[i].value, s->slots[i].count);
    qsort(list->at, list->count, sizeof *list->at, by_value);
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
            return list->at[i].value;
        left -= list->at[i].count;
    }
    return 0;
}
