/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/pages.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE ((size_t)2 << 20)

#define SMALL_PAGE ((size_t)4096) /* if the pages of the kernel are larger, it rounds up */
#define WASTES_LITTLE (4 * LARGE_PAGE)

/* Large blocks are rounded up to whole large pages. The kernel backs a large page that is only partly mapped at its
   first access with small pages, and does not change this later. Smaller blocks are not rounded, because most of their
   last large page could be unused and would still take memory. */
static size_t in_pages(size_t size) {
    const size_t page = size >= WASTES_LITTLE ? LARGE_PAGE : SMALL_PAGE;
    return (size + page - 1) & ~(page - 1);
}

/* Reserves `length` bytes of address space, aligned to a large page. */
static void *reserve(size_t length, int access) {
    if (length > SIZE_MAX - LARGE_PAGE)
        return NULL;
    char *at = mmap(NULL, length + LARGE_PAGE, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    const size_t before = (size_t)(-(uintptr_t)at & (LARGE_PAGE - 1));
    if (before)
        munmap(at, before);
    munmap(at + before + length, LARGE_PAGE - before);
    return at + before;
}

static void *advise(void *at, size_t length) {
    madvise(at, length, MADV_HUGEPAGE); /* without large pages this costs only the call */
    return at;
}

void *pages_take(size_t size) {
    void *at = size > SIZE_MAX - LARGE_PAGE ? NULL : reserve(in_pages(size), PROT_READ | PROT_WRITE);
    return at ? advise(at, in_pages(size)) : NULL;
}

/* Resizes the mapping in place, or moves its pages. NULL: the mapping is unchanged. */
static void *resize_pages(void *at, size_t old_length, size_t length) {
    if (length == old_length)
        return at;
    if (mremap(at, old_length, length, 0) != MAP_FAILED)
        return advise(at, length);
    void *to = reserve(length, PROT_NONE);
    if (!to)
        return NULL;
    if (mremap(at, old_length, length, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
        munmap(to, length);
        return NULL;
    }
    return advise(to, length);
}

void *pages_resize(void *at, size_t old_size, size_t size) {
    if (size > SIZE_MAX - LARGE_PAGE)
        return NULL;
    const size_t length = in_pages(size);
    char *resized = resize_pages(at, in_pages(old_size), length);
    if (resized && size < old_size) /* the rest of the last page stays mapped, and must be zero when the block
                                       grows again */
        memset(resized + size, 0, (old_size < length ? old_size : length) - size);
    return resized;
}

void pages_prepare(void *at, size_t size) {
#ifdef MADV_POPULATE_WRITE
    const uintptr_t from = ((uintptr_t)at + SMALL_PAGE - 1) & ~(SMALL_PAGE - 1);
    const uintptr_t to = ((uintptr_t)at + size) & ~(SMALL_PAGE - 1);
    if (from < to)
        madvise((void *)from, to - from, MADV_POPULATE_WRITE); /* older kernels refuse the call; they make each page at
                                                                  its first access */
#else
    (void)at, (void)size;
#endif
}

void pages_release(void *at, size_t size) {
    munmap(at, in_pages(size));
}
