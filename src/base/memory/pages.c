/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/pages.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE ((size_t)2 << 20)

#define SMALL_PAGE ((size_t)4096) /* or a multiple of it, which the kernel rounds to by itself */
#define WASTES_LITTLE (4 * LARGE_PAGE)

/* Whole large pages: one that is only partly mapped when it is first touched is made of small ones, and stays so. Of
   what is not so large the last page may be mostly unused, and would be memory all the same. */
static size_t in_pages(size_t size) {
    const size_t page = size >= WASTES_LITTLE ? LARGE_PAGE : SMALL_PAGE;
    return (size + page - 1) & ~(page - 1);
}

/* Addresses for `length` bytes that nothing else has, from a multiple of a large page on. */
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
    madvise(at, length, MADV_HUGEPAGE); /* where there are none, nothing but time is lost */
    return at;
}

void *pages_take(size_t size) {
    void *at = size > SIZE_MAX - LARGE_PAGE ? NULL : reserve(in_pages(size), PROT_READ | PROT_WRITE);
    return at ? advise(at, in_pages(size)) : NULL;
}

/* The pages themselves, in place or elsewhere; NULL: they are as they were. */
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
    if (resized && size < old_size) /* what stays mapped behind it is given out as new another time */
        memset(resized + size, 0, (old_size < length ? old_size : length) - size);
    return resized;
}

void pages_prepare(void *at, size_t size) {
#ifdef MADV_POPULATE_WRITE
    const uintptr_t from = ((uintptr_t)at + SMALL_PAGE - 1) & ~(SMALL_PAGE - 1);
    const uintptr_t to = ((uintptr_t)at + size) & ~(SMALL_PAGE - 1);
    if (from < to)
        madvise((void *)from, to - from, MADV_POPULATE_WRITE); /* older kernels make them when they are met */
#else
    (void)at, (void)size;
#endif
}

void pages_release(void *at, size_t size) {
    munmap(at, in_pages(size));
}
