/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_PAGES_H
#define PFR_BASE_PAGES_H
/*
 * Large blocks straight from the kernel. They are zero, they grow without being copied (pages are moved by changing
 * where they are mapped), and they lie where large pages fit and have whole ones, without which much of the time of a
 * table that is looked into at random goes into finding its pages. Used by memory.c for what is not small.
 */
#include <stddef.h>

#define PAGES_LEAST ((size_t)2 << 20) /* bytes; below this a block is not worth it */

/* NULL: no memory. Sizes are at least PAGES_LEAST. */
void *pages_take(size_t size);
/* NULL: the old block is as it was. What was added is zero. */
void *pages_resize(void *at, size_t old_size, size_t size);
void pages_release(void *at, size_t size);
/* Memory that is zero and about to be written all over, in no order: its pages are made now, together. Else each is met
   twice, first by who reads it, and with several threads the second time interrupts them all. */
void pages_prepare(void *at, size_t size);

#endif
