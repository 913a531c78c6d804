/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_HASHMAP_H
#define PFR_BASE_HASHMAP_H
/*
 * u64_map: 64-bit key to 64-bit value, any key and any value. Open addressing, doubled when three quarters are full.
 * The hash is seeded (hash_seed.h), so that a file cannot be made to collide; therefore the order of
 * the slots means nothing and there is no way to walk them. Keep a list beside the map where order matters.
 */
#include "base/memory/memory.h"

struct u64_slot {
    uint64_t key, value; /* key 0: empty; the key 0 itself is kept beside the slots */
};

struct u64_map {
    struct memory *memory;
    struct u64_slot *slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t used;       /* slots in use */
    uint64_t zero_value;
    bool has_zero;
};

void u64_map_init(struct u64_map *map, struct memory *memory);
void u64_map_free(struct u64_map *map);

/* Where the value of `key` stands, made as `initial` when the key is new; valid until the next u64_map_at.
   NULL: out of memory (mem_fail tells). *is_new may be NULL. */
uint64_t *u64_map_at(struct u64_map *map, uint64_t key, uint64_t initial, bool *is_new);

/* Sets the value of a key. Errors: memory, limit. */
pfr_status u64_map_put(struct u64_map *map, uint64_t key, uint64_t value, pfr_error *err);

/* false: no such key, *value untouched. */
bool u64_map_get(const struct u64_map *map, uint64_t key, uint64_t *value);

/* How many keys. */
static inline size_t u64_map_count(const struct u64_map *map) {
    return map->used + (map->has_zero ? 1 : 0);
}

#endif
