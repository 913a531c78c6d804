/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SYMBOL_GROUPS_H
#define PFR_SYMBOL_SYMBOL_GROUPS_H
/*
 * Finds symbols of an object of which few symbols are ever looked up. Adding a symbol only links it into a bucket by
 * its start address. When an address is first looked up, a symbol_table is made from the symbols around the address.
 *
 *  bucket       0      1      2      3      4
 *  symbols     |ff gg |g hhiii|iijjj |kk kk |ll
 *  group of 2  |         |iiiiijjj   |              no symbol crosses the border of a group
 *
 * So a group's table gives the same result as one table of all symbols. A group has at least one bucket, and contains
 * only the symbols between the nearest borders around its buckets. A symbol without a size extends to the next symbol,
 * wherever that is.
 *
 *  groups_init(&groups, memory, low, high, count);    most starts are in [low, high)
 *  groups_add(&groups, number, start, size);          numbers below count, in the order of a table
 *  groups_seal(&groups);
 *  groups_find(&groups, address, (struct group_source){extent, add, context}, &symbol);
 */
#include "symbol/table/symbol_table.h"

struct symbol_bucket {
    uint64_t reach;     /* highest end of the bucket's symbols; after groups_seal: highest end of the symbols in earlier
                           buckets */
    uint32_t last : 31; /* number of its last symbol + 1; 0: the bucket is empty */
    uint32_t has_unsized : 1; /* a symbol of the bucket has no size */
    uint32_t group : 31;      /* index in `tables` + 1; 0: not made yet */
    uint32_t begins : 1;      /* no symbol of an earlier bucket extends into this bucket */
};

struct symbol_groups {
    struct memory *memory;
    struct symbol_bucket *buckets; /* first: addresses below `low`; last: all addresses after the other buckets */
    uint32_t *next;                /* indexed by symbol: number + 1 of another symbol in its bucket; 0: no other */
    struct symbol_table *tables;
    size_t bucket_count, count, table_count, table_room;
    uint64_t low;
    unsigned shift;
};

struct group_source {
    /* Start and size of a symbol, by its number. */
    void (*extent)(void *context, uint32_t number, uint64_t *start, uint64_t *size);
    /* Adds a symbol to the table, or skips it. FOUND, LIMIT, NO_MEMORY, IO. */
    enum symbol_result (*add)(void *context, uint32_t number, struct symbol_table *table);
    void *context;
};

/* `count`: maximum number of symbols to add. FOUND, LIMIT, NO_MEMORY. */
enum symbol_result groups_init(struct symbol_groups *groups, struct memory *memory, uint64_t low, uint64_t high,
                               size_t count);
void groups_free(struct symbol_groups *groups);

static inline size_t groups_bucket(const struct symbol_groups *groups, uint64_t address) {
    if (address < groups->low)
        return 0;
    const uint64_t at = ((address - groups->low) >> groups->shift) + 1;
    return at < groups->bucket_count ? (size_t)at : groups->bucket_count - 1;
}

static inline void groups_add(struct symbol_groups *groups, uint32_t number, uint64_t start, uint64_t size) {
    struct symbol_bucket *bucket = &groups->buckets[groups_bucket(groups, start)];
    const uint64_t end = size > UINT64_MAX - start ? UINT64_MAX : start + size;
    groups->next[number] = bucket->last;
    bucket->last = (number + 1) & 0x7fffffffu;
    bucket->reach = end > bucket->reach ? end : bucket->reach;
    bucket->has_unsized |= size == 0;
}

void groups_seal(struct symbol_groups *groups);

/* Like symbol_source.find, but [from, end) may be shorter because it stays within a group. */
enum symbol_result groups_find(struct symbol_groups *groups, uint64_t address, struct group_source source,
                               struct symbol *symbol);

#endif
