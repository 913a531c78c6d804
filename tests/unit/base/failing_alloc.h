/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_FAILING_ALLOC_H
#define PFR_TESTS_FAILING_ALLOC_H
/*
 * An allocator that fails one request, given by its number, and counts the allocated blocks. It is thread-safe. A test
 * in which every allocation fails once runs its subject with fail_at 1, 2, 3... until a run without a failure:
 *
 *     struct failing_alloc failing;
 *     for (long n = 1; failing_alloc_begin(&failing, n), subject(&failing), failing.has_failed; n++)
 *         assert_int_equal(failing.blocks, 0);
 */
#include <stdbool.h>
#include <stdlib.h>
#include <perfray/alloc.h>

struct failing_alloc {
    pfr_alloc alloc;
    long fail_at, requests, blocks;
    bool has_failed;
};

static inline bool failing_alloc_refuses(struct failing_alloc *failing) {
    const bool refused = __atomic_add_fetch(&failing->requests, 1, __ATOMIC_RELAXED) == failing->fail_at;
    if (refused)
        failing->has_failed = true;
    return refused;
}

static inline void *failing_allocate(void *context, size_t size) {
    struct failing_alloc *failing = context;
    if (failing_alloc_refuses(failing))
        return NULL;
    __atomic_add_fetch(&failing->blocks, 1, __ATOMIC_RELAXED);
    return malloc(size);
}

static inline void *failing_resize(void *context, void *old, size_t size) {
    struct failing_alloc *failing = context;
    if (failing_alloc_refuses(failing))
        return NULL;
    __atomic_add_fetch(&failing->blocks, old == NULL, __ATOMIC_RELAXED);
    return realloc(old, size);
}

static inline void failing_release(void *context, void *at) {
    struct failing_alloc *failing = context;
    __atomic_sub_fetch(&failing->blocks, at != NULL, __ATOMIC_RELAXED);
    free(at);
}

/* fail_at 0: never fails. `failing` must not be moved. */
static inline void failing_alloc_begin(struct failing_alloc *failing, long fail_at) {
    *failing = (struct failing_alloc){.fail_at = fail_at};
    failing->alloc = (pfr_alloc){failing_allocate, failing_resize, failing_release, failing};
}

#endif
