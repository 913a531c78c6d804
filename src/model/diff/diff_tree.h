/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_TREE_H
#define PFR_MODEL_DIFF_TREE_H
/*
 * The call trees of both sides as one: a node is a path of rows. Parents come before their children; node 0 is the
 * whole. Values are sums over the recordings of a side.
 */
#include "model/diff/diff_parts.h"

struct diff_node {
    uint32_t parent, row;
    uint32_t first_child, next; /* 0: no node */
    double self[2], total[2];
};

struct diff_tree {
    struct memory *memory;
    struct diff_node *nodes;
    size_t count, room;
    struct u64_map children; /* (parent, row) -> node */
};

/* by_count: values are numbers of samples, not their weights. Errors: MEMORY, LIMIT, as reading samples. diff_tree_free
   must follow in every case. Only for comparisons by symbol, object or line. */
pfr_status diff_tree_make(struct diff_tree *tree, const pfr_diff *d, bool by_count, struct memory *memory,
                          pfr_error *err);
void diff_tree_free(struct diff_tree *tree);

#endif
