/* SPDX-License-Identifier: Apache-2.0 */
/* u64_map: linear probing over slots of key and value. */
#include "base/memory/fail.h"
#include "base/tables/hashmap.h"
#include "base/tables/hash_seed.h"

#define FIRST_SLOTS ((size_t)16)

void u64_map_init(struct u64_map *map, struct memory *memory) {
    *map = (struct u64_map){.memory = memory};
}

void u64_map_free(struct u64_map *map) {
    mem_free(map->memory, map->slots, map->slot_count, sizeof *map->slots);
    u64_map_init(map, map->memory);
}

/* Two rounds of multiply and fold. */
static size_t hash_key(size_t slot_count, uint64_t key) {
    uint64_t h = key ^ table_seed(slot_count);
    h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 29)) * 0xd6e8feb86659fd93u;
    return (size_t)(h ^ (h >> 32));
}

/* The slot of the key, or the empty slot where it belongs. An empty slot always exists. */
static struct u64_slot *find_slot(struct u64_slot *slots, size_t slot_count, uint64_t key) {
    size_t i = hash_key(slot_count, key) & (slot_count - 1);
    while (slots[i].key != key && slots[i].key != 0)
        i = (i + 1) & (slot_count - 1);
    return &slots[i];
}

static bool double_slots(struct u64_map *map) {
    const size_t slot_count = map->slot_count ? map->slot_count * 2 : FIRST_SLOTS;
    struct u64_slot *slots = mem_zeroed(map->memory, slot_count, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < map->slot_count; i++)
        if (map->slots[i].key)
            *find_slot(slots, slot_count, map->slots[i].key) = map->slots[i];
    mem_free(map->memory, map->slots, map->slot_count, sizeof *slots);
    map->slots = slots;
    map->slot_count = slot_count;
    return true;
}

static uint64_t *zero_at(struct u64_map *map, uint64_t initial, bool *is_new) {
    *is_new = !map->has_zero;
    if (!map->has_zero)
        map->zero_value = initial;
    map->has_zero = true;
    return &map->zero_value;
}

uint64_t *u64_map_at(struct u64_map *map, uint64_t key, uint64_t initial, bool *is_new) {
    bool ignored;
    if (!is_new)
        is_new = &ignored;
    if (key == 0)
        return zero_at(map, initial, is_new);
    if (map->used >= map->slot_count / 4 * 3 && !double_slots(map))
        return NULL;
    struct u64_slot *slot = find_slot(map->slots, map->slot_count, key);
    *is_new = slot->key == 0;
    if (*is_new) {
        *slot = (struct u64_slot){key, initial};
        map->used++;
    }
    return &slot->value;
}

pfr_status u64_map_put(struct u64_map *map, uint64_t key, uint64_t value, pfr_error *err) {
    uint64_t *at = u64_map_at(map, key, value, NULL);
    if (!at)
        return mem_fail(map->memory, err, "map");
    *at = value;
    return PFR_OK;
}

bool u64_map_get(const struct u64_map *map, uint64_t key, uint64_t *value) {
    if (key == 0 && map->has_zero)
        *value = map->zero_value;
    if (key == 0 || !map->slot_count)
        return key == 0 && map->has_zero;
    const struct u64_slot *slot = find_slot(map->slots, map->slot_count, key);
    if (slot->key == 0)
        return false;
    *value = slot->value;
    return true;
}
