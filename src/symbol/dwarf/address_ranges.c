/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sweeps over the ranges in order of their starts. Open ranges are in a heap by rank; a range that has ended is removed
 * when it reaches the top. Each range is pushed and popped once, so the cost is O(n log n).
 */
#include "symbol/dwarf/address_ranges.h"

#include <stdlib.h>

enum symbol_result range_add(struct range_list *list, struct memory *memory, struct address_range range) {
    if (range.from >= range.end)
        return SYMBOL_FOUND;
    if (list->left == 0)
        return SYMBOL_LIMIT;
    struct address_range *grown = mem_grow(memory, list->at, list->count, &list->room, 64, sizeof *grown);
    if (!grown)
        return table_memory_result(memory);
    list->at = grown;
    list->at[list->count++] = range;
    list->left--;
    return SYMBOL_FOUND;
}

void range_list_free(struct range_list *list, struct memory *memory) {
    mem_free(memory, list->at, list->room, sizeof *list->at);
    *list = (struct range_list){.left = list->left};
}

static int compare_ranges(const void *a, const void *b) {
    const struct address_range *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The open ranges, as a binary heap: entry i is the parent of 2i + 1 and 2i + 2. */
struct heap {
    const struct address_range *ranges;
    size_t *at, count;
};

static bool is_above(const struct heap *h, size_t a, size_t b) {
    return h->ranges[h->at[a]].rank > h->ranges[h->at[b]].rank;
}

static void swap_entries(struct heap *h, size_t a, size_t b) {
    const size_t was = h->at[a];
    h->at[a] = h->at[b];
    h->at[b] = was;
}

static void push(struct heap *h, size_t range) {
    size_t at = h->count++;
    h->at[at] = range;
    for (; at > 0 && is_above(h, at, (at - 1) / 2); at = (at - 1) / 2)
        swap_entries(h, at, (at - 1) / 2);
}

static void pop(struct heap *h) {
    size_t at = 0;
    h->at[0] = h->at[--h->count];
    for (;;) {
        size_t best = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < h->count; child++)
            if (is_above(h, child, best))
                best = child;
        if (best == at)
            return;
        swap_entries(h, at, best);
        at = best;
    }
}

static bool emit(struct range_map *map, struct memory *memory, uint64_t from, uint32_t value) {
    if (map->count && map->at[map->count - 1].value == value)
        return true;
    struct range_piece *grown = mem_grow(memory, map->at, map->count, &map->room, 64, sizeof *grown);
    if (!grown)
        return false;
    map->at = grown;
    map->at[map->count++] = (struct range_piece){from, value};
    return true;
}

static bool sweep(const struct range_list *list, struct heap *h, struct memory *memory, struct range_map *map) {
    uint64_t at = 0;
    for (size_t next = 0;;) {
        while (h->count && list->at[h->at[0]].end <= at)
            pop(h);
        if (h->count == 0 && map->count && !emit(map, memory, at, RANGE_NONE))
            return false;
        if (h->count == 0 && next == list->count)
            return true;
        if (h->count == 0)
            at = list->at[next].from;
        while (next < list->count && list->at[next].from <= at)
            push(h, next++);
        const struct address_range *top = &list->at[h->at[0]];
        if (!emit(map, memory, at, top->value))
            return false;
        at = next < list->count && list->at[next].from < top->end ? list->at[next].from : top->end;
    }
}

/* Removes pieces without addresses, which sweep() leaves where a gap would begin but the next range begins at once. */
static void drop_empty(struct range_map *map) {
    size_t kept = 0;
    for (size_t i = 0; i < map->count; i++)
        if (i + 1 == map->count || map->at[i].from != map->at[i + 1].from)
            map->at[kept++] = map->at[i];
    map->count = kept;
}

enum symbol_result ranges_flatten(struct range_list *list, struct memory *memory, struct range_map *map) {
    *map = (struct range_map){0};
    if (list->count == 0)
        return SYMBOL_FOUND;
    qsort(list->at, list->count, sizeof *list->at, compare_ranges);
    struct heap heap = {.ranges = list->at, .at = mem_alloc(memory, list->count, sizeof *heap.at)};
    const bool done = heap.at && sweep(list, &heap, memory, map);
    mem_free(memory, heap.at, list->count, sizeof *heap.at);
    if (!done)
        return table_memory_result(memory);
    drop_empty(map);
    struct range_piece *trimmed = mem_trim(memory, map->at, map->count, &map->room, sizeof *trimmed);
    if (!trimmed)
        return table_memory_result(memory);
    map->at = trimmed;
    return SYMBOL_FOUND;
}

void range_map_free(struct range_map *map, struct memory *memory) {
    mem_free(memory, map->at, map->room, sizeof *map->at);
    *map = (struct range_map){0};
}

uint32_t range_find(const struct range_map *map, uint64_t address, uint64_t *from, uint64_t *end) {
    size_t low = 0, high = map->count; /* the first piece after the address */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (map->at[middle].from <= address)
            low = middle + 1;
        else
            high = middle;
    }
    *from = low ? map->at[low - 1].from : 0;
    *end = low < map->count ? map->at[low].from : UINT64_MAX;
    return low ? map->at[low - 1].value : RANGE_NONE;
}
