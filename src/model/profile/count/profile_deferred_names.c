/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves the entries that were counted by address only (profile_fast_path.c) to nodes. The entries of all workers,
 * joined in the first one, are processed by address space and address: each address is looked up once, whichever
 * threads and workers met it, and adjacent addresses find their data still in the processor's caches. As many threads
 * as counted look up one part each; then a single thread makes nodes of the results.
 */
#include "model/profile/count/profile_deferred_names.h"
#include "model/profile/count/profile_count.h"
#include "model/profile/count/profile_fast_path.h"

#include "base/tables/radix.h"
#include "base/memory/sizes.h"

#include <stdlib.h>

#define ORDER_SHARE 3u   /* the order takes this fraction of the memory left */
#define ENTRY_COST 1024u /* maximum bytes that an entry needs: mostly for its own frame and row */
#define FETCHED 32u      /* number of entries prefetched */

struct late_who {
    uint32_t number; /* number in `to` */
    uint32_t space;
};

/* The entries of one counter. The entries of all counters are numbered consecutively. */
struct late_part {
    struct sample_counter *from;
    uint64_t begin; /* number of its first entry */
    struct late_who *whos;
    uint32_t nr_whos;
};

struct late {
    struct sample_counter *to;
    struct frames_of *frames;
    struct late_part *parts;
    uint32_t nr_parts;
    uint64_t end; /* number of entries of all parts, including empty ones */
    size_t used;
    struct radix_item *sorted; /* a sort key, later replaced by the frame found; and the number of the entry */
};

/* --- Entries by number. */

/* The last part that begins at or before the number. */
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

static unsigned mode_of(const struct plain_entry *entry) {
    return (unsigned)(entry->words[0] >> WHO_BITS & PFR_CPUMODE_MASK);
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

static pfr_status add_part(struct late *l, struct late_part *part, struct sample_counter *from, pfr_error *err) {
    *part = (struct late_part){.from = from, .nr_whos = from->whos.count};
    part->whos = mem_alloc(l->to->memory, part->nr_whos, sizeof *part->whos);
    if (!part->whos)
        return mem_fail(l->to->memory, err, "profile");
    return add_whos(l, part, err);
}

static uint64_t word_in_first(const void *context, uint64_t word) {
    const struct late_part *part = context;
    return (word & ~(uint64_t)WHO_MOST) | part->whos[word & WHO_MOST].number;
}

/* Moves the entries of the other counters to the first one, which already has most of them. */
static pfr_status join_parts(const struct late *l, pfr_error *err) {
    for (uint32_t i = 1; i < l->nr_parts; i++)
        PFR_TRY(plain_join(l->to, l->parts[i].from, word_in_first, &l->parts[i], err));
    return PFR_OK;
}

static pfr_status number_parts(struct late *l, pfr_error *err) {
    for (uint32_t i = 0; i < l->nr_parts; i++) {
        const struct plain_table *t = &l->parts[i].from->plainly;
        if (i > 0 && t->used == 0)
            plain_free(l->parts[i].from);
        l->parts[i].begin = l->end;
        l->end += t->count;
        l->used += t->used;
        l->to->tree->spare += t->count * sizeof *t->at;
    }
    return l->end <= UINT32_MAX ? PFR_OK
                                : pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile", "more than 2^32 entries");
}

static void free_parts(struct late *l, uint32_t room) {
    struct memory *memory = l->to->memory;
    for (uint32_t i = 0; i < l->nr_parts; i++)
        mem_free(memory, l->parts[i].whos, l->parts[i].nr_whos, sizeof *l->parts[i].whos);
    mem_free(memory, l->parts, room, sizeof *l->parts);
}

/* --- Addresses to frames. */

/* The result for an entry, as one word: a frame and these flags. */
#define IS_TOO_DEEP ((uint64_t)1 << 32)
#define IS_LIMITED ((uint64_t)1 << 33)

struct late_place {
    uint64_t in, address;
    struct place place;
    bool again; /* the address is that of the previous entry */
};

struct late_batch {
    struct late_place at[BATCH];
    size_t first; /* index in the sorted order */
    unsigned count;
    uint64_t in, address, found; /* those of the previous entry */
    struct frame_near near;
};

static void find_place(const struct late *l, struct late_batch *b, const struct plain_entry *entry, uint32_t space) {
    const unsigned mode = mode_of(entry);
    static const struct record_key end = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    struct late_place *p = &b->at[b->count++];
    p->in = frame_cache_in(mode, space);
    p->address = entry->words[1];
    p->again = p->in == b->in && p->address == b->address;
    b->in = p->in;
    b->address = p->address;
    if (!p->again)
        state_place_in(&l->to->profile->state, mode, space, p->address, end, &p->place);
    if (!p->again)
        profile_frames_expect(l->frames, &p->place);
}

static pfr_status name_place(const struct late *l, struct frame_near *near, struct late_place *p, uint64_t *found,
                             pfr_error *err) {
    const unsigned mode = (unsigned)(p->in >> 32 & PFR_CPUMODE_MASK);
    uint32_t frame = 0;
    const pfr_status st = profile_frames_name_next(l->frames, near, &p->place, mode, p->address, &frame, err);
    *found = st < 0 ? IS_LIMITED : frame | (p->place.too_deep ? IS_TOO_DEEP : 0);
    return st == PFR_ERR_LIMIT ? PFR_OK : st;
}

static pfr_status name_batch(const struct late *l, struct late_batch *b, pfr_error *err) {
    pfr_status st = PFR_OK;
    for (unsigned i = 0; st >= 0 && i < b->count; i++) {
        if (!b->at[i].again)
            st = name_place(l, &b->near, &b->at[i], &b->found, err);
        l->sorted[b->first + i].key = b->found;
    }
    b->first += b->count;
    b->count = 0;
    return st;
}

static void fetch(const struct late *l, size_t at, size_t end) {
    const uint32_t number = l->sorted[at + FETCHED < end ? at + FETCHED : at].value;
    __builtin_prefetch(entry_in(part_of(l, number), number));
}

static pfr_status find_frames(const struct late *l, struct late_batch *b, size_t end, pfr_error *err) {
    for (size_t i = b->first; i < end; i++) {
        const struct late_part *part = part_of(l, l->sorted[i].value);
        const struct plain_entry *entry = entry_in(part, l->sorted[i].value);
        fetch(l, i, end);
        find_place(l, b, entry, who_of(part, entry)->space);
        if (b->count == sizes.count_batch)
            PFR_TRY(name_batch(l, b, err));
    }
    return name_batch(l, b, err);
}

/* --- Frames to nodes. */

static pfr_status add_to_node(struct sample_counter *c, const uint64_t *words, uint32_t frame,
                              const struct profile_weight *self, pfr_error *err) {
    uint32_t root, node;
    uint64_t since;
    PFR_TRY(counter_root(c, words, &root, &since, err));
    PFR_TRY(profile_tree_child(c->tree, root, frame, &node, err));
    profile_tree_weigh(c->tree, node, self);
    return PFR_OK;
}

static pfr_status give_entry(const struct late *l, uint64_t number, uint64_t found, pfr_error *err) {
    const struct late_part *part = part_of(l, number);
    const struct plain_entry *entry = entry_in(part, number);
    struct sample_counter *c = l->to;
    const uint64_t words[] = {(entry->words[0] & ~(uint64_t)WHO_MOST) | who_of(part, entry)->number, entry->words[1]};
    const pfr_status st =
        found & IS_LIMITED ? PFR_ERR_LIMIT : add_to_node(c, words, (uint32_t)found, &entry->self, err);
    if (st >= 0)
        c->facts.too_deep += found & IS_TOO_DEEP ? entry->self.samples : 0;
    else if (st == PFR_ERR_LIMIT)
        weight_add(&c->facts.limited[words[0] >> 32], &entry->self);
    return st == PFR_ERR_LIMIT ? PFR_OK : st;
}

/* --- Sorting. */

#define ADDRESS_BITS 48u
#define PAGE_BITS 12u

/* The kernel's entries, which have no space, come first. With many spaces only pages are sorted; addresses that are
   then not adjacent are looked up again. */
static uint64_t order_of(const struct late *l, const struct late_part *part, const struct plain_entry *entry) {
    const uint64_t space = who_of(part, entry)->space + 1u, address = entry->words[1];
    if (l->to->profile->state.spaces.count < 1u << (64 - ADDRESS_BITS))
        return space << ADDRESS_BITS | (address & (((uint64_t)1 << ADDRESS_BITS) - 1));
    return space << 32 | (uint32_t)(address >> PAGE_BITS);
}

/* --- Ties matter if memory is short: which entries fit must not depend on their order in the tables. */

static int compare_words(const uint64_t *a, const uint64_t *b) {
    const unsigned at = a[1] == b[1] ? 0 : 1;
    return a[at] != b[at] ? (a[at] < b[at] ? -1 : 1) : 0;
}

static int compare_items(const void *a, const void *b, void *context) {
    const uint32_t x = ((const struct radix_item *)a)->value, y = ((const struct radix_item *)b)->value;
    return compare_words(entry_in(part_of(context, x), x)->words, entry_in(part_of(context, y), y)->words);
}

static int compare_entries(const void *a, const void *b) {
    return compare_words(((const struct plain_entry *)a)->words, ((const struct plain_entry *)b)->words);
}

static void sort_ties(struct late *l) {
    for (size_t i = 0, end; i < l->used; i = end) {
        for (end = i + 1; end < l->used && l->sorted[end].key == l->sorted[i].key;)
            end++;
        qsort_r(l->sorted + i, end - i, sizeof *l->sorted, compare_items, l);
    }
}

/* Sorts in place; hash lookups are over. */
static void sort_table(struct plain_table *t) {
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->at[i].self.samples)
            t->at[kept++] = t->at[i];
    for (size_t i = kept; i < t->count; i++)
        t->at[i].self.samples = 0;
    if (kept > 1) /* if no entry was kept, there may be no table */
        qsort(t->at, kept, sizeof *t->at, compare_entries);
}

/* --- All entries. */

static void sort_entries(struct late *l, struct radix_item *items) {
    struct radix_item *next = items;
    for (uint32_t i = 0; i < l->nr_parts; i++) {
        const struct late_part *part = &l->parts[i];
        for (uint64_t number = part->begin; number < part->begin + part->from->plainly.count; number++)
            if (entry_in(part, number)->self.samples)
                *next++ = (struct radix_item){order_of(l, part, entry_in(part, number)), (uint32_t)number};
    }
    l->sorted = radix_sort(items, items + l->used, l->used);
}

static pfr_status take_sorted(const struct late *l, pfr_error *err) {
    struct late_batch b = {.first = 0};
    PFR_TRY(find_frames(l, &b, l->used, err));
    for (size_t i = 0; i < l->used; i++) {
        fetch(l, i, l->used);
        PFR_TRY(give_entry(l, l->sorted[i].value, l->sorted[i].key, err));
    }
    return PFR_OK;
}

/* Resolves entries one by one, if there is no memory to sort them. */
static pfr_status take_singly(struct late *l, pfr_error *err) {
    struct radix_item one;
    for (uint32_t i = 0; i < l->nr_parts; i++)
        sort_table(&l->parts[i].from->plainly);
    for (uint64_t number = 0; number < l->end; number++) {
        struct late_batch b = {.first = 0};
        one = (struct radix_item){0, (uint32_t)number};
        if (!entry_in(part_of(l, number), number)->self.samples)
            continue;
        l->sorted = &one;
        const pfr_status st = find_frames(l, &b, 1, err);
        l->sorted = NULL;
        PFR_TRY(st);
        PFR_TRY(give_entry(l, number, one.key, err));
    }
    return PFR_OK;
}

static pfr_status take_in_order(struct late *l, struct radix_item *items, pfr_error *err) {
    sort_entries(l, items);
    if (!memory_has(l->to->memory, ENTRY_COST * (uint64_t)l->used))
        sort_ties(l);
    return take_sorted(l, err);
}

static pfr_status take_all(struct late *l, pfr_error *err) {
    struct memory *memory = l->to->memory;
    const size_t room = 2 * sizeof(struct radix_item);
    struct radix_item *items = NULL;
    if (memory_has(memory, ORDER_SHARE * room * l->used))
        items = mem_alloc(memory, l->used, room);
    if (!items && mem_failure(memory) != PFR_ERR_LIMIT)
        return mem_fail(memory, err, "profile");
    l->frames->one_worker = true;
    const pfr_status st = items ? take_in_order(l, items, err) : take_singly(l, err);
    mem_free(memory, items, items ? l->used : 0, room);
    return st;
}

pfr_status late_settle(struct sample_counter *to, struct sample_counter *const *all, uint32_t count, pfr_error *err) {
    struct late l = {.to = to, .frames = to->cache.frames};
    PFR_TRY(profile_tree_begin_weights(to->tree, err));
    l.parts = mem_zeroed(to->memory, count, sizeof *l.parts);
    l.nr_parts = l.parts ? count : 0;
    pfr_status st = l.parts ? PFR_OK : mem_fail(to->memory, err, "profile");
    for (uint32_t i = count;
         st >= 0 && i-- > 0;) /* the first counter comes last: it then knows all thread identities */
        st = add_part(&l, &l.parts[i], all[i], err);
    if (st >= 0)
        st = join_parts(&l, err);
    if (st >= 0)
        st = number_parts(&l, err);
    if (st >= 0)
        st = take_all(&l, err);
    free_parts(&l, l.parts ? count : 0);
    for (uint32_t i = 0; i < count; i++)
        plain_free(all[i]);
    return st;
}
