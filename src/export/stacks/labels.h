/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_LABELS_H
#define PFR_EXPORT_LABELS_H
/*
 * Labels: the names that a sink gives to frames or groups ("things"), as byte strings. Things with the same label are
 * the same for the sink. After sorting, a label is identified by its rank, so that the output does not depend on the
 * order in which things occurred.
 *
 *     labels_put(&labels, bytes, length, thing, &number, &err);      once per thing
 *     labels_sort(&labels, &err);
 *     rank = labels.rank[number];  thing = label_source(&labels, rank);  label_bytes(&labels, rank)
 *
 * If the bytes are not needed, a label can be two numbers and a text instead (label_keys.c), which is faster:
 *
 *     labels.text_of = ..., labels.context = ...;
 *     labels_put_key(&labels, &key, thing, &number, &err);           once per thing; numbers are 0, 1, 2...
 *     labels_sort(&labels, &err);                                    then all of the above except label_bytes
 */
#include "base/tables/intern.h"
#include "base/tables/radix.h"

struct label_key {
    uint64_t first, second;
};

struct labels {
    struct memory *memory;
    struct intern_table texts;
    struct label_key *keys; /* by number; NULL if labels are byte strings */
    uint32_t nr_keys;
    struct intern_text (*text_of)(const void *context,
                                  uint32_t thing); /* the text that distinguishes labels with equal keys */
    const void *context;
    uint32_t *source; /* by number: the first thing with this label */
    uint32_t *rank;   /* by number */
    uint32_t *order;  /* number by rank */
    uint32_t count;   /* number of ranks, after sorting */
    size_t room, keys_room, sorted;
};

void labels_init(struct labels *labels, struct memory *memory);
void labels_free(struct labels *labels);
pfr_status labels_put(struct labels *labels, const void *bytes, size_t length, uint32_t thing, uint32_t *number,
                      pfr_error *err);
pfr_status labels_put_key(struct labels *labels, const struct label_key *key, uint32_t thing, uint32_t *number,
                          pfr_error *err);
pfr_status labels_sort(struct labels *labels, pfr_error *err);
/* label_keys.c: computes the ranks of keys. `items` has room for twice the number of keys. */
void labels_rank_keys(struct labels *labels, struct radix_item *items);

static inline uint32_t label_source(const struct labels *labels, uint32_t rank) {
    return labels->source[labels->order[rank]];
}

static inline struct intern_text label_bytes(const struct labels *labels, uint32_t rank) {
    return intern_get(&labels->texts, labels->order[rank]);
}

#endif
