/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows on the paths of samples from the innermost frame to the root. The tree of a large recording does not fit in
 * the cache, and each step of a path needs the one before it. Therefore the steps hold nothing but the parent and the
 * row, and several paths are followed in turn, so that their cache misses overlap.
 */
#include "model/diff/diff_paths.h"

pfr_status diff_paths_init(struct diff_paths *p, pfr_diff *d, const struct diff_series *s, pfr_error *err) {
    const pfr_stack *stacks = pfr_model_stacks(s->run.model);
    const bool by_line = d->options.by == PFR_DIFF_BY_LINE;
    p->memory = &d->memory;
    p->nr_steps = (uint32_t)pfr_model_count(s->run.model, PFR_TABLE_STACK) + 1;
    p->steps = mem_alloc(p->memory, p->nr_steps, sizeof *p->steps);
    if (!p->steps)
        return mem_fail(p->memory, err, "paths");
    p->steps[0] = (struct diff_step){0};
    for (uint32_t id = 1; id < p->nr_steps; id++)
        p->steps[id] = (struct diff_step){stacks[id].parent, s->row_of[by_line ? stacks[id].frame : stacks[id].symbol]};
    return PFR_OK;
}

void diff_paths_free(struct diff_paths *p) {
    mem_free(p->memory, p->steps, p->nr_steps, sizeof *p->steps);
}

static bool take_steps(struct diff_paths *p, uint32_t index) {
    bool more = false;
    for (uint32_t i = 0; i < DIFF_PATHS_AT_ONCE; i++) {
        const struct diff_step *step = &p->steps[p->left[i]];
        if (!p->left[i])
            continue;
        p->rows[i][index] = step->row;
        p->count[i] = index + 1;
        p->left[i] = step->parent;
        more = more || step->parent;
    }
    return more;
}

void diff_paths_read(struct diff_paths *p, const uint32_t *stacks, uint32_t count) {
    for (uint32_t i = 0; i < DIFF_PATHS_AT_ONCE; i++) {
        p->left[i] = i < count ? stacks[i] : 0;
        p->count[i] = 0;
    }
    for (uint32_t index = 0; index < DIFF_PATH_ROWS && take_steps(p, index); index++)
        continue;
}
