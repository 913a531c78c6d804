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

#define GROWS_LESS ((size_t)1 << 20) /* bytes */
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

void memory_share(struct memory *memory, struct memory *of) {
    *memory = (struct memory){.alloc = of->alloc, .limit = of->limit, .of = of};
}

static void *refuse(struct memory *memory, pfr_status status, uint64_t wanted) {
    __atomic_store_n(&memory->failed, status, __ATOMIC_RELAXED);
    __atomic_store_n(&memory->wanted, wanted, __ATOMIC_RELAXED);
    return NULL;
}

/* count * size, at least 1; SIZE_MAX stands for "more than there can be", which no limit lets through. */
static size_t block_size(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return SIZE_MAX;
    return bytes ? bytes : 1;
}

static void raise_peak(struct memory *memory, uint64_t used) {
    uint64_t peak = __atomic_load_n(&memory->peak, __ATOMIC_RELAXED);
    while (used > peak &&
           !__atomic_compare_exchange_n(&memory->peak, &peak, used, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

void mem_discharge(struct memory *memory, uint64_t bytes) {
    for (; memory; memory = memory->of) {
        const uint64_t used = __atomic_fetch_sub(&memory->used, bytes, __ATOMIC_RELAXED);
        assert(bytes <= used);
        (void)used;
    }
}

/* Counts bytes as used; false: they pass the limit. */
static bool reserve(struct memory *memory, uint64_t bytes) {
    uint64_t used = __atomic_load_n(&memory->used, __ATOMIC_RELAXED);
    if (memory->of && !reserve(memory->of, bytes))
        return false;
    do {
        if (bytes >= SIZE_MAX / 2 || used > memory->limit || bytes > memory->limit - used) {
            if (memory->of)
                mem_discharge(memory->of, bytes);
            return false;
        }
    } while (
        !__atomic_compare_exchange_n(&memory->used, &used, used + bytes, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    raise_peak(memory, used + bytes);
    return true;
}

bool mem_charge(struct memory *memory, uint64_t bytes) {
    if (reserve(memory, bytes))
        return true;
    refuse(memory, PFR_ERR_LIMIT, bytes);
    return false;
}

void *mem_alloc(struct memory *memory, size_t count, size_t size) {
    const size_t bytes = block_size(count, size);
    if (!reserve(memory, bytes))
        return refuse(memory, PFR_ERR_LIMIT, bytes);
    void *at = memory->alloc.allocate(memory->alloc.context, bytes);
    if (at)
        return at;
    mem_discharge(memory, bytes);
    return refuse(memory, PFR_ERR_MEMORY, bytes);
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

void *mem_alloc_table(struct memory *memory, size_t count, size_t size) {
    void *at = mem_alloc(memory, count, size);
    if (at)
        mem_is_table(at, count, size);
    return at;
}

void *mem_zeroed_table(struct memory *memory, size_t count, size_t size) {
    void *at = mem_alloc_table(memory, count, size);
    return at ? memset(at, 0, block_size(count, size)) : NULL;
}

void *mem_resize(struct memory *memory, void *at, size_t old_count, size_t new_count, size_t size) {
    if (!at)
        return mem_alloc(memory, new_count, size);
    const size_t old_bytes = block_size(old_count, size), bytes = block_size(new_count, size);
    const size_t more = bytes > old_bytes ? bytes - old_bytes : 0;
    if (!reserve(memory, more))
        return refuse(memory, PFR_ERR_LIMIT, bytes);
    void *moved = memory->alloc.resize(memory->alloc.context, at, bytes);
    if (!moved) {
        mem_discharge(memory, more);
        return refuse(memory, PFR_ERR_MEMORY, bytes);
    }
    mem_discharge(memory, old_bytes + more - bytes);
    return moved;
}

void mem_free(struct memory *memory, void *at, size_t count, size_t size) {
    if (!at)
        return;
    mem_discharge(memory, block_size(count, size));
    memory->alloc.release(memory->alloc.context, at);
}

pfr_status mem_fail(const struct memory *memory, pfr_error *err, const char *where) {
    const uint64_t wanted = __atomic_load_n(&memory->wanted, __ATOMIC_RELAXED);
    const uint64_t used = __atomic_load_n(memory->of ? &memory->of->used : &memory->used, __ATOMIC_RELAXED);
    if (mem_failure(memory) == PFR_ERR_LIMIT)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, where,
                        "%s: a request of %" PRIu64 " bytes passes the limit memory (%" PRIu64 ", in use %" PRIu64 ")",
                        where, wanted, memory->limit, used);
    return pfr_fail(err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, where, "out of memory: %s needs %" PRIu64 " bytes", where,
                    wanted);
}

/* Half as much again where there is much; 0: `first`. */
static size_t more_than(size_t capacity, size_t first, size_t size) {
    const size_t more = capacity > GROWS_LESS / size ? capacity / 2 : capacity;
    return capacity > SIZE_MAX - more ? SIZE_MAX : capacity ? capacity + more : first;
}

void *mem_grow(struct memory *memory, void *at, size_t count, size_t *capacity, size_t first, size_t size) {
    if (count < *capacity)
        return at;
    const size_t wanted = more_than(*capacity, first, size);
    void *grown = mem_resize(memory, at, *capacity, wanted, size);
    if (grown)
        *capacity = wanted;
    return grown;
}

void *mem_grow_table(struct memory *memory, void *at, size_t count, size_t *capacity, size_t first, size_t size) {
    if (count < *capacity)
        return at;
    if (*capacity < 2 * LARGE_PAGE / size)
        return mem_grow(memory, at, count, capacity, first, size);
    const size_t wanted = more_than(*capacity, first, size);
    void *grown = mem_alloc_table(memory, wanted, size);
    if (!grown)
        return NULL;
    memcpy(grown, at, count * size);
    mem_free(memory, at, *capacity, size);
    *capacity = wanted;
    return grown;
}
