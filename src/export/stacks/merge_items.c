/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts a few items by insertion, and many by a radix sort that skips digits common to all items. */
#include "export/stacks/merge_items.h"

#include <string.h>

#define DIGITS 2048u
#define FEW 24u /* up to this many are sorted in place */

static void insert_each(struct merge_item *at, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        const struct merge_item moved = at[i];
        uint32_t to = i;
        for (; to && at[to - 1].label > moved.label; to--)
            at[to] = at[to - 1];
        at[to] = moved;
    }
}

static struct merge_item *sort_by_digit(const struct merge_item *from, struct merge_item *to, uint32_t count,
                                        unsigned shift) {
    uint32_t at[DIGITS + 1] = {0};
    for (uint32_t i = 0; i < count; i++)
        at[(from[i].label >> shift & (DIGITS - 1)) + 1]++;
    for (unsigned i = 1; i < DIGITS; i++)
        at[i] += at[i - 1];
    for (uint32_t i = 0; i < count; i++)
        to[at[from[i].label >> shift & (DIGITS - 1)]++] = from[i];
    return to;
}

void merge_items_sort(struct merge_item *items, struct merge_item *other, uint32_t count) {
    struct merge_item *now = items, *spare = other;
    uint32_t differ = 0;
    if (count <= FEW) {
        insert_each(items, count);
        return;
    }
    for (uint32_t i = 1; i < count; i++)
        differ |= now[i].label ^ now[0].label;
    for (unsigned shift = 0; shift < 32; shift += 11) {
        if (!(differ >> shift & (DIGITS - 1)))
            continue;
        struct merge_item *const before = now;
        now = sort_by_digit(now, spare, count, shift);
        spare = before;
    }
    if (now != items)
        memcpy(items, now, count * sizeof *items);
}
