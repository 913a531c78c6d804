/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_MEMORY_H
#define PFR_BASE_MEMORY_H
/*
 * The memory of one handle: the caller's allocator, and the bytes in use, counted against a limit. Sizes are always
 * passed as (count, size); their product is checked here, so no caller multiplies. Blocks have no header, so mem_free
 * takes their size.
 *
 * If the allocator is malloc, large blocks are mapped pages (pages.h): new ones cost nothing to zero, and growing does
 * not copy.
 *
 * Several threads may allocate and free at once if the caller's allocator allows it. A caller that needs the reason of
 * its own failure, although other threads may fail too, uses a share (memory_share).
 *
 * A failed request returns NULL and stores the reason in `failed`; mem_fail turns it into an error:
 *
 *    struct map *maps = mem_alloc(memory, count, sizeof *maps);
 *    if (!maps)
 *      return mem_fail(memory, err, "maps");
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <perfray/alloc.h>
#include <perfray/error.h>

struct memory {
    pfr_alloc alloc;
    bool pages;                 /* large blocks are mapped pages, not the allocator's */
    uint64_t used, limit, peak; /* bytes */
    uint64_t wanted;            /* bytes of the last request that failed */
    pfr_status failed;          /* its reason: PFR_ERR_LIMIT or PFR_ERR_MEMORY; PFR_OK if no request failed */
    struct memory *of;          /* the memory of which this is a share; NULL: not a share */
    uint64_t spare;             /* bytes of the whole limit that this share leaves to others */
};

/* If `alloc` is NULL, malloc, realloc and free are used. If `limit` is 0, it is the default of pfr_limits.memory. */
void memory_init(struct memory *memory, const pfr_alloc *alloc, uint64_t limit);

/* A share of `of`, which must outlive it. Its bytes also count against `of`, but it has its own failure, and its
   `limit` may be reduced. */
void memory_share(struct memory *memory, struct memory *of);

/* A share that leaves a sixteenth of the limit to others. For optional data, which must not make required allocations
   fail. */
void memory_share_sparing(struct memory *memory, struct memory *of);

/* count * size bytes, uninitialised (mem_alloc) or zero (mem_zeroed). NULL: see memory->failed. A product of 0 is
   allocated, and counted, as 1 byte. */
void *mem_alloc(struct memory *memory, size_t count, size_t size);
void *mem_zeroed(struct memory *memory, size_t count, size_t size);

/* Resizes a block from old_count to new_count elements, moving it if necessary. `at` may be NULL when old_count is 0.
   Returns NULL on failure; the old block is then unchanged. */
void *mem_resize(struct memory *memory, void *at, size_t old_count, size_t new_count, size_t size);

/* Frees an array's unused capacity beyond max(count, 1). Returns the block, or NULL with the old one unchanged;
   shrinking cannot exceed the limit. */
void *mem_trim(struct memory *memory, void *at, size_t count, size_t *capacity, size_t size);

/* `at` may be NULL; count and size are those of its allocation. */
void mem_free(struct memory *memory, void *at, size_t count, size_t size);

/* Call it after much was freed: returns malloc's free memory to the system (malloc_trim) if this memory comes from
   malloc. */
void memory_settle(const struct memory *memory);

/* Counts bytes that a library allocates for us. Returns false, and counts nothing, if that would exceed the limit. */
bool mem_charge(struct memory *memory, uint64_t bytes);
void mem_discharge(struct memory *memory, uint64_t bytes);
/* Whether this many bytes could be counted now. If not, sets the failure as a request of that size would. */
bool memory_has(struct memory *memory, uint64_t bytes);

/* The status of the last failed request; read atomically, because other threads may set it. */
static inline pfr_status mem_failure(const struct memory *memory) {
    return __atomic_load_n(&memory->failed, __ATOMIC_RELAXED);
}

/* Fills *err with the last failure (limit `memory` exceeded, or out of memory). Returns its status. `where` is static
   text. */
pfr_status mem_fail(const struct memory *memory, pfr_error *err, const char *where);

/*
 * Makes room for element `count` of a growing array (not necessarily the next one). *capacity grows until it exceeds
 * `count`: from 0 to `first`, then it doubles, and from 1 MB on it grows by half. Returns the block, which may have
 * moved, or NULL with the old block unchanged:
 *
 *    struct map *grown = mem_grow(memory, maps, count, &capacity, 16, sizeof *maps);
 */
void *mem_grow(struct memory *memory, void *at, size_t count, size_t *capacity, size_t first, size_t size);
/* As mem_grow, but the new elements are zero. The block must never have been shrunk. */
void *mem_grow_zeroed(struct memory *memory, void *at, size_t count, size_t *capacity, size_t first, size_t size);

#endif
