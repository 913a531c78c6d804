/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_ALLOC_H
#define PERFRAY_ALLOC_H
/*
 * The memory a handle uses comes from the allocator given when it was opened; NULL there means malloc and free.
 * The struct is copied; `context` must live as long as the handle. A function may be called by the thread that
 * uses the handle only.
 */
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_alloc {
    /* size 0 never occurs; NULL means "out of memory" */
    void *(*allocate)(void *context, size_t size);
    /* old may be NULL; on failure old stays valid */
    void *(*resize)(void *context, void *old, size_t size);
    /* at may be NULL */
    void (*release)(void *context, void *at);
    void *context;
} pfr_alloc;

#ifdef __cplusplus
}
#endif
#endif
