/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ADDRESS_RANGES_H
#define PFR_SYMBOL_ADDRESS_RANGES_H
/*
 * Ranges of addresses that may lie in each other, each with a number, made into pieces that do not, in order, to be
 * bisected. Where ranges overlap the one with the highest rank counts.
 *
 *     struct range_list list = {.left = budget};
 *     range_add(&list, memory, (struct address_range){from, end, rank, value});
 *     ranges_flatten(&list, memory, &map);
 *     uint32_t value = range_find(&map, address, &from, &end);
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
    uint64_t left; /* how many more may be added: a file may point to one list of ranges any number of times */
};

struct range_piece {
    uint64_t from;  /* to the next piece */
    uint32_t value; /* RANGE_NONE: in no range */
};

struct range_map {
    struct range_piece *at;
    size_t count, room;
};

/* Empty ranges are left out. FOUND; LIMIT: `left` is used up, or memory; NO_MEMORY. */
enum symbol_result range_add(struct range_list *list, struct memory *memory, struct address_range range);
void range_list_free(struct range_list *list, struct memory *memory);

/* Sorts the list; *map is the caller's to free, after failures too. FOUND, LIMIT, NO_MEMORY. */
enum symbol_result ranges_flatten(struct range_list *list, struct memory *memory, struct range_map *map);
void range_map_free(struct range_map *map, struct memory *memory);

/* The value at an address, and around it the addresses that have the same, in [*from, *end). */
uint32_t range_find(const struct range_map *map, uint64_t address, uint64_t *from, uint64_t *end);

#endif
