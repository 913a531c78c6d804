/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_HASHMAP_H
#define PFR_BASE_HASHMAP_H
/*
 * u64_map: maps any 64-bit key to any 64-bit value. Open addressing; doubles when three quarters full. The hash is
 * seeded (hash_seed.h) against crafted collisions, so slot order is meaningless and there is no iteration; a caller
 * that needs an order keeps a list of its own.
 */
#include "base/memory/memory.h"

struct u64_slot {
    uint64_t key, value; /* key 0: empty; the value of key 0 is stored outside the slots */
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

/* Returns the address of the value of `key`, valid until the next u64_map_at. A new key is added with the value
   `initial`. NULL: out of memory (mem_fail has the reason). *is_new may be NULL. */
uint64_t *u64_map_at(struct u64_map *map, uint64_t key, uint64_t initial, bool *is_new);

/* Sets the value of a key. Errors: memory, limit. */
pfr_status u64_map_put(struct u64_map *map, uint64_t key, uint64_t value, pfr_error *err);

/* false: no such key, *value unchanged. */
bool u64_map_get(const struct u64_map *map, uint64_t key, uint64_t *value);

/* The number of keys. */
static inline size_t u64_map_count(const struct u64_map *map) {
    return map->used + (map->has_zero ? 1 : 0);
}

#endif
