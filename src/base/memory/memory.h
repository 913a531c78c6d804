/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_MEMORY_H
#define PFR_BASE_MEMORY_H
/*
 * The memory of one handle: the caller's allocator, and a count of the bytes held against a limit. Sizes are always
 * given as (count, size) pairs whose product is checked here, so that no caller multiplies. Nothing is stored beside
 * a block, therefore whoever frees it says how big it was.
 *
 * Where the allocator is malloc, large blocks are pages of the kernel's (pages.h): new ones are zero for nothing, and
 * growing does not copy.
 *
 * Several threads may take and give back at once, if the caller's allocator lets them; who asks why a request failed
 * while others may fail too has a share of his own.
 *
 * A request that fails gives NULL and leaves why in `failed`; mem_fail turns that into an error:
 *
 *     struct map *maps = mem_alloc(memory, count, sizeof *maps);
 *     if (!maps)
 *         return mem_fail(memory, err, "maps");
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <perfray/alloc.h>
#include <perfray/error.h>

struct memory {
    pfr_alloc alloc;
    bool pages;                 /* large blocks are not the allocator's */
    uint64_t used, limit, peak; /* bytes */
    uint64_t wanted;            /* bytes of the last request that failed */
    pfr_status failed;          /* why it did: PFR_ERR_LIMIT or PFR_ERR_MEMORY; PFR_OK when none did */
    struct memory *of;          /* a share of it; NULL: stands for itself */
    uint64_t spare;             /* of the whole's limit that this share leaves to others */
};

/* alloc NULL: malloc, realloc, free. limit 0: the default of pfr_limits.memory. */
void memory_init(struct memory *memory, const pfr_alloc *alloc, uint64_t limit);

/* A share: what is taken from it counts against `of`, which must outlive it, but it has a failure of its own, and may
   be given a smaller `limit`. */
void memory_share(struct memory *memory, struct memory *of);

/* A share that leaves a sixteenth of the limit to others: for what is good to have, so that it does not cost the rest.
 */
void memory_share_sparing(struct memory *memory, struct memory *of);

/* count * size bytes, not cleared (mem_alloc) or zero (mem_zeroed). NULL: see memory->failed. A product of 0 is
   served as 1 byte, and counted as such. */
void *mem_alloc(struct memory *memory, size_t count, size_t size);
void *mem_zeroed(struct memory *memory, size_t count, size_t size);

/* Makes a block of old_count elements one of new_count, moving it when needed. `at` may be NULL when old_count is 0.
   NULL: the old block is as it was. */
void *mem_resize(struct memory *memory, void *at, size_t old_count, size_t new_count, size_t size);

/* What an array has room for beyond `count`, at least 1, goes back. Returns the block, or NULL with the old one
   untouched; the limit is no reason. */
void *mem_trim(struct memory *memory, void *at, size_t count, size_t *capacity, size_t size);

/* `at` may be NULL; count and size are those it was made with. */
void mem_free(struct memory *memory, void *at, size_t count, size_t size);

/* After much was freed: what malloc keeps of it goes back to the system, where malloc serves this memory and can do so.
 */
void memory_settle(const struct memory *memory);

/* Counts bytes that a library holds for us; false when that passes the limit (nothing is counted then). */
bool mem_charge(struct memory *memory, uint64_t bytes);
void mem_discharge(struct memory *memory, uint64_t bytes);
/* Whether so many could be counted now; false: it has failed as a request of them would have. */
bool memory_has(struct memory *memory, uint64_t bytes);

/* memory->failed, which other threads may set. */
static inline pfr_status mem_failure(const struct memory *memory) {
    return __atomic_load_n(&memory->failed, __ATOMIC_RELAXED);
}

/* Fills *err with the last failure: "memory" limit or out of memory. Returns its status. `where` is static text. */
pfr_status mem_fail(const struct memory *memory, pfr_error *err, const char *where);

/*
 * Room for element `count` of a growing array, which need not be the next one: doubles *capacity (from `first`; half
 * as much again from 1 MB on) until it is more than `count`, and moves the block. Returns the block, or NULL with the
 * old one untouched:
 *
 *     struct map *grown = mem_grow(memory, maps, count, &capacity, 16, sizeof *maps);
 */
void *mem_grow(struct memory *memory, void *at, size_t count, size_t *capacity, size_t first, size_t size);
/* The same, with what is new zero. The block was never made smaller. */
void *mem_grow_zeroed(struct memory *memory, void *at, size_t count, size_t *capacity, size_t first, size_t size);

#endif
