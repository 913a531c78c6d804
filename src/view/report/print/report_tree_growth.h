/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TREE_GROWTH_H
#define PFR_VIEW_REPORT_TREE_GROWTH_H
/* A call tree while it grows: shared by report_tree.c and report_tree_begin.c. */
#include "view/report/rows/report_path_segments.h"

/* State of one growing tree. */
struct growth {
    struct report *r;
    struct report_tree *t;
    uint32_t row;
    uint64_t least;
    uint32_t above; /* the subtree that grows */
};

static inline bool segment_is_root(const struct report *r, uint32_t path_segment) {
    return r->trees.path_segments.at[path_segment].parent == NO_PATH_SEGMENT;
}

static inline bool segment_is_apart(const struct report *r, uint32_t path_segment) {
    return r->trees.path_segments.at[path_segment].is_apart;
}

/* For a sample at the end of `path_segment`, returns the path segment whose last node is the end of the callchain; a
 * root if there is no callchain. */
static inline uint32_t segment_chain_end(const struct report *r, uint32_t path_segment) {
    return segment_is_apart(r, path_segment) ? r->trees.path_segments.at[path_segment].parent : path_segment;
}

static inline void tree_add_weight(struct profile_weight *to, struct profile_weight more) {
    to->weight += more.weight;
    to->samples += more.samples;
}

static inline struct profile_weight weight_less(struct profile_weight a, struct profile_weight b) {
    return (struct profile_weight){a.weight - b.weight, a.samples - b.samples};
}

static inline struct profile_weight tree_mark_of(const struct report_tree *t, uint32_t path_segment) {
    const uint32_t mark = t->nr_marks ? t->mark_of[path_segment] : 0;
    return mark ? t->marks[mark - 1].weight : (struct profile_weight){0, 0};
}

/* Inclusive weight of a node: of the row's own samples if `whole`, otherwise of all other samples. */
static inline struct profile_weight growth_weight_below(const struct growth *g, uint32_t path_segment, bool whole) {
    const struct profile_weight mark = tree_mark_of(g->t, path_segment);
    return whole ? mark : weight_less(g->r->trees.path_segments.at[path_segment].sum, mark);
}

/* report_tree_items.c: tree_make_room makes room for items up to number `last`; tree_push_item appends an item. */
pfr_status tree_make_room(struct report *r, struct tree_items *list, size_t last, pfr_error *err);
pfr_status tree_push_item(struct report *r, struct tree_items *list, struct tree_item item, pfr_error *err);

/* report_tree_begin.c: these functions put the first items into tree->gathered. In the order of the declarations:
 * caller first (marks stay until growth_unmark); callee first, from the innermost nodes of the row; callee first, from
 * the row's own samples; all samples of an event. */
pfr_status growth_begin_outermost(struct growth *g, pfr_error *err);
pfr_status growth_begin_innermost(struct growth *g, pfr_error *err);
pfr_status growth_begin_samples(struct growth *g, pfr_error *err);
pfr_status growth_begin_all(struct growth *g, uint32_t event, pfr_error *err);
void growth_unmark(struct report_tree *t);

#endif
