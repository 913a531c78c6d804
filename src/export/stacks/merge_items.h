/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_MERGE_ITEMS_H
#define PFR_EXPORT_MERGE_ITEMS_H
#include <stdint.h>

/* A node of the profile and the label by which it merges with its neighbours. */
struct merge_item {
    uint32_t label, node;
};

/* Stable sort by label. `other` has room for `count` items. */
void merge_items_sort(struct merge_item *items, struct merge_item *other, uint32_t count);

#endif
