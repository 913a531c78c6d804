/* SPDX-License-Identifier: Apache-2.0 */
/* Slabs and free tables: see distribution_memory.h. */
#include "model/latency/distribution_memory.h"

#include <string.h>

#define NO_SIZE SPREAD_TABLE_SIZES

/* Large slabs are mapped pages (base/memory/pages.h). */
static size_t slab_size(unsigned number) {
    static const size_t first[] = {(size_t)64 << 10, (size_t)256 << 10};
    return number < sizeof first / sizeof *first ? first[number] : (size_t)4 << 20;
}

static size_t bytes_of(unsigned index) {
    return (size_t)1 << (index + SPREAD_TABLE_LEAST_BITS);
}

/* The smallest size for this many bytes; NO_SIZE: not allocated from slabs. */
static unsigned size_for(const struct distribution_tables *t, size_t bytes) {
    unsigned index = 0;
    if (!t->memory->pages || bytes <= bytes_of(0) / 2 || bytes > bytes_of(SPREAD_TABLE_SIZES - 1))
        return NO_SIZE;
    while (bytes_of(index) < bytes)
        index++;
    return index;
}

static bool is_in_slab(const struct distribution_tables *t, const void *at) {
    for (unsigned i = 0; i < t->count; i++)
        if ((uintptr_t)at - (uintptr_t)t->slabs[i] < slab_size(i))
            return true;
    return false;
}

/* If memory for a slab is lacking, a smaller allocation may still succeed. */
static bool add_slab(struct distribution_tables *t) {
    struct memory sparing;
    if (t->count == SPREAD_SLABS)
        return false;
    memory_share_sparing(&sparing, t->memory);
    char *slab = mem_zeroed(&sparing, slab_size(t->count), 1);
    if (!slab)
        return false;
    t->slabs[t->count++] = slab;
    t->used = 0;
    return true;
}

/* Cuts a piece off the last slab; it is zero, as new slabs are. NULL: no memory. */
static void *cut_off(struct distribution_tables *t, size_t bytes) {
    while (t->count == 0 || slab_size(t->count - 1) - t->used < bytes)
        if (!add_slab(t))
            return NULL;
    void *at = t->slabs[t->count - 1] + t->used;
    t->used += bytes;
    return at;
}

void *distribution_table_take(struct distribution_tables *t, size_t count, size_t size, bool zeroed) {
    const unsigned index = size_for(t, count * size);
    void *at = index == NO_SIZE ? NULL : t->given_back[index];
    if (at) {
        memcpy(&t->given_back[index], at, sizeof t->given_back[index]);
        return zeroed ? memset(at, 0, count * size) : at;
    }
    if (index != NO_SIZE)
        at = cut_off(t, bytes_of(index));
    if (at)
        return at;
    return zeroed ? mem_zeroed(t->memory, count, size) : mem_alloc(t->memory, count, size);
}

void distribution_table_give(struct distribution_tables *t, void *at, size_t count, size_t size) {
    if (!at)
        return;
    if (!is_in_slab(t, at)) {
        mem_free(t->memory, at, count, size);
        return;
    }
    const unsigned index = size_for(t, count * size);
    memcpy(at, &t->given_back[index], sizeof t->given_back[index]);
    t->given_back[index] = at;
}

void distribution_tables_free(struct distribution_tables *t) {
    for (unsigned i = 0; i < t->count; i++)
        mem_free(t->memory, t->slabs[i], slab_size(i), 1);
    *t = (struct distribution_tables){.memory = t->memory};
}
