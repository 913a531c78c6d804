/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_RADIX_H
#define PFR_BASE_RADIX_H
/*
 * Sorts by one number. To sort large objects, sort items of key and index: the items are small, and no comparison
 * function is called.
 *
 *    const struct radix_item *sorted = radix_sort(items, spare, count);
 *    for (size_t i = 0; i < count; i++)
 *      use(things[sorted[i].value]);
 */
#include <stddef.h>
#include <stdint.h>

struct radix_item {
    uint64_t key;
    uint32_t value;
};

/* Stable sort by key. Returns `items` or `spare`, both of `count` items; the content of the other is undefined. */
struct radix_item *radix_sort(struct radix_item *items, struct radix_item *spare, size_t count);

#endif
