/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_LIBRARY_MEMORY_H
#define PFR_BASE_LIBRARY_MEMORY_H
/* Allocation callbacks for libraries. Libraries free a block without its size, so each block stores it in a header. */
#include "base/memory/memory.h"

#include <string.h>

#define BLOCK_HEADER ((size_t)16) /* keeps the alignment of malloc */

static inline void *library_allocate(struct memory *memory, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || __builtin_add_overflow(bytes, BLOCK_HEADER, &bytes))
        bytes = SIZE_MAX;
    uint8_t *block = mem_alloc(memory, bytes, 1);
    if (!block)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    return block + BLOCK_HEADER;
}

static inline void library_free(struct memory *memory, void *at) {
    if (!at)
        return;
    uint8_t *block = (uint8_t *)at - BLOCK_HEADER;
    size_t bytes;
    memcpy(&bytes, block, sizeof bytes);
    mem_free(memory, block, bytes, 1);
}

#endif
