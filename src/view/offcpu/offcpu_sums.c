/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, at most half full: see offcpu_sums.h. */
#include "view/offcpu/offcpu_sums.h"

#include "base/memory/sizes.h"
#include "base/tables/hash_seed.h"

#include <string.h>

#define KEY_WORDS (sizeof(struct offcpu_key) / sizeof(uint64_t))
_Static_assert(sizeof(struct offcpu_key) == 32, "keys have no padding");

void offcpu_sums_init(struct offcpu_sums *s, struct memory *memory) {
    *s = (struct offcpu_sums){.memory = memory};
}

void offcpu_sums_free(struct offcpu_sums *s) {
    mem_free(s->memory, s->rows, s->room, sizeof *s->rows);
    mem_free(s->memory, s->slots, s->slot_count, sizeof *s->slots);
    offcpu_sums_init(s, s->memory);
}

static inline uint64_t multiply_fold(uint64_t a, uint64_t b) {
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Two products that do not wait for each other. */
static inline uint64_t hash_of(const struct offcpu_sums *s, const struct offcpu_key *key) {
    const uint64_t seed = table_seed(s->slot_count);
    uint64_t w[KEY_WORDS];
    memcpy(w, key, sizeof w);
    const uint64_t h = multiply_fold(w[0] ^ seed ^ 0x9e3779b97f4a7c15u, w[1] ^ 0xd6e8feb86659fd93u) ^
                       multiply_fold(w[2] ^ seed ^ 0xa0761d6478bd642fu, w[3] ^ 0xe7037ed1a0b428dbu);
    return h ^ h >> 32;
}

/* Keys have few words, so this is faster than memcmp. */
static inline bool keys_are_same(const struct offcpu_key *a, const struct offcpu_key *b) {
    uint64_t x[KEY_WORDS], y[KEY_WORDS], difference = 0;
    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    for (size_t i = 0; i < KEY_WORDS; i++)
        difference |= x[i] ^ y[i];
    return difference == 0;
}

/* The slot of the key, or the empty slot where it belongs. */
static inline uint32_t *find_slot(const struct offcpu_sums *s, const struct offcpu_key *key, uint64_t hash) {
    const size_t mask = s->slot_count - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask)
        if (!s->slots[i] || keys_are_same(&s->rows[s->slots[i] - 1].key, key))
            return &s->slots[i];
}

static pfr_status grow_slots(struct offcpu_sums *s, pfr_error *err) {
    const size_t count = s->slot_count ? s->slot_count * 2 : sizes.table_slots;
    uint32_t *slots = mem_zeroed(s->memory, count, sizeof *slots);
    if (!slots)
        return mem_fail(s->memory, err, "waits");
    mem_free(s->memory, s->slots, s->slot_count, sizeof *s->slots);
    s->slots = slots;
    s->slot_count = count;
    for (uint32_t i = 0; i < s->count; i++)
        *find_slot(s, &s->rows[i].key, hash_of(s, &s->rows[i].key)) = i + 1;
    return PFR_OK;
}

static pfr_status make_room(struct offcpu_sums *s, pfr_error *err) {
    if (s->count >= UINT32_MAX - 1)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "waits", "more than 2^32 different waits");
    void *rows = mem_grow(s->memory, s->rows, s->count, &s->room, 256, sizeof *s->rows);
    if (!rows)
        return mem_fail(s->memory, err, "waits");
    s->rows = rows;
    return PFR_OK;
}

static pfr_status add_row(struct offcpu_sums *s, const struct offcpu_sum_row *more, uint32_t *slot, pfr_error *err) {
    if (!*slot) {
        PFR_TRY(make_room(s, err));
        s->rows[s->count] = (struct offcpu_sum_row){.key = more->key};
        *slot = ++s->count;
    }
    struct offcpu_sum *sum = &s->rows[*slot - 1].sum;
    sum->ns += more->sum.ns;
    sum->count += more->sum.count;
    sum->max = more->sum.max > sum->max ? more->sum.max : sum->max;
    return PFR_OK;
}

static inline void fetch_row(const struct offcpu_sums *s, uint64_t hash) {
    const uint32_t number = s->slots[hash & (s->slot_count - 1)];
    if (!number)
        return;
    __builtin_prefetch(&s->rows[number - 1]);
    __builtin_prefetch(&s->rows[number - 1].sum.count, 1);
}

/* In loops, so that cache misses overlap. */
pfr_status offcpu_sums_settle(struct offcpu_sums *s, pfr_error *err) {
    uint64_t hashes[OFFCPU_SUMS_AT_ONCE];
    const unsigned count = s->nr_waiting;
    while ((size_t)s->count + count > s->slot_count / 2)
        PFR_TRY(grow_slots(s, err));
    for (unsigned i = 0; i < count; i++) {
        hashes[i] = hash_of(s, &s->waiting[i].key);
        __builtin_prefetch(&s->slots[hashes[i] & (s->slot_count - 1)]);
    }
    for (unsigned i = 0; i < count; i++)
        fetch_row(s, hashes[i]);
    s->nr_waiting = 0;
    for (unsigned i = 0; i < count; i++)
        PFR_TRY(add_row(s, &s->waiting[i], find_slot(s, &s->waiting[i].key, hashes[i]), err));
    return PFR_OK;
}

pfr_status offcpu_sums_add(struct offcpu_sums *s, pfr_error *err) {
    return ++s->nr_waiting < OFFCPU_SUMS_AT_ONCE ? PFR_OK : offcpu_sums_settle(s, err);
}
