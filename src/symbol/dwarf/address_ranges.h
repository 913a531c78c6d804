/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ADDRESS_RANGES_H
#define PFR_SYMBOL_ADDRESS_RANGES_H
/*
 * Converts overlapping address ranges, each with a value, to sorted disjoint pieces for binary search. If ranges
 * overlap, the one with the highest rank counts.
 *
 *  struct range_list list = {.left = budget};
 *  range_add(&list, memory, (struct address_range){from, end, rank, value});
 *  ranges_flatten(&list, memory, &map);
 *  uint32_t value = range_find(&map, address, &from, &end);
 */
#include "symbol/table/symbol_table.h"

#define RANGE_NONE UINT32_MAX

struct address_range {
    uint64_t from, end; /* [from, end) */
    uint32_t rank, value;
};

struct range_list {
    struct address_range *at;
    size_t count, room;
    uint64_t left; /* number of ranges that may still be added, because all entries of a file may refer to the same list
                      of ranges */
};

struct range_piece {
    uint64_t from;  /* the piece ends where the next one begins */
    uint32_t value; /* RANGE_NONE: a gap */
};

struct range_map {
    struct range_piece *at;
    size_t count, room;
};

/* Ignores empty ranges. FOUND; LIMIT: `left` is used up or the memory limit is reached; NO_MEMORY. */
enum symbol_result range_add(struct range_list *list, struct memory *memory, struct address_range range);
void range_list_free(struct range_list *list, struct memory *memory);

/* Sorts the list. The caller frees *map, even after errors. FOUND, LIMIT, NO_MEMORY. */
enum symbol_result ranges_flatten(struct range_list *list, struct memory *memory, struct range_map *map);
void range_map_free(struct range_map *map, struct memory *memory);

/* The value at an address; [*from, *end) is the piece around it. */
uint32_t range_find(const struct range_map *map, uint64_t address, uint64_t *from, uint64_t *end);

#endif
