/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_ARENA_H
#define PFR_BASE_ARENA_H
/*
 * Many small objects with one lifetime. Bytes are taken in sequence from blocks, whose sizes double from 4 KiB to 2
 * MiB. A pointer stays valid until arena_free, which frees all blocks. A request larger than a block gets a block of
 * its own. If arena->memory refuses memory, the functions that take bytes return NULL (mem_fail reports the reason),
 * and the arena stays usable.
 */
#include "base/memory/memory.h"

struct arena_block;

struct arena {
    struct memory *memory;
    struct arena_block *blocks; /* all blocks, newest first */
    uint8_t *at, *end;          /* the free part of the current block */
    size_t next_block;          /* bytes of the next block */
};

void arena_init(struct arena *arena, struct memory *memory);

/* Frees all bytes taken; the arena is then as after arena_init. */
void arena_free(struct arena *arena);

/* The slow path of arena_take, which needs a new block. */
void *arena_take_more(struct arena *arena, size_t size, size_t align);

/* `size` bytes, uninitialised, aligned to `align`, a power of two of at most 4096. A size of 0 also gives a valid
   pointer. */
static inline void *arena_take(struct arena *arena, size_t size, size_t align) {
    const size_t skip = (size_t)(-(uintptr_t)arena->at & (align - 1));
    const size_t left = (size_t)(arena->end - arena->at);
    if (!arena->at || left < skip || left - skip < size)
        return arena_take_more(arena, size, align);
    uint8_t *taken = arena->at + skip;
    arena->at = taken + size;
    return taken;
}

/* count * size bytes (checked), zeroed, aligned for any type. */
void *arena_zeroed(struct arena *arena, size_t count, size_t size);

/* A copy of `length` bytes, aligned to `align`. bytes may be NULL when length is 0. */
void *arena_copy(struct arena *arena, const void *bytes, size_t length, size_t align);

/* A copy of `length` bytes as text, with a NUL appended. NULs inside are kept. */
char *arena_text(struct arena *arena, const void *bytes, size_t length);

#endif
