/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_MAP_RUN_H
#define PFR_MODEL_MAP_RUN_H
/*
 * Many maps that no longer change, and which of them is the newest at an address and a moment.
 *
 * They lie sorted by start. Mostly few cover one address, and a look backwards from the last that starts below it finds
 * them; where many do (a large map below all others, the same pages mapped again and again) a segment tree over all
 * borders is built beside them: each map stands in the few nodes that make it up, oldest first, and a lookup bisects
 * the nodes on one path.
 */
#include "base/memory/memory.h"
#include "model/state/record_key.h"

struct map {
    uint64_t start, last; /* both inclusive */
    uint64_t pgoff;
    struct record_key key;
    uint32_t object;
    bool alone; /* of a run: no other overlaps it */
};

/* Node n stands for what 2n and 2n + 1 stand for; leaves, from `leaves` on, for the stretches between two borders. */
struct map_tree {
    uint64_t *borders; /* first address of each stretch */
    uint64_t *first;   /* by node: where its maps begin in `maps`; one more at the end */
    uint32_t *maps;    /* indices, by key within a node */
    size_t leaves, entries;
};

struct map_run {
    struct map *maps; /* by start */
    uint64_t *reach;  /* greatest `last` of maps[0..i] */
    size_t count, room;
    struct map_tree tree; /* leaves 0: none */
};

#define MAP_STEPS_MOST 32u /* maps that a lookup looks at before a tree is worth its memory */

/* Takes the block of `room` maps over, `count` of them used, at least one; frees it when it fails. */
pfr_status map_run_make(struct map_run *run, struct memory *memory, struct map *maps, size_t count, size_t room,
                        pfr_error *err);
void map_run_free(struct map_run *run, struct memory *memory);
/* The newest that covers the address and has a smaller key; NULL: none. */
const struct map *map_run_find(const struct map_run *run, uint64_t address, const struct record_key *key);

/* Of two maps, each of which may be NULL. */
static inline const struct map *newer_map(const struct map *a, const struct map *b) {
    return !a || (b && key_before(&a->key, &b->key)) ? b : a;
}

#endif
