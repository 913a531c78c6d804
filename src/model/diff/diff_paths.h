/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_PATHS_H
#define PFR_MODEL_DIFF_PATHS_H
/*
 * The rows on the paths of samples: see diff_paths.c.
 *
 * Example:
 *    PFR_TRY(diff_paths_init(&paths, d, series, err));
 *    for (uint32_t i = 0; i < count; i++) {
 *        if (i % DIFF_PATHS_AT_ONCE == 0)
 *            diff_paths_read(&paths, stacks + i, count - i);
 *        struct diff_path at = diff_path_begin(&paths, i % DIFF_PATHS_AT_ONCE);
 *        while (diff_path_next(&paths, &at, &row))
 *            use(row);
 *    }
 *    diff_paths_free(&paths);
 */
#include "model/diff/diff_parts.h"

#define DIFF_PATHS_AT_ONCE 8u
#define DIFF_PATH_ROWS 48u

struct diff_step {
    uint32_t parent, row;
};

struct diff_paths {
    struct memory *memory;
    struct diff_step *steps; /* by stack id */
    uint32_t nr_steps;
    uint32_t left[DIFF_PATHS_AT_ONCE]; /* the stack after the rows that were read; 0: the path ends there */
    uint32_t count[DIFF_PATHS_AT_ONCE];
    uint32_t rows[DIFF_PATHS_AT_ONCE][DIFF_PATH_ROWS];
};

pfr_status diff_paths_init(struct diff_paths *p, pfr_diff *d, const struct diff_series *s, pfr_error *err);
void diff_paths_free(struct diff_paths *p);

/* Reads the paths of the next DIFF_PATHS_AT_ONCE stacks, or of `count`, if fewer. */
void diff_paths_read(struct diff_paths *p, const uint32_t *stacks, uint32_t count);

/* Position on one of these paths. Rows come from the innermost frame outwards; recursive functions repeat. */
struct diff_path {
    uint32_t path, index, next;
};

static inline struct diff_path diff_path_begin(const struct diff_paths *p, uint32_t path) {
    return (struct diff_path){path, 0, p->left[path]};
}

static inline bool diff_path_next(const struct diff_paths *p, struct diff_path *at, uint32_t *row) {
    if (at->index < p->count[at->path])
        return *row = p->rows[at->path][at->index++], true;
    if (!at->next)
        return false;
    *row = p->steps[at->next].row;
    at->next = p->steps[at->next].parent;
    return true;
}

#endif
