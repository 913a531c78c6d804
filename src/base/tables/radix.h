/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_RADIX_H
#define PFR_BASE_RADIX_H
/*
 * Sorting by one number. Large things are sorted through items that hold their key and their place: what is moved is
 * small, and no function is called to compare two of them.
 *
 *     const struct radix_item *sorted = radix_sort(items, spare, count);
 *     for (size_t i = 0; i < count; i++)
 *         use(things[sorted[i].value]);
 */
#include <stddef.h>
#include <stdint.h>

struct radix_item {
    uint64_t key;
    uint32_t value;
};

/* By key; equal ones stay in the order they have. The answer is `items` or `spare`, of `count` items each; the other
   one then holds anything. */
struct radix_item *radix_sort(struct radix_item *items, struct radix_item *spare, size_t count);

#endif
