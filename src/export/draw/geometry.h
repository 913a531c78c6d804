/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_DRAW_GEOMETRY_H
#define PFR_EXPORT_DRAW_GEOMETRY_H
/*
 * Boxes for stacks. The width of a box is the weight of its node, and its row is the depth of its node. The children of
 * a node are placed side by side, starting at the node's left end. Box 0 ("the whole") is the sum of all stacks. Boxes
 * narrower than `least` are omitted together with their descendants.
 */
#include "export/stacks/stacks.h"

struct box {
    uint32_t node; /* node of the stacks; NO_NODE: the whole */
    uint32_t row;  /* 0: the row of the box for the whole */
    uint64_t from, weight;
};

struct geometry {
    struct memory *memory;
    const struct stacks *stacks;
    bool by_weight;
    struct box *boxes; /* row by row from the outermost, left to right within each */
    size_t room;
    uint32_t count, rows;
    uint32_t left_out; /* nodes without a box */
    uint64_t whole;
};

/* Call after stacks_total. by_weight: widths are weights, otherwise sample counts. `least` is a fraction of the whole.
 * On errors (status < 0), geometry_free must be called as well. */
pfr_status geometry_make(struct geometry *g, const struct stacks *stacks, bool by_weight, double least, pfr_error *err);
void geometry_free(struct geometry *g);

#endif
