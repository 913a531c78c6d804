/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_PAGES_H
#define PFR_BASE_PAGES_H
/*
 * Large blocks, mapped directly from the kernel. They are zero, grow without copying (mremap moves the mapping), and
 * are aligned and rounded for large pages. With small pages, TLB misses take much of the time of random lookups in a
 * large table. memory.c uses them for blocks of at least PAGES_LEAST.
 */
#include <stddef.h>

#define PAGES_LEAST ((size_t)2 << 20) /* bytes; for smaller blocks the calls cost more than they save */

/* NULL: out of memory. Sizes are at least PAGES_LEAST. */
void *pages_take(size_t size);
/* NULL: the old block is unchanged. Added bytes are zero. */
void *pages_resize(void *at, size_t old_size, size_t size);
void pages_release(void *at, size_t size);
/* Makes all pages of zeroed memory at once. Call it for memory that is about to be written in random order. Otherwise
   each page faults twice, first when it is read and again when it is written, and with several threads the second fault
   interrupts all of them. */
void pages_prepare(void *at, size_t size);

#endif
