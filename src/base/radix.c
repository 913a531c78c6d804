/* SPDX-License-Identifier: Apache-2.0 */
/* By digits of the key, from the last one; those that are the same everywhere are left out. Few are inserted. */
#include "base/radix.h"

#include <stdbool.h>
#include <string.h>

#define FEW 32u
#define MANY 4096u
#define DIGIT_MOST 11u /* bits */

static void insert_all(struct radix_item *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const struct radix_item item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].key > item.key; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

static void move_by_digit(const struct radix_item *from, struct radix_item *to, size_t count, unsigned shift,
                          unsigned bits) {
    size_t at[(1u << DIGIT_MOST) + 1];
    const size_t digits = (size_t)1 << bits, mask = digits - 1;
    memset(at, 0, (digits + 1) * sizeof *at);
    for (size_t i = 0; i < count; i++)
        at[(from[i].key >> shift & mask) + 1]++;
    for (size_t i = 1; i < digits; i++)
        at[i] += at[i - 1];
    for (size_t i = 0; i < count; i++)
        to[at[from[i].key >> shift & mask]++] = from[i];
}

/* The bits in which keys differ; 0 where they are in order already. */
static uint64_t find_difference(const struct radix_item *items, size_t count) {
    uint64_t differ = 0;
    bool sorted = true;
    for (size_t i = 1; i < count; i++) {
        differ |= items[i].key ^ items[i - 1].key;
        sorted &= items[i].key >= items[i - 1].key;
    }
    return sorted ? 0 : differ;
}

struct radix_item *radix_sort(struct radix_item *items, struct radix_item *spare, size_t count) {
    const unsigned bits = count < MANY ? 8 : DIGIT_MOST;
    if (count < FEW)
        return insert_all(items, count), items;
    const uint64_t differ = find_difference(items, count);
    for (unsigned shift = 0; shift < 64 && differ >> shift; shift++) {
        if (!(differ >> shift & 1))
            continue; /* a digit begins where there is a difference */
        struct radix_item *const before = items;
        move_by_digit(items, spare, count, shift, bits);
        items = spare;
        spare = before;
        shift += bits - 1;
    }
    return items;
}
