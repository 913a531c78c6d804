/* SPDX-License-Identifier: Apache-2.0 */
/* The counting allocator: checks products for overflow, and tests the limit before it calls the caller's allocator. */
#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include "base/memory/bounds.h"
#include "base/memory/fail.h"
#include "base/memory/memory.h"
#include "base/memory/pages.h"

#define GROWS_LESS ((size_t)1 << 20) /* bytes; arrays from this size on grow by half instead of doubling */

/* AddressSanitizer checks only blocks of malloc, so sanitized builds do not map pages. */
#if defined(__SANITIZE_ADDRESS__)
#define PAGES false
#elif defined(__has_feature)
#define PAGES (!__has_feature(address_sanitizer))
#else
#define PAGES true
#endif

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

#define PREPARED_LEAST                                                                                                 \
    ((size_t)128 << 10) /* bytes; smaller blocks of malloc mostly reuse memory whose pages already                     \
                           exist */
#define SPARE_PART 16u  /* limit / SPARE_PART is left to others */

void memory_init(struct memory *memory, const pfr_alloc *alloc, uint64_t limit) {
    static const pfr_alloc libc = {libc_allocate, libc_resize, libc_release, NULL};
    *memory = (struct memory){
        .alloc = alloc ? *alloc : libc, .pages = PAGES && !alloc, .limit = limit ? limit : DEFAULT_LIMIT_MEMORY};
}

void memory_share(struct memory *memory, struct memory *of) {
    *memory = (struct memory){.alloc = of->alloc, .pages = of->pages, .limit = of->limit, .of = of};
}

static const struct memory *memory_whole(const struct memory *share) {
    while (share->of)
        share = share->of;
    return share;
}

void memory_share_sparing(struct memory *memory, struct memory *of) {
    memory_share(memory, of);
    memory->spare = memory_whole(of)->limit / SPARE_PART;
}

/* The lock is for programs that replace malloc (a sanitizer, jemalloc). In such a program, malloc_trim may be the first
   use of glibc's allocator, which initialises itself without a lock. */
void memory_settle(const struct memory *memory) {
#ifdef __GLIBC__
    static pthread_mutex_t first_use = PTHREAD_MUTEX_INITIALIZER;
    if (memory->alloc.release != libc_release)
        return;
    pthread_mutex_lock(&first_use);
    malloc_trim(0);
    pthread_mutex_unlock(&first_use);
#else
    (void)memory;
#endif
}

static void *refuse(struct memory *memory, pfr_status status, uint64_t wanted) {
    __atomic_store_n(&memory->failed, status, __ATOMIC_RELAXED);
    __atomic_store_n(&memory->wanted, wanted, __ATOMIC_RELAXED);
    return NULL;
}

/* count * size, at least 1; SIZE_MAX on overflow, which every limit refuses. */
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

/* An estimate: other threads may allocate at the same time. */
static bool leaves_spare(const struct memory *share, uint64_t bytes) {
    const struct memory *whole = memory_whole(share);
    const uint64_t used = __atomic_load_n(&whole->used, __ATOMIC_RELAXED);
    const uint64_t most = whole->limit > share->spare ? whole->limit - share->spare : 0;
    return share->spare == 0 || bytes == 0 || (used <= most && bytes <= most - used);
}

/* Counts bytes as used in this memory and all memories that it is a share of. Returns false if a limit would be
   exceeded. */
static bool reserve(struct memory *memory, uint64_t bytes) {
    uint64_t used = __atomic_load_n(&memory->used, __ATOMIC_RELAXED);
    if (memory->of && (!leaves_spare(memory, bytes) || !reserve(memory->of, bytes)))
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

bool memory_has(struct memory *memory, uint64_t bytes) {
    if (!mem_charge(memory, bytes))
        return false;
    mem_discharge(memory, bytes);
    return true;
}

/* --- Blocks: small ones from the caller's allocator, large ones as pages. */

static bool is_large(const struct memory *memory, size_t bytes) {
    return memory->pages && bytes >= PAGES_LEAST;
}

static void *take(const struct memory *memory, size_t bytes) {
    return is_large(memory, bytes) ? pages_take(bytes) : memory->alloc.allocate(memory->alloc.context, bytes);
}

static void give_back(const struct memory *memory, void *at, size_t bytes) {
    if (is_large(memory, bytes))
        pages_release(at, bytes);
    else
        memory->alloc.release(memory->alloc.context, at);
}

static void *resize(const struct memory *memory, void *at, size_t old_bytes, size_t bytes) {
    const bool was_large = is_large(memory, old_bytes);
    if (was_large == is_large(memory, bytes))
        return was_large ? pages_resize(at, old_bytes, bytes) : memory->alloc.resize(memory->alloc.context, at, bytes);
    void *moved = take(memory, bytes);
    if (!moved)
        return NULL;
    memcpy(moved, at, old_bytes < bytes ? old_bytes : bytes);
    give_back(memory, at, old_bytes);
    return moved;
}

/* Uses calloc if possible, because calloc does not clear blocks that are already zero. */
static void *take_zeroed(const struct memory *memory, size_t bytes) {
    if (memory->alloc.allocate == libc_allocate && !is_large(memory, bytes))
        return calloc(1, bytes);
    void *at = take(memory, bytes);
    return at && !is_large(memory, bytes) ? memset(at, 0, bytes) : at;
}

static void *count_and_take(struct memory *memory, size_t bytes, void *(*how)(const struct memory *, size_t)) {
    if (!reserve(memory, bytes))
        return refuse(memory, PFR_ERR_LIMIT, bytes);
    void *at = how(memory, bytes);
    if (at)
        return at;
    mem_discharge(memory, bytes);
    return refuse(memory, PFR_ERR_MEMORY, bytes);
}

void *mem_alloc(struct memory *memory, size_t count, size_t size) {
    return count_and_take(memory, block_size(count, size), take);
}

void *mem_zeroed(struct memory *memory, size_t count, size_t size) {
    const size_t bytes = block_size(count, size);
    void *at = count_and_take(memory, bytes, take_zeroed);
    if (at && memory->pages && bytes >= PREPARED_LEAST)
        pages_prepare(at, bytes);
    return at;
}

void *mem_resize(struct memory *memory, void *at, size_t old_count, size_t new_count, size_t size) {
    if (!at)
        return mem_alloc(memory, new_count, size);
    const size_t old_bytes = block_size(old_count, size), bytes = block_size(new_count, size);
    const size_t more = bytes > old_bytes ? bytes - old_bytes : 0;
    if (!reserve(memory, more))
        return refuse(memory, PFR_ERR_LIMIT, bytes);
    void *moved = resize(memory, at, old_bytes, bytes);
    if (!moved) {
        mem_discharge(memory, more);
        return refuse(memory, PFR_ERR_MEMORY, bytes);
    }
    mem_discharge(memory, old_bytes + more - bytes);
    return moved;
}

void *mem_trim(struct memory *memory, void *at, size_t count, size_t *capacity, size_t size) {
    const size_t wanted = count ? count : 1;
    if (wanted >= *capacity)
        return at;
    void *trimmed = mem_resize(memory, at, *capacity, wanted, size);
    if (trimmed)
        *capacity = wanted;
    return trimmed;
}

void mem_free(struct memory *memory, void *at, size_t count, size_t size) {
    if (!at)
        return;
    mem_discharge(memory, block_size(count, size));
    give_back(memory, at, block_size(count, size));
}

pfr_status mem_fail(const struct memory *memory, pfr_error *err, const char *where) {
    const uint64_t wanted = __atomic_load_n(&memory->wanted, __ATOMIC_RELAXED);
    const uint64_t used = __atomic_load_n(memory->of ? &memory->of->used : &memory->used, __ATOMIC_RELAXED);
    if (mem_failure(memory) == PFR_ERR_LIMIT)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, where,
                        "%s: a request of %" PRIu64 " bytes exceeds the limit memory (%" PRIu64 ", in use %" PRIu64 ")",
                        where, wanted, memory->limit, used);
    return pfr_fail(err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, where, "out of memory: %s needs %" PRIu64 " bytes", where,
                    wanted);
}

/* The next capacity: twice as large, or 1.5 times as large from 1 MB on; `first` if the capacity is 0. */
static size_t more_than(size_t capacity, size_t first, size_t size) {
    const size_t more = capacity > GROWS_LESS / size ? capacity / 2 : capacity;
    return capacity > SIZE_MAX - more ? SIZE_MAX : capacity ? capacity + more : first;
}

void *mem_grow(struct memory *memory, void *at, size_t count, size_t *capacity, size_t first, size_t size) {
    size_t wanted = *capacity;
    if (count < wanted)
        return at;
    while (wanted <= count && wanted < SIZE_MAX)
        wanted = more_than(wanted, first, size);
    void *grown = mem_resize(memory, at, *capacity, wanted, size);
    if (grown)
        *capacity = wanted;
    return grown;
}

/* Clears the new elements, except in new pages, which are already zero. */
void *mem_grow_zeroed(struct memory *memory, void *at, size_t count, size_t *capacity, size_t first, size_t size) {
    const size_t before = *capacity;
    char *grown = mem_grow(memory, at, count, capacity, first, size);
    if (grown && *capacity > before && !is_large(memory, *capacity * size))
        memset(grown + before * size, 0, (*capacity - before) * size);
    return grown;
}
