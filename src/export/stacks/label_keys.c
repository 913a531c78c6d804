/* SPDX-License-Identifier: Apache-2.0 */
/* Labels that consist of two numbers and a text: see labels.h. The numbers are almost always enough to distinguish two
   labels. */
#include "export/stacks/labels.h"

#include <stdlib.h>
#include <string.h>

pfr_status labels_put_key(struct labels *l, const struct label_key *key, uint32_t thing, uint32_t *number,
                          pfr_error *err) {
    void *more = mem_grow(l->memory, l->source, l->nr_keys, &l->room, 256, sizeof *l->source);
    if (!more)
        return mem_fail(l->memory, err, "names");
    l->source = more;
    more = mem_grow(l->memory, l->keys, l->nr_keys, &l->keys_room, 256, sizeof *l->keys);
    if (!more)
        return mem_fail(l->memory, err, "names");
    l->keys = more;
    l->keys[l->nr_keys] = *key;
    l->source[l->nr_keys] = thing;
    *number = l->nr_keys++;
    return PFR_OK;
}

static int compare_texts(const struct labels *l, uint32_t a, uint32_t b) {
    const struct intern_text x = l->text_of(l->context, l->source[a]), y = l->text_of(l->context, l->source[b]);
    const uint32_t length = x.length < y.length ? x.length : y.length;
    const int order = length ? memcmp(x.bytes, y.bytes, length) : 0;
    return order ? order : (x.length > y.length) - (x.length < y.length);
}

static int by_text(const void *a, const void *b, void *labels) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const int order = compare_texts(labels, x, y);
    return order ? order : (x > y) - (x < y);
}

static bool are_same_numbers(const struct label_key *a, const struct label_key *b) {
    return a->first == b->first && a->second == b->second;
}

/* Sorts the numbers by key; equal keys keep their order of insertion. */
static void sort_keys(const struct labels *l, struct radix_item *items) {
    const uint32_t count = l->nr_keys;
    for (uint32_t i = 0; i < count; i++)
        items[i] = (struct radix_item){l->keys[i].second, i};
    struct radix_item *at = radix_sort(items, items + count, count);
    for (uint32_t i = 0; i < count; i++)
        at[i].key = l->keys[at[i].value].first;
    at = radix_sort(at, at == items ? items + count : items, count);
    for (uint32_t i = 0; i < count; i++)
        l->order[i] = at[i].value;
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && are_same_numbers(&l->keys[l->order[end]], &l->keys[l->order[i]]); end++)
            ;
        if (end - i > 1)
            qsort_r(l->order + i, end - i, sizeof *l->order, by_text, (void *)(uintptr_t)l);
    }
}

static bool is_same(const struct labels *l, uint32_t a, uint32_t b) {
    return are_same_numbers(&l->keys[a], &l->keys[b]) && compare_texts(l, a, b) == 0;
}

void labels_rank_keys(struct labels *l, struct radix_item *items) {
    uint32_t ranks = 0;
    sort_keys(l, items);
    for (uint32_t i = 0; i < l->nr_keys; i++) {
        const uint32_t number = l->order[i];
        if (ranks == 0 || !is_same(l, number, l->order[ranks - 1]))
            l->order[ranks++] = number;
        l->rank[number] = ranks - 1;
    }
    l->count = ranks;
}
