/* SPDX-License-Identifier: Apache-2.0 */
/* Visits the nodes of stacks depth first: see stacks.h. */
#include "export/stacks/stacks.h"

#include "base/memory/fail.h"

/* Depth-first successor of node at[depth], whose ancestors are before it: the first child, else the next sibling of the
 * node or of the nearest ancestor that has one. False: the node was the last. */
static bool step(const struct stacks *s, uint32_t *at, uint32_t *depth) {
    const uint32_t n = at[*depth];
    if (s->inner[n] < s->inner[n + 1]) {
        at[++*depth] = s->inner[n];
        return true;
    }
    for (; *depth; --*depth)
        if (++at[*depth] < s->inner[at[*depth - 1] + 1])
            return true;
    return ++at[0] < s->nr_roots;
}

static pfr_status walk(const struct stacks *s, uint32_t *at, stack_visit *visit, void *context, pfr_error *err) {
    uint32_t depth = 0;
    at[0] = 0;
    do
        PFR_TRY(visit(context, at[depth], depth, err));
    while (step(s, at, &depth));
    return PFR_OK;
}

pfr_status stacks_walk(const struct stacks *stacks, stack_visit *visit, void *context, pfr_error *err) {
    if (stacks->nr_roots == 0)
        return PFR_OK;
    uint32_t *at = mem_alloc(stacks->memory, stacks->levels, sizeof *at);
    if (!at)
        return mem_fail(stacks->memory, err, "stacks");
    const pfr_status st = walk(stacks, at, visit, context, err);
    mem_free(stacks->memory, at, stacks->levels, sizeof *at);
    return st;
}
