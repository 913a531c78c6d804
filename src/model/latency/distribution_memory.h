/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DISTRIBUTION_MEMORY_H
#define PFR_MODEL_DISTRIBUTION_MEMORY_H
/*
 * Memory for the arrays of distributions: hundreds of arrays of some kB each, which grow and are freed side by side.
 * Sizes are rounded up to powers of two. Freed arrays are kept for the next one of the same size, and new arrays are
 * cut off slabs. Later slabs are larger, so that the kernel is rarely asked for memory. Arrays of other sizes are
 * allocated separately. If there is no memory for a slab, or the allocator is not malloc, every array is allocated
 * separately.
 *
 *     struct distribution_tables t = {.memory = memory};
 *     uint32_t *counts = distribution_table_take(&t, 1000, sizeof *counts, true);
 *     distribution_table_give(&t, counts, 1000, sizeof *counts);
 *     distribution_tables_free(&t);                    after all were given back
 */
#include "base/memory/memory.h"

#define SPREAD_TABLE_LEAST_BITS 10u /* log2 of the smallest size in bytes */
#define SPREAD_TABLE_SIZES 6u       /* number of sizes; larger arrays are allocated separately */
#define SPREAD_SLABS 20u

struct distribution_tables {
    struct memory *memory;
    char *slabs[SPREAD_SLABS];
    unsigned count;
    size_t used; /* bytes used in the last slab */
    void *given_back[SPREAD_TABLE_SIZES];
};

/* NULL: no memory, or the limit was reached. */
void *distribution_table_take(struct distribution_tables *tables, size_t count, size_t size, bool zeroed);
/* NULL is allowed. `count` and `size` are those with which the array was allocated. */
void distribution_table_give(struct distribution_tables *tables, void *at, size_t count, size_t size);
void distribution_tables_free(struct distribution_tables *tables);

#endif
