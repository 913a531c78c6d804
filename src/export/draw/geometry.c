/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the boxes of stacks: see geometry.h. Nodes are numbered level by level, so boxes are created in their final
 * order. */
#include "export/draw/geometry.h"

#include "base/memory/fail.h"

static pfr_status add(struct geometry *g, const struct box *box, pfr_error *err) {
    void *more = mem_grow(g->memory, g->boxes, g->count, &g->room, 256, sizeof *g->boxes);
    if (!more)
        return mem_fail(g->memory, err, "picture");
    g->boxes = more;
    g->boxes[g->count++] = *box;
    g->rows = box->row + 1;
    return PFR_OK;
}

static uint64_t width_of(const struct geometry *g, uint32_t node) {
    const struct profile_weight *total = &g->stacks->totals[node];
    return g->by_weight ? total->weight : total->samples;
}

/* Adds the children of box `outer`: boxes for the nodes from `node` to `end` - 1. */
static pfr_status add_row(struct geometry *g, uint32_t outer, uint32_t node, uint32_t end, double least,
                          pfr_error *err) {
    uint64_t from = g->boxes[outer].from;
    for (uint32_t i = node; i < end; i++) {
        const struct box box = {i, g->boxes[outer].row + 1, from, width_of(g, i)};
        if (box.weight && (double)box.weight >= least * (double)g->whole)
            PFR_TRY(add(g, &box, err));
        from += box.weight;
    }
    return PFR_OK;
}

pfr_status geometry_make(struct geometry *g, const struct stacks *s, bool by_weight, double least, pfr_error *err) {
    *g = (struct geometry){.memory = s->memory, .stacks = s, .by_weight = by_weight};
    for (uint32_t i = 0; i < s->nr_roots; i++)
        g->whole += width_of(g, i);
    PFR_TRY(add(g, &(struct box){.node = NO_NODE, .weight = g->whole}, err));
    PFR_TRY(add_row(g, 0, 0, s->nr_roots, least, err));
    for (uint32_t i = 1; i < g->count; i++) {
        const uint32_t node = g->boxes[i].node;
        PFR_TRY(add_row(g, i, stacks_inner(s, node), stacks_inner(s, node + 1), least, err));
    }
    g->left_out = s->count - (g->count - 1);
    return PFR_OK;
}

void geometry_free(struct geometry *g) {
    if (g->memory)
        mem_free(g->memory, g->boxes, g->room, sizeof *g->boxes);
}
