/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DISTRIBUTION_MEMORY_H
#define PFR_MODEL_DISTRIBUTION_MEMORY_H
/*
 * Memory for the arrays of spreads: hundreds of them, of some kB each, that grow side by side and give their room to
 * others. Sizes are rounded up to powers of two, what is given back is kept for the next of its size, and new ones are
 * cut off slabs, the later the larger: so few that the kernel is rarely asked. Arrays of other sizes, and those for
 * which no slab can be had, are blocks of their own, as all are where the allocator is not malloc.
 *
 *     struct distribution_tables t = {.memory = memory};
 *     uint32_t *counts = distribution_table_take(&t, 1000, sizeof *counts, true);
 *     distribution_table_give(&t, counts, 1000, sizeof *counts);
 *     distribution_tables_free(&t);                    after all were given back
 */
#include "base/memory/memory.h"

#define SPREAD_TABLE_LEAST_BITS 10u /* of bytes */
#define SPREAD_TABLE_SIZES 6u       /* from there on; large ones are blocks of their own */
#define SPREAD_SLABS 20u

struct distribution_tables {
    struct memory *memory;
    char *slabs[SPREAD_SLABS];
    unsigned count;
    size_t used; /* of the last one */
    void *given_back[SPREAD_TABLE_SIZES];
};

/* NULL: memory, limit. */
void *distribution_table_take(struct distribution_tables *tables, size_t count, size_t size, bool zeroed);
/* NULL is fine; count and size are those it was made with. */
void distribution_table_give(struct distribution_tables *tables, void *at, size_t count, size_t size);
void distribution_tables_free(struct distribution_tables *tables);

#endif
