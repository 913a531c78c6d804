/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a sled of a function to a map. */
#include "symbol/xray/xray_map.h"
#include "symbol/table/symbol_table.h"

#define IDS_MOST ((uint64_t)1 << 28) /* the largest id that a flight-recorder record can hold */

/* ids usually increase by one from 1. In YAML the ids may be any numbers, so memory is used only for those that
   occur. */
static struct xray_function *function_at(struct xray_map *map, uint64_t id) {
    bool is_new = false;
    if (id <= map->dense)
        return &map->functions[id - 1];
    uint64_t *place = NULL;
    if (id != map->dense + 1 || map->used != map->dense) {
        place = u64_map_at(&map->sparse, id, map->used, &is_new);
        if (!place || !is_new)
            return place ? &map->functions[*place] : NULL;
    }
    struct xray_function *grown =
        mem_grow(map->memory, map->functions, map->used, &map->room, 64, sizeof *map->functions);
    if (!grown)
        return NULL;
    map->functions = grown;
    map->dense += !place;
    map->count = id > map->count ? id : map->count;
    map->functions[map->used] = (struct xray_function){0, 0, NULL};
    return &map->functions[map->used++];
}

enum symbol_result xray_map_add(struct xray_map *map, uint64_t id, uint64_t address, const char *name, size_t length) {
    if (id == 0)
        return SYMBOL_DAMAGED;
    if (id > IDS_MOST)
        return SYMBOL_LIMIT;
    struct xray_function *f = function_at(map, id);
    if (!f)
        return table_memory_result(map->memory);
    f->address = f->sleds++ ? f->address : address;
    if (name && !f->name && !(f->name = arena_text(&map->arena, name, length)))
        return table_memory_result(map->memory);
    return SYMBOL_FOUND;
}
