/* SPDX-License-Identifier: Apache-2.0 */
/* The counting allocator: checked products, a limit met before the allocator is asked. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "bounds.h"
#include "fail.h"
#include "memory.h"

#define LARGE_PAGE ((uintptr_t)2 << 20)

static void *libc_allocate(void *context, size_t size) {
    (void)context;
    return malloc(size);
}

static void *libc_resize(void *context, void *old, size_t size) {
    (void)context;
    return realloc(old, size);
}

static void libc_release(void *context, void *at) {
    (void)context;
    free(at);
}

void memory_init(struct memory *memory, const pfr_alloc *alloc, uint64_t limit) {
    static const pfr_alloc libc = {libc_allocate, libc_resize, libc_release, NULL};
    *memory = (struct memory){.alloc = alloc ? *alloc : libc, .limit = limit ? limit : DEFAULT_LIMIT_MEMORY};
}

static void *refuse(struct memory *memory, pfr_status status, uint64_t wanted) {
    memory->failed = status;
    memory->wanted = wanted;
    return NULL;
}

/* count * size, at least 1; SIZE_MAX stands for "more than there can be", which no limit lets through. */
static size_t block_size(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return SIZE_MAX;
    return bytes ? bytes : 1;
}

static bool fits(const struct memory *memory, uint64_t bytes) {
    return bytes < SIZE_MAX / 2 && memory->used <= memory->limit && bytes <= memory->limit - memory->used;
}

static void count_used(struct memory *memory, uint64_t bytes) {
    memory->used += bytes;
    if (memory->used > memory->peak)
        memory->peak = memory->used;
}

bool mem_charge(struct memory *memory, uint64_t bytes) {
    if (!fits(memory, bytes)) {
        refuse(memory, PFR_ERR_LIMIT, bytes);
        return false;
    }
    count_used(memory, bytes);
    return true;
}

void mem_discharge(struct memory *memory, uint64_t bytes) {
    assert(bytes <= memory->used);
    memory->used -= bytes;
}

void *mem_alloc(struct memory *memory, size_t count, size_t size) {
    const size_t bytes = block_size(count, size);
    if (!fits(memory, bytes))
        return refuse(memory, PFR_ERR_LIMIT, bytes);
    void *at = memory->alloc.allocate(memory->alloc.context, bytes);
    if (!at)
        return refuse(memory, PFR_ERR_MEMORY, bytes);
    count_used(memory, bytes);
    return at;
}

void *mem_zeroed(struct memory *memory, size_t count, size_t size) {
    void *at = mem_alloc(memory, count, size);
    return at ? memset(at, 0, block_size(count, size)) : NULL;
}

/* Of the pages that lie wholly in the block; what stands beside it is none of ours. */
void mem_is_table(void *at, size_t count, size_t size) {
    const uintptr_t from = ((uintptr_t)at + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    const uintptr_t end = ((uintptr_t)at + count * size) & ~(LARGE_PAGE - 1);
    if (end > from)
        madvise((void *)from, end - from, MADV_HUGEPAGE);
}

void *mem_zeroed_table(struct memory *memory, size_t count, size_t size) {
    void *at = mem_alloc(memory, count, size);
    if (at) {
        mem_is_table(at, count, size);
        memset(at, 0, block_size(count, size));
    }
    return at;
}

void *mem_resize(struct memory *memory, void *at, size_t old_count, size_t new_count, size_t size) {
    if (!at)
        return mem_alloc(memory, new_count, size);
    const size_t old_bytes = block_size(old_count, size), bytes = block_size(new_count, size);
    if (bytes > old_bytes && !fits(memory, bytes - old_bytes))
        return refuse(memory, PFR_ERR_LIMIT, bytes);
    void *moved = memory->alloc.resize(memory->alloc.context, at, bytes);
    if (!moved)
        return refuse(memory, PFR_ERR_MEMORY, bytes);
    mem_discharge(memory, old_bytes);
    count_used(memory, bytes);
    return moved;
}

void mem_free(struct memory *memory, void *at, size_t count, size_t size) {
    if (!at)
        return;
    mem_discharge(memory, block_size(count, size));
    memory->alloc.release(memory->alloc.context, at);
}

pfr_status mem_fail(const struct memory *memory, pfr_error *err, const char *where) {
    if (memory->failed == PFR_ERR_LIMIT)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, where,
                        "%s: a request of %" PRIu64 " bytes passes the limit memory (%" PRIu64 ", in use %" PRIu64 ")",
                        where, memory->wanted, memory->limit, memory->used);
    return pfr_fail(err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, where, "out of memory: %s needs %" PRIu64 " bytes", where,
                    memory->wanted);
}

void *mem_grow(struct memory *memory, void *at, size_t count, size_t *capacity, size_t first, size_t size) {
    if (count < *capacity)
        return at;
    const size_t wanted = *capacity > SIZE_MAX / 2 ? SIZE_MAX : *capacity ? *capacity * 2 : first;
    void *grown = mem_resize(memory, at, *capacity, wanted, size);
    if (grown)
        *capacity = wanted;
    return grown;
}
