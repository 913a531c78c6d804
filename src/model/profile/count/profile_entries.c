/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries by hash. If the request has stacks, several workers may share entries and tree (profile_tree_shared.c);
 * entries do not move while a worker is between counter_enter and counter_leave. A new entry is written first, then put
 * into its slot by one atomic exchange. If another worker has put an equal entry there first, the new entry stays
 * empty, without a node. Weights of samples are added without a lock.
 */
#include "model/profile/count/profile_entries.h"

#include "base/memory/sizes.h"

#define FIRST_ENTRIES 1024u
#define AT_ONCE 32u /* number of batches for which room is made at a time */

pfr_status counter_entries_begin(struct sample_counter *c, struct entry_table *common, struct memory *memory,
                                 pfr_error *err) {
    struct entry_table *t = common ? common : &c->own_table;
    c->table = t;
    if (t->slots)
        return PFR_OK;
    t->memory = common ? common->memory : memory;
    t->slot_count = sizes.table_slots;
    t->slots = mem_zeroed(t->memory, t->slot_count, sizeof *t->slots);
    return t->slots ? PFR_OK : mem_fail(t->memory, err, "profile");
}

void counter_entries_free_slots(struct entry_table *t) {
    mem_free(t->memory, t->slots, t->slots ? t->slot_count : 0, sizeof *t->slots);
    t->slots = NULL;
    t->slot_count = 0;
}

void counter_entries_free(struct entry_table *t, size_t stride) {
    counter_entries_free_slots(t);
    mem_free(t->memory, t->entries, t->room, stride * sizeof *t->entries);
    t->entries = NULL;
    t->room = t->count = 0;
}

/* --- Room. */

/* A slot contains half of the hash, so few entries are compared in vain. The table may be filled up to 13/16. */
static bool slots_suffice(const struct entry_table *t, uint64_t count) {
    return count <= t->slot_count / 16 * 13;
}

static bool has_room(const struct entry_table *t, uint64_t more) {
    const uint64_t count = __atomic_load_n(&t->count, __ATOMIC_RELAXED) + more;
    return count <= t->room && slots_suffice(t, count);
}

static bool grow_slots(struct sample_counter *c) {
    struct entry_table *t = c->table;
    const size_t count = t->slot_count * 2;
    uint64_t *slots = mem_zeroed(t->memory, count, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < t->count; i++) {
        const uint64_t hash = words_hash(c, entry_words(c, i));
        size_t at = hash & (count - 1);
        if (entry_count_of(c, entry_words(c, i))->node == NO_NODE)
            continue;
        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = (hash >> 32) << 32 | (i + 1);
    }
    mem_free(t->memory, t->slots, t->slot_count, sizeof *t->slots);
    __atomic_store_n(&t->slots, slots, __ATOMIC_RELAXED); /* other workers may prefetch through the slots at the same
                                                             time */
    __atomic_store_n(&t->slot_count, count, __ATOMIC_RELAXED);
    return true;
}

/* Notes the memory of the counter's own table as spare: it is freed when all samples are counted. */
static void note_spare(struct sample_counter *c) {
    const struct entry_table *t = &c->own_table;
    c->own_tree.spare = c->profile->request.shape == PROFILE_SUMS ? c->sums.defer_lookup
                                                                  : (t->room * c->keys.stride + t->slot_count) * 8;
}

/* Makes room for `more` entries. No other worker may be between counter_enter and counter_leave. */
static pfr_status make_room(struct sample_counter *c, uint32_t more, pfr_error *err) {
    struct entry_table *t = c->table;
    if (t->count >= UINT32_MAX - more)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile", "more than 2^32 entries");
    while (!slots_suffice(t, (uint64_t)t->count + more))
        if (!grow_slots(c))
            return mem_fail(t->memory, err, "profile");
    void *entries = mem_grow(t->memory, t->entries, t->count + more - 1, &t->room, FIRST_ENTRIES,
                             c->keys.stride * sizeof *t->entries);
    if (!entries)
        return mem_fail(t->memory, err, "profile");
    t->entries = entries;
    note_spare(c);
    return PFR_OK;
}

static bool reserve(struct entry_table *t) {
    if (has_room(t, __atomic_add_fetch(&t->reserved, BATCH, __ATOMIC_RELAXED)))
        return true;
    __atomic_sub_fetch(&t->reserved, BATCH, __ATOMIC_RELAXED);
    return false;
}

static pfr_status make_shared_room(struct sample_counter *c, pfr_error *err) {
    profile_tree_close(c->tree);
    pfr_status st = has_room(c->table, BATCH) ? PFR_OK : make_room(c, BATCH * AT_ONCE, err);
    if (st == PFR_ERR_LIMIT)
        st = make_room(c, BATCH, err);
    profile_tree_open(c->tree);
    return st;
}

pfr_status counter_enter(struct sample_counter *c, uint32_t nodes, pfr_error *err) {
    if (!c->tree->shared)
        return PFR_OK;
    for (;;) {
        PFR_TRY(profile_tree_enter(c->tree, nodes, err));
        if (reserve(c->table))
            return PFR_OK;
        profile_tree_leave(c->tree, nodes);
        PFR_TRY(make_shared_room(c, err));
    }
}

void counter_leave(struct sample_counter *c, uint32_t nodes) {
    if (!c->tree->shared)
        return;
    __atomic_sub_fetch(&c->table->reserved, BATCH, __ATOMIC_RELAXED);
    profile_tree_leave(c->tree, nodes);
}

/* --- Between enter and leave. */

uint64_t entry_find(const struct sample_counter *c, const uint64_t *key, uint64_t hash, uint64_t **empty) {
    const struct entry_table *t = c->table;
    const size_t mask = t->slot_count - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        const uint64_t slot = __atomic_load_n(&t->slots[i], __ATOMIC_ACQUIRE);
        if (empty)
            *empty = &t->slots[i];
        if (!slot ||
            (slot >> 32 == hash >> 32 && words_are_same(entry_words(c, (uint32_t)slot - 1), key, c->keys.key_words)))
            return slot;
    }
}

/* Writes a new entry, which is not in a slot yet, and returns its number. */
static uint32_t write_entry(struct sample_counter *c, const uint64_t *key, const struct entry_count *count) {
    struct entry_table *t = c->table;
    const uint32_t number = c->tree->shared ? __atomic_fetch_add(&t->count, 1, __ATOMIC_RELAXED) : t->count++;
    uint64_t *own = entry_words(c, number);
    memcpy(own, key, c->keys.key_words * sizeof *own);
    *entry_count_of(c, own) = *count;
    return number;
}

pfr_status entry_put(struct sample_counter *c, const uint64_t *key, uint64_t hash, const struct entry_count *count,
                     uint64_t *entry, pfr_error *err) {
    uint64_t *slot, nothing = 0;
    if (!c->tree->shared && !has_room(c->table, 1))
        PFR_TRY(make_room(c, 1, err));
    const uint32_t number = write_entry(c, key, count);
    const uint64_t own = (hash >> 32) << 32 | (number + 1);
    *entry = entry_find(c, key, hash, &slot);
    while (!*entry && !__atomic_compare_exchange_n(slot, &nothing, own, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
        *entry = entry_find(c, key, hash, &slot);
        nothing = 0;
    }
    if (*entry)
        entry_count_of(c, entry_words(c, number))->node = NO_NODE;
    *entry = *entry ? *entry : own;
    return PFR_OK;
}

void entry_add(const struct sample_counter *c, struct entry_count *count, uint64_t weight) {
    if (c->tree->shared) {
        __atomic_add_fetch(&count->weight, weight, __ATOMIC_RELAXED);
        __atomic_add_fetch(&count->samples, 1, __ATOMIC_RELAXED);
        return;
    }
    count->weight += weight;
    count->samples++;
}

struct entry_count *counter_find(const struct sample_counter *c, const uint64_t *key) {
    const uint64_t entry = entry_find(c, key, words_hash(c, key), NULL);
    return entry ? entry_count_of(c, entry_words(c, (uint32_t)entry - 1)) : NULL;
}

pfr_status counter_put(struct sample_counter *c, const uint64_t *key, const struct entry_count *count, pfr_error *err) {
    uint64_t entry;
    return entry_put(c, key, words_hash(c, key), count, &entry, err);
}
