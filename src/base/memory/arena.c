/* SPDX-License-Identifier: Apache-2.0 */
/* The arena's blocks form a list; each is a header followed by the bytes handed out. */
#include <assert.h>
#include <string.h>
#include "base/memory/arena.h"

#define FIRST_BLOCK ((size_t)4 << 10)
#define LARGEST_BLOCK ((size_t)2 << 20) /* a large page, if the system has them: see memory.c */

struct arena_block {
    struct arena_block *next;
    size_t size; /* bytes of the whole block, including this header */
};

void arena_init(struct arena *arena, struct memory *memory) {
    *arena = (struct arena){.memory = memory, .next_block = FIRST_BLOCK};
}

void arena_free(struct arena *arena) {
    struct arena_block *block = arena->blocks;
    while (block) {
        struct arena_block *next = block->next;
        mem_free(arena->memory, block, block->size, 1);
        block = next;
    }
    arena_init(arena, arena->memory);
}

static uint8_t *add_block(struct arena *arena, size_t size) {
    struct arena_block *block = mem_alloc(arena->memory, size, 1);
    if (!block)
        return NULL;
    block->next = arena->blocks;
    block->size = size;
    arena->blocks = block;
    return (uint8_t *)(block + 1);
}

static uint8_t *align_up(uint8_t *at, size_t align) {
    return at + (-(uintptr_t)at & (align - 1));
}

/* Allocates a separate block; the current block stays in use. */
static void *take_own_block(struct arena *arena, size_t size, size_t align) {
    uint8_t *at = add_block(arena, size);
    return at ? align_up(at, align) : NULL;
}

void *arena_take_more(struct arena *arena, size_t size, size_t align) {
    assert(align && (align & (align - 1)) == 0 && align <= 4096);
    size_t whole;
    if (__builtin_add_overflow(size, sizeof(struct arena_block) + align, &whole))
        whole = SIZE_MAX;
    if (whole > arena->next_block)
        return take_own_block(arena, whole, align);
    uint8_t *at = add_block(arena, arena->next_block);
    if (!at)
        return NULL;
    arena->end = (uint8_t *)arena->blocks + arena->next_block;
    uint8_t *taken = align_up(at, align);
    arena->at = taken + size;
    if (arena->next_block < LARGEST_BLOCK)
        arena->next_block *= 2;
    return taken;
}

void *arena_zeroed(struct arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX;
    void *at = arena_take(arena, bytes, _Alignof(max_align_t));
    return at ? memset(at, 0, bytes) : NULL;
}

void *arena_copy(struct arena *arena, const void *bytes, size_t length, size_t align) {
    void *at = arena_take(arena, length, align);
    if (at && length)
        memcpy(at, bytes, length);
    return at;
}

char *arena_text(struct arena *arena, const void *bytes, size_t length) {
    char *at = arena_take(arena, length < SIZE_MAX ? length + 1 : length, 1);
    if (!at)
        return NULL;
    if (length)
        memcpy(at, bytes, length);
    at[length] = '\0';
    return at;
}
