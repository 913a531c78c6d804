/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_LABELS_H
#define PFR_EXPORT_LABELS_H
/*
 * What a sink calls things: byte strings, each of which stands for all things (frames or groups) that the sink cannot
 * or will not tell apart. Once they are sorted a label is its rank: what an output shows does not depend on the order
 * in which things were met.
 *
 *     labels_put(&labels, bytes, length, thing, &number, &err);      as often as there are things
 *     labels_sort(&labels, &err);
 *     rank = labels.rank[number];  thing = label_source(&labels, rank);  label_bytes(&labels, rank)
 *
 * Where nobody needs the bytes, two numbers and a text are a label just as well (label_keys.c), and made faster:
 *
 *     labels.text_of = ..., labels.context = ...;
 *     labels_put_key(&labels, &key, thing, &number, &err);           once for each thing, the numbers are 0, 1, 2...
 *     labels_sort(&labels, &err);                                    all labels as before, but for label_bytes
 */
#include "base/tables/intern.h"
#include "base/tables/radix.h"

struct label_key {
    uint64_t first, second;
};

struct labels {
    struct memory *memory;
    struct intern_table texts;
    struct label_key *keys; /* by number; NULL: labels are texts */
    uint32_t nr_keys;
    struct intern_text (*text_of)(const void *context, uint32_t thing); /* of keys: what else tells labels apart */
    const void *context;
    uint32_t *source; /* by number: the thing that had it first */
    uint32_t *rank;   /* by number */
    uint32_t *order;  /* by rank: the number */
    uint32_t count;   /* of ranks, once they are sorted */
    size_t room, keys_room, sorted;
};

void labels_init(struct labels *labels, struct memory *memory);
void labels_free(struct labels *labels);
pfr_status labels_put(struct labels *labels, const void *bytes, size_t length, uint32_t thing, uint32_t *number,
                      pfr_error *err);
pfr_status labels_put_key(struct labels *labels, const struct label_key *key, uint32_t thing, uint32_t *number,
                          pfr_error *err);
pfr_status labels_sort(struct labels *labels, pfr_error *err);
/* label_keys.c: the ranks of keys. `items` has room for twice as many as there are keys. */
void labels_rank_keys(struct labels *labels, struct radix_item *items);

static inline uint32_t label_source(const struct labels *labels, uint32_t rank) {
    return labels->source[labels->order[rank]];
}

static inline struct intern_text label_bytes(const struct labels *labels, uint32_t rank) {
    return intern_get(&labels->texts, labels->order[rank]);
}

#endif
