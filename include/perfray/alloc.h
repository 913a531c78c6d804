/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_ALLOC_H
#define PERFRAY_ALLOC_H
/*
 * Custom memory allocation: pass a pfr_alloc when a handle is opened, and the handle allocates through it. The default,
 * a NULL `pfr_alloc *`, is malloc(), realloc() and free(), with anonymous mappings for large blocks.
 *
 * The struct is copied when the handle is opened. `context` must remain valid until the handle is closed. All three
 * functions must be set.
 *
 * The memory limit of a handle (pfr_limits.memory) is checked before the allocator is called.
 *
 * Threads: the functions are called by the thread that uses the handle. Functions with a `jobs` option also call the
 * allocator from several worker threads at the same time. The allocator of a reader that is passed to such a function
 * must therefore be thread-safe.
 *
 * Example, an allocator that counts its calls:
 *
 *     static void *allocate(void *context, size_t size) { ++*(long *)context; return malloc(size); }
 *     static void *resize(void *context, void *old, size_t size) { ++*(long *)context; return realloc(old, size); }
 *     static void release(void *context, void *at) { (void)context; free(at); }
 *
 *     long calls = 0;
 *     const pfr_alloc counting = {allocate, resize, release, &calls};
 *     pfr_open_options options = {.size = sizeof options, .alloc = &counting};
 */
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_alloc {
    /* As malloc(). `size` is never 0. NULL means that there is no memory; the caller returns PFR_ERR_MEMORY. */
    void *(*allocate)(void *context, size_t size);
    /* As realloc(). `old` may be NULL, `size` is never 0. On failure it returns NULL and `old` must remain valid. */
    void *(*resize)(void *context, void *old, size_t size);
    /* As free(). `at` may be NULL. */
    void (*release)(void *context, void *at);
    /* The first argument of each call; not used by the library. */
    void *context;
} pfr_alloc;

#ifdef __cplusplus
}
#endif
#endif
