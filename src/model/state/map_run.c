/* SPDX-License-Identifier: Apache-2.0 */
/* Maps that no longer change: see map_run.h. */
#include "model/state/map_run.h"

#include "base/memory/fail.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b) {
    const struct map *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return key_before(&x->key, &y->key) ? -1 : key_before(&y->key, &x->key);
}

/* --- Backward scan. */

/* Number of maps that start at or below the address. */
static size_t maps_up_to(const struct map_run *run, uint64_t address) {
    size_t low = 0, high = run->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (run->maps[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Scans backwards from the last map that starts at or below the address, as long as an earlier map can still reach
   it. */
static const struct map *find_backwards(const struct map_run *run, uint64_t address, const struct record_key *key) {
    const struct map *best = NULL;
    for (size_t i = maps_up_to(run, address); i-- > 0 && run->reach[i] >= address;) {
        const struct map *m = &run->maps[i];
        if (m->last >= address && key_before(&m->key, key))
            best = newer_map(best, m);
    }
    return best;
}

/* Maximum number of maps that a backward scan may visit. `reach` never decreases, so the first map that reaches a start
   only moves forward. */
static size_t steps_most(const struct map_run *run) {
    size_t most = 0, from = 0;
    for (size_t i = 0; i < run->count; i++) {
        while (run->reach[from] < run->maps[i].start)
            from++;
        if (i - from > most)
            most = i - from;
    }
    return most;
}

/* --- The tree. */

static int by_address(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Lists the addresses at which maps begin or end, each once; returns their number. */
static size_t list_borders(const struct map_run *run, uint64_t *borders) {
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < run->count; i++) {
        borders[count++] = run->maps[i].start;
        if (run->maps[i].last != UINT64_MAX)
            borders[count++] = run->maps[i].last + 1;
    }
    qsort(borders, count, sizeof *borders, by_address);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || borders[kept - 1] != borders[i])
            borders[kept++] = borders[i];
    return kept;
}

/* The range that contains the address; SIZE_MAX: the address is below all ranges. */
static size_t chunk_of(const struct map_tree *t, uint64_t address) {
    size_t low = 0, high = t->leaves;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (t->borders[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

typedef void visit_fn(struct map_tree *t, size_t node, uint32_t map);

/* Visits the nodes that together cover all ranges of a map. */
static void visit_nodes(struct map_tree *t, const struct map *m, uint32_t map, visit_fn *visit) {
    size_t low = chunk_of(t, m->start) + t->leaves, high = chunk_of(t, m->last) + 1 + t->leaves;
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1)
            visit(t, low++, map);
        if (high & 1)
            visit(t, --high, map);
    }
}

static void count_map(struct map_tree *t, size_t node, uint32_t map) {
    (void)map;
    t->first[node + 1]++;
    t->entries++;
}

/* Stores a map in a node. first[node] moves up to where the next map of the node goes. */
static void put_map(struct map_tree *t, size_t node, uint32_t map) {
    t->maps[t->first[node]++] = map;
}

static int map_by_key(const void *a, const void *b) {
    const struct map *x = *(const struct map *const *)a, *y = *(const struct map *const *)b;
    return key_before(&x->key, &y->key) ? -1 : key_before(&y->key, &x->key);
}

static void free_tree(struct map_tree *t, struct memory *memory, size_t count) {
    mem_free(memory, t->borders, t->borders ? 2 * count : 0, sizeof *t->borders);
    mem_free(memory, t->first, t->first ? 2 * t->leaves + 1 : 0, sizeof *t->first);
    mem_free(memory, t->maps, t->maps ? t->entries : 0, sizeof *t->maps);
    *t = (struct map_tree){0};
}

/* Stores every map in its nodes. The oldest map is stored first, so the lists of the nodes are sorted by key. */
static void fill_tree(struct map_run *run, const struct map **oldest) {
    struct map_tree *t = &run->tree;
    for (size_t i = 0; i < run->count; i++)
        oldest[i] = &run->maps[i];
    qsort(oldest, run->count, sizeof *oldest, map_by_key);
    for (size_t node = 0; node < 2 * t->leaves; node++)
        t->first[node + 1] += t->first[node];
    for (size_t i = 0; i < run->count; i++)
        visit_nodes(t, oldest[i], (uint32_t)(oldest[i] - run->maps), put_map);
    for (size_t node = 2 * t->leaves; node > 0; node--) /* moves back the begins that put_map has moved */
        t->first[node] = t->first[node - 1];
    t->first[0] = 0;
}

static pfr_status make_tree(struct map_run *run, struct memory *memory, pfr_error *err) {
    struct map_tree *t = &run->tree;
    t->borders = mem_alloc(memory, 2 * run->count, sizeof *t->borders);
    if (!t->borders)
        return mem_fail(memory, err, "maps");
    t->leaves = list_borders(run, t->borders);
    t->first = mem_zeroed(memory, 2 * t->leaves + 1, sizeof *t->first);
    if (!t->first)
        return mem_fail(memory, err, "maps");
    for (size_t i = 0; i < run->count; i++)
        visit_nodes(t, &run->maps[i], 0, count_map);
    t->maps = mem_alloc(memory, t->entries, sizeof *t->maps);
    const struct map **oldest = mem_alloc(memory, run->count, sizeof *oldest);
    if (t->maps && oldest)
        fill_tree(run, oldest);
    const pfr_status st = t->maps && oldest ? PFR_OK : mem_fail(memory, err, "maps");
    mem_free(memory, oldest, oldest ? run->count : 0, sizeof *oldest);
    return st;
}

/* The newest map of a node that has a smaller key than `key`. */
static const struct map *find_in_node(const struct map_run *run, size_t node, const struct record_key *key) {
    const struct map_tree *t = &run->tree;
    size_t low = t->first[node], high = t->first[node + 1];
    const size_t begin = low;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (key_before(&run->maps[t->maps[middle]].key, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low > begin ? &run->maps[t->maps[low - 1]] : NULL;
}

static const struct map *find_in_tree(const struct map_run *run, uint64_t address, const struct record_key *key) {
    const struct map *best = NULL;
    const size_t chunk = chunk_of(&run->tree, address);
    if (chunk == SIZE_MAX)
        return NULL;
    for (size_t node = chunk + run->tree.leaves; node > 0; node /= 2)
        best = newer_map(best, find_in_node(run, node, key));
    return best;
}

/* --- Backward scan and tree. */

pfr_status map_run_make(struct map_run *run, struct memory *memory, struct map *maps, size_t count, size_t room,
                        pfr_error *err) {
    *run = (struct map_run){.maps = maps, .count = count, .room = room};
    pfr_status st = PFR_OK;
    qsort(maps, count, sizeof *maps, by_start);
    run->reach = mem_alloc(memory, count, sizeof *run->reach);
    if (!run->reach)
        st = mem_fail(memory, err, "maps");
    for (size_t m = 0; m < count && st == PFR_OK; m++)
        run->reach[m] = m && run->reach[m - 1] > maps[m].last ? run->reach[m - 1] : maps[m].last;
    for (size_t m = 0; m < count && st == PFR_OK; m++)
        maps[m].alone =
            (m == 0 || run->reach[m - 1] < maps[m].start) && (m + 1 == count || maps[m + 1].start > maps[m].last);
    if (st == PFR_OK && count <= UINT32_MAX && steps_most(run) > MAP_STEPS_MOST)
        st = make_tree(run, memory, err);
    if (st < 0)
        map_run_free(run, memory);
    return st;
}

void map_run_free(struct map_run *run, struct memory *memory) {
    free_tree(&run->tree, memory, run->count);
    mem_free(memory, run->reach, run->reach ? run->count : 0, sizeof *run->reach);
    mem_free(memory, run->maps, run->room, sizeof *run->maps);
    *run = (struct map_run){0};
}

const struct map *map_run_find(const struct map_run *run, uint64_t address, const struct record_key *key) {
    return run->tree.leaves ? find_in_tree(run, address, key) : find_backwards(run, address, key);
}
