/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was counted by address alone (profile_plain.c), to nodes. All lanes' entries go by address space and address, so
 * that each is looked up once, whatever threads and lanes met it, and finds what it needs where the one before left it.
 */
#include "model/profile_parts.h"

#include "base/radix.h"

#define FETCHED 32u /* entries */

struct late_who {
    uint32_t number; /* in `to` */
    uint32_t space;
};

/* The entries of a counter, which have numbers among all. */
struct late_part {
    struct counter *from;
    uint64_t begin; /* number of its first one */
    struct late_who *whos;
    uint32_t nr_whos;
};

struct late {
    struct counter *to;
    struct late_part *parts;
    uint32_t nr_parts;
    uint64_t end; /* of numbers: empty ones count */
    size_t used;
};

/* --- Entries by number. */

/* The last part that begins at the number or before. */
static const struct late_part *part_of(const struct late *l, uint64_t number) {
    uint32_t low = 0, high = l->nr_parts;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (l->parts[middle].begin <= number)
            low = middle;
        else
            high = middle;
    }
    return &l->parts[low];
}

static const struct plain_entry *entry_in(const struct late_part *part, uint64_t number) {
    return &part->from->plainly.at[number - part->begin];
}

static const struct late_who *who_of(const struct late_part *part, const struct plain_entry *entry) {
    return &part->whos[entry->words[0] & WHO_MOST];
}

static pfr_status add_whos(const struct late *l, struct late_part *part, pfr_error *err) {
    for (uint32_t i = 0; i < part->nr_whos; i++) {
        const struct who who = counter_who(part->from, i);
        part->whos[i] = (struct late_who){i, who.space};
        if (part->from != l->to)
            PFR_TRY(intern_put(&l->to->whos, &who, sizeof who, &part->whos[i].number, err));
    }
    return PFR_OK;
}

static pfr_status add_part(struct late *l, struct counter *from, pfr_error *err) {
    struct late_part *part = &l->parts[l->nr_parts];
    *part = (struct late_part){.from = from, .begin = l->end, .nr_whos = from->whos.count};
    part->whos = mem_alloc(l->to->memory, part->nr_whos, sizeof *part->whos);
    if (!part->whos)
        return mem_fail(l->to->memory, err, "profile");
    l->nr_parts++;
    l->end += from->plainly.count;
    l->used += from->plainly.used;
    l->to->tree->spare += from->plainly.count * sizeof *from->plainly.at;
    if (l->end > UINT32_MAX)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile", "more than 2^32 entries");
    return add_whos(l, part, err);
}

static void free_parts(struct late *l, uint32_t room) {
    struct memory *memory = l->to->memory;
    for (uint32_t i = 0; i < l->nr_parts; i++)
        mem_free(memory, l->parts[i].whos, l->parts[i].nr_whos, sizeof *l->parts[i].whos);
    mem_free(memory, l->parts, room, sizeof *l->parts);
}

/* --- Entries to nodes. */

struct late_entry {
    uint64_t words[2]; /* as `to` has them */
    struct profile_weight self;
    struct place place;
    bool again; /* it is where the one before is */
};

struct late_batch {
    struct late_entry at[BATCH];
    unsigned count;
    uint64_t in, address;     /* where the last one was, and */
    struct frame_found found; /* what was found there by the last one that was looked up */
};

/* There is no room for what the entry counted. */
static void limit_entry(struct counter *c, const struct late_entry *e) {
    weight_add(&c->limited[e->words[0] >> 32], &e->self);
    c->full = true;
}

static unsigned mode_of(const struct late_entry *e) {
    return (unsigned)(e->words[0] >> WHO_BITS & CPUMODE);
}

static pfr_status find_node(struct counter *c, struct late_entry *e, struct frame_found *found, pfr_error *err) {
    uint32_t root, node;
    uint64_t since;
    if (!e->again)
        PFR_TRY(frame_cache_at(&c->cache, &e->place, mode_of(e), e->words[1], found, err));
    PFR_TRY(counter_root(c, e->words, &root, &since, err));
    PFR_TRY(profile_tree_child(c->tree, root, found->frame, &node, err));
    weight_add(&c->tree->self[node], &e->self);
    c->too_deep += found->too_deep ? e->self.samples : 0;
    return PFR_OK;
}

static pfr_status settle_batch(struct counter *c, struct late_batch *b, pfr_error *err) {
    for (unsigned i = 0; i < b->count; i++) {
        const pfr_status st = c->full ? PFR_ERR_LIMIT : find_node(c, &b->at[i], &b->found, err);
        if (st < 0 && st != PFR_ERR_LIMIT)
            return st;
        if (st < 0)
            limit_entry(c, &b->at[i]);
    }
    b->count = 0;
    return PFR_OK;
}

static void place_entry(const struct counter *c, struct late_batch *b, struct late_entry *e, uint32_t space) {
    const uint64_t in = frame_cache_in(mode_of(e), space);
    e->again = in == b->in && e->words[1] == b->address;
    if (!e->again)
        frame_cache_place(&c->cache, mode_of(e), space, e->words[1], NULL, &e->place);
    b->in = in;
    b->address = e->words[1];
}

/* The entry joins the batch; where it will be looked up is fetched meanwhile. */
static pfr_status take_entry(const struct late *l, struct late_batch *b, uint64_t number, pfr_error *err) {
    const struct late_part *part = part_of(l, number);
    const struct plain_entry *entry = entry_in(part, number);
    struct late_entry *e = &b->at[b->count];
    if (!entry->self.samples)
        return PFR_OK;
    const struct late_who *who = who_of(part, entry);
    e->words[0] = (entry->words[0] & ~(uint64_t)WHO_MOST) | who->number;
    e->words[1] = entry->words[1];
    e->self = entry->self;
    place_entry(l->to, b, e, who->space);
    return ++b->count < BATCH ? PFR_OK : settle_batch(l->to, b, err);
}

/* --- All of them. */

#define ADDRESS_BITS 48u
#define PAGE_BITS 12u

/* Nobody's space, which is the kernel's, stands first. Where there are many spaces pages must do: what is not next to
   its like is looked up again. */
static uint64_t order_of(const struct late *l, const struct late_part *part, const struct plain_entry *entry) {
    const uint64_t space = who_of(part, entry)->space + 1u, address = entry->words[1];
    if (l->to->profile->state.spaces.count < 1u << (64 - ADDRESS_BITS))
        return space << ADDRESS_BITS | (address & (((uint64_t)1 << ADDRESS_BITS) - 1));
    return space << 32 | (uint32_t)(address >> PAGE_BITS);
}

static const struct radix_item *sort_entries(const struct late *l, struct radix_item *items) {
    struct radix_item *next = items;
    for (uint32_t i = 0; i < l->nr_parts; i++) {
        const struct late_part *part = &l->parts[i];
        for (uint64_t number = part->begin; number < part->begin + part->from->plainly.count; number++)
            if (entry_in(part, number)->self.samples)
                *next++ = (struct radix_item){order_of(l, part, entry_in(part, number)), (uint32_t)number};
    }
    return radix_sort(items, items + l->used, l->used);
}

static pfr_status take_sorted(const struct late *l, struct late_batch *b, struct radix_item *items, pfr_error *err) {
    const struct radix_item *sorted = sort_entries(l, items);
    for (size_t i = 0; i < l->used; i++) {
        const uint32_t ahead = sorted[i + FETCHED < l->used ? i + FETCHED : i].value;
        __builtin_prefetch(entry_in(part_of(l, ahead), ahead));
        PFR_TRY(take_entry(l, b, sorted[i].value, err));
    }
    return settle_batch(l->to, b, err);
}

/* Where there is no room for their order. */
static pfr_status take_unsorted(const struct late *l, struct late_batch *b, pfr_error *err) {
    for (uint64_t number = 0; number < l->end; number++)
        PFR_TRY(take_entry(l, b, number, err));
    return settle_batch(l->to, b, err);
}

static pfr_status take_all(const struct late *l, struct late_batch *b, pfr_error *err) {
    struct memory *memory = l->to->memory;
    struct radix_item *items = mem_alloc(memory, l->used, 2 * sizeof *items);
    pfr_error why;
    pfr_status st = items ? take_sorted(l, b, items, err) : mem_fail(memory, &why, "profile");
    if (!items && st == PFR_ERR_LIMIT)
        st = take_unsorted(l, b, err);
    else if (!items && err)
        *err = why;
    mem_free(memory, items, items ? l->used : 0, 2 * sizeof *items);
    return st;
}

pfr_status late_settle(struct counter *to, struct counter *const *all, uint32_t count, pfr_error *err) {
    struct late l = {.to = to, .parts = mem_alloc(to->memory, count, sizeof *l.parts)};
    struct late_batch *b = l.parts ? mem_alloc(to->memory, 1, sizeof *b) : NULL; /* too large for a stack */
    pfr_status st = b ? PFR_OK : mem_fail(to->memory, err, "profile");
    for (uint32_t i = 0; st >= 0 && i < count; i++)
        st = add_part(&l, all[i], err);
    if (b)
        *b = (struct late_batch){.count = 0};
    if (st >= 0)
        st = take_all(&l, b, err);
    mem_free(to->memory, b, b ? 1 : 0, sizeof *b);
    free_parts(&l, l.parts ? count : 0);
    for (uint32_t i = 0; i < count; i++)
        plain_free(all[i]);
    return st;
}
