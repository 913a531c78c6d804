/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_DRAW_GEOMETRY_H
#define PFR_EXPORT_DRAW_GEOMETRY_H
/*
 * Stacks as boxes: each as wide as the weight of its node, on the row of its depth, those below one node side by side
 * from its left end on. Box 0 is the whole. Boxes that would be narrower than `least` are left out with all below them.
 */
#include "export/stacks/stacks.h"

struct box {
    uint32_t node; /* of the stacks; NO_NODE: the whole */
    uint32_t row;  /* 0: the whole */
    uint64_t from, weight;
};

struct geometry {
    struct memory *memory;
    const struct stacks *stacks;
    bool by_weight;
    struct box *boxes; /* outer ones first, row by row, from left to right */
    size_t room;
    uint32_t count, rows;
    uint32_t left_out; /* nodes that have no box */
    uint64_t whole;
};

/* After stacks_total. by_weight: boxes are as wide as weights, else as sample counts. `least` is a part of the whole. <
 * 0: *err; call geometry_free all the same. */
pfr_status geometry_make(struct geometry *g, const struct stacks *stacks, bool by_weight, double least, pfr_error *err);
void geometry_free(struct geometry *g);

#endif
