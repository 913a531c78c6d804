/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_MAP_RUN_H
#define PFR_MODEL_MAP_RUN_H
/*
 * Many maps that no longer change; finds the newest of them at an address and key.
 *
 * The maps are sorted by start. Usually few maps cover an address, and a backward scan from the last map that starts at
 * or below it finds them. If many maps may cover an address (one large map under all others, the same pages mapped
 * repeatedly), a segment tree over the start and end addresses is built in addition. Each map is stored in the few
 * nodes that together cover it, oldest first. A lookup follows one path of the tree and bisects the maps of each node.
 */
#include "base/memory/memory.h"
#include "model/state/record_key.h"

struct map {
    uint64_t start, last; /* both inclusive */
    uint64_t pgoff;
    struct record_key key;
    uint32_t object;
    bool alone; /* no other map of the run overlaps it */
};

/* Node n covers the ranges of nodes 2n and 2n + 1. Leaves, from index `leaves` on, cover the ranges between two
   borders. */
struct map_tree {
    uint64_t *borders; /* first address of each range */
    uint64_t *first;   /* by node: index of its first map in `maps`; one more entry at the end */
    uint32_t *maps;    /* indices, sorted by key within a node */
    size_t leaves, entries;
};

struct map_run {
    struct map *maps; /* sorted by start */
    uint64_t *reach;  /* by map: the greatest `last` of this map and all maps before it */
    size_t count, room;
    struct map_tree tree; /* leaves 0: no tree */
};

#define MAP_STEPS_MOST 32u /* maps that a lookup may scan; if it might scan more, a tree is made */

/* Makes a run of a block that has room for `room` maps and contains `count`, at least 1. Takes ownership of the block,
   and frees it on failure. */
pfr_status map_run_make(struct map_run *run, struct memory *memory, struct map *maps, size_t count, size_t room,
                        pfr_error *err);
void map_run_free(struct map_run *run, struct memory *memory);
/* The newest map that covers the address and has a smaller key; NULL: no such map. */
const struct map *map_run_find(const struct map_run *run, uint64_t address, const struct record_key *key);

/* The newer of two maps, each of which may be NULL. */
static inline const struct map *newer_map(const struct map *a, const struct map *b) {
    return !a || (b && key_before(&a->key, &b->key)) ? b : a;
}

#endif
