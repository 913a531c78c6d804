/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_TREE_H
#define PFR_MODEL_DIFF_TREE_H
/*
 * The merged call tree of both sides. A node is a path of rows. Parents come before their children; node 0 is the root.
 * Values are sums over the recordings of a side.
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

/* Makes the tree. Only for comparisons by symbol, object or line. by_count: values are numbers of samples instead of
   weights. Errors: PFR_ERR_MEMORY, PFR_ERR_LIMIT, or an error of reading samples. diff_tree_free is required in every
   case. */
pfr_status diff_tree_make(struct diff_tree *tree, const pfr_diff *d, bool by_count, struct memory *memory,
                          pfr_error *err);
void diff_tree_free(struct diff_tree *tree);

#endif
