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

static inline uint64_t hash_of(const struct offcpu_sums *s, const struct offcpu_key *key) {
    uint64_t words[KEY_WORDS], h = table_seed(s->slot_count);
    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < KEY_WORDS; i++) {
        h = (h ^ words[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return h;
}

/* The slot of the key, or the empty slot where it belongs. */
static inline uint32_t *find_slot(const struct offcpu_sums *s, const struct offcpu_key *key) {
    const size_t mask = s->slot_count - 1;
    for (size_t i = hash_of(s, key) & mask;; i = (i + 1) & mask)
        if (!s->slots[i] || memcmp(&s->rows[s->slots[i] - 1].key, key, sizeof *key) == 0)
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
        *find_slot(s, &s->rows[i].key) = i + 1;
    return PFR_OK;
}

static pfr_status make_room(struct offcpu_sums *s, pfr_error *err) {
    if (s->count >= s->slot_count / 2)
        PFR_TRY(grow_slots(s, err));
    if (s->count >= UINT32_MAX - 1)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "waits", "more than 2^32 different waits");
    void *rows = mem_grow(s->memory, s->rows, s->count, &s->room, 256, sizeof *s->rows);
    if (!rows)
        return mem_fail(s->memory, err, "waits");
    s->rows = rows;
    return PFR_OK;
}

static pfr_status add_key(struct offcpu_sums *s, const struct offcpu_key *key, pfr_error *err) {
    PFR_TRY(make_room(s, err));
    s->rows[s->count] = (struct offcpu_sum_row){.key = *key};
    *find_slot(s, key) = ++s->count;
    return PFR_OK;
}

pfr_status offcpu_sums_add(struct offcpu_sums *s, const struct offcpu_key *key, const struct offcpu_sum *more,
                           pfr_error *err) {
    uint32_t number = s->slots ? *find_slot(s, key) : 0;
    if (!number) {
        PFR_TRY(add_key(s, key, err));
        number = s->count;
    }
    struct offcpu_sum *sum = &s->rows[number - 1].sum;
    sum->ns += more->ns;
    sum->count += more->count;
    sum->max = more->max > sum->max ? more->max : sum->max;
    return PFR_OK;
}
