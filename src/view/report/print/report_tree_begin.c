/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where the chains of a row begin in its call tree, or where the chains of all samples of an event begin: see
 * report_tree.c. */
#include "view/report/print/report_tree_growth.h"

#include "base/memory/fail.h"

#define FETCHED 16u /* items to prefetch ahead */

static const struct member *members_of(const struct report *r, uint32_t row) {
    return r->trees.walk.members + r->trees.walk.begin[row];
}

static pfr_status gather(struct growth *g, struct tree_item item, pfr_error *err) {
    return item.weight.samples ? tree_push_item(g->r, &g->t->gathered, item, err) : PFR_OK;
}

static struct tree_item item_at_end(const struct report *r, uint32_t path_segment, struct profile_weight weight) {
    return (struct tree_item){.node = path_segment_last(&r->trees.path_segments.at[path_segment]),
                              .path_segment = path_segment,
                              .weight = weight};
}

#define NO_ITEM UINT32_MAX

static bool is_around(const struct report *r, const struct tree_item *item, const struct member *member) {
    return member->path_segment - item->path_segment < r->trees.path_segments.at[item->path_segment].size;
}

/* Adds the members as items. The weight of an item excludes the members among its descendants. In the list, each member
   comes after its ancestors. */
static pfr_status gather_members(struct growth *g, pfr_error *err) {
    struct report *r = g->r;
    struct tree_items *all = &g->t->gathered;
    uint32_t around = NO_ITEM;
    for (const struct member *m = members_of(r, g->row); m < members_of(r, g->row + 1); m++) {
        const struct profile_weight sum = r->trees.path_segments.at[m->path_segment].sum;
        while (around != NO_ITEM && !is_around(r, &all->at[around], m))
            around = all->at[around].around;
        if (around != NO_ITEM)
            all->at[around].weight = weight_less(all->at[around].weight, sum);
        const struct tree_item item = {
            .node = m->node, .path_segment = m->path_segment, .around = around, .weight = sum};
        around = (uint32_t)all->count;
        PFR_TRY(tree_push_item(r, all, item, err));
    }
    return PFR_OK;
}

/* Callee first with --children: covers every sample that has the row in its stack, starting at the row's innermost
   node. */
pfr_status growth_begin_innermost(struct growth *g, pfr_error *err) {
    struct report *r = g->r;
    struct tree_items *all = &g->t->gathered;
    size_t count = 0;
    PFR_TRY(gather_members(g, err));
    for (size_t i = 0; i < all->count; i++) {
        const struct tree_item item = all->at[i];
        const uint32_t end = segment_chain_end(r, item.path_segment);
        if (item.weight.samples && !segment_is_root(r, end))
            all->at[count++] = end == item.path_segment ? item : item_at_end(r, end, item.weight);
    }
    all->count = count;
    return PFR_OK;
}

pfr_status growth_begin_samples(struct growth *g, pfr_error *err) {
    struct report *r = g->r;
    for (const struct member *m = members_of(r, g->row); m < members_of(r, g->row + 1); m++) {
        const uint32_t end = segment_chain_end(r, m->path_segment);
        if (!segment_is_root(r, end))
            PFR_TRY(gather(g, item_at_end(r, end, path_segment_self(r, m->path_segment)), err));
    }
    return PFR_OK;
}

/* Marks the path segments from this one up to the root, as far as they have no mark yet; ancestors get smaller numbers.
 */
static pfr_status mark_way(struct growth *g, uint32_t path_segment, pfr_error *err) {
    const struct path_segment *path_segments = g->r->trees.path_segments.at;
    struct report_tree *t = g->t;
    size_t count = t->nr_marks;
    for (uint32_t at = path_segment; !segment_is_root(g->r, at) && !t->mark_of[at]; at = path_segments[at].parent)
        count++;
    void *grown = mem_grow(g->r->memory, t->marks, count, &t->marks_room, 256, sizeof *t->marks);
    if (!grown)
        return mem_fail(g->r->memory, err, "tree");
    t->marks = grown;
    t->nr_marks = count;
    for (uint32_t at = path_segment; !segment_is_root(g->r, at) && !t->mark_of[at]; at = path_segments[at].parent) {
        t->mark_of[at] = (uint32_t)count--;
        t->marks[count] = (struct tree_mark){at, {0, 0}};
    }
    return PFR_OK;
}

/* Descendants have larger numbers than their ancestors, so one backward pass makes the weights inclusive. */
static void sum_up_marks(struct growth *g) {
    const struct path_segment *path_segments = g->r->trees.path_segments.at;
    struct report_tree *t = g->t;
    for (size_t i = t->nr_marks; i-- > 0;) {
        const uint32_t parent = t->mark_of[path_segments[t->marks[i].path_segment].parent];
        if (parent)
            tree_add_weight(&t->marks[parent - 1].weight, t->marks[i].weight);
    }
}

static void fetch_samples(const struct report *r, const struct member *m) {
    __builtin_prefetch(&r->trees.path_segments.at[m->path_segment]);
    if (m->has_samples)
        node_weights_fetch(&r->trees.calls.self, m->node);
}

/* Marks the paths from the roots to the row's own samples. */
static pfr_status mark_samples(struct growth *g, pfr_error *err) {
    const struct report *r = g->r;
    struct report_tree *t = g->t;
    for (const struct member *m = members_of(r, g->row), *end = members_of(r, g->row + 1); m < end; m++) {
        if (m + FETCHED < end)
            fetch_samples(r, m + FETCHED);
        if (!m->has_samples)
            continue;
        const struct profile_weight self = path_segment_self(r, m->path_segment);
        const uint32_t chain = segment_chain_end(r, m->path_segment);
        if (segment_is_root(r, chain))
            continue;
        PFR_TRY(mark_way(g, chain, err));
        tree_add_weight(&t->marks[t->mark_of[chain] - 1].weight, self);
    }
    sum_up_marks(g);
    return PFR_OK;
}

/* Whole chains begin at marked path segments that are children of a root. */
static pfr_status gather_tops(struct growth *g, pfr_error *err) {
    const struct path_segment *path_segments = g->r->trees.path_segments.at;
    for (size_t i = 0; i < g->t->nr_marks; i++) {
        const struct tree_mark *mark = &g->t->marks[i];
        const struct path_segment *path_segment = &path_segments[mark->path_segment];
        if (segment_is_root(g->r, path_segment->parent))
            PFR_TRY(gather(g,
                           (struct tree_item){.node = path_segment->node,
                                              .path_segment = mark->path_segment,
                                              .whole = true,
                                              .weight = mark->weight},
                           err));
    }
    return PFR_OK;
}

/* Begins a tree, caller first. The marks must be kept until the tree has grown. */
pfr_status growth_begin_outermost(struct growth *g, pfr_error *err) {
    struct report *r = g->r;
    PFR_TRY(mark_samples(g, err));
    PFR_TRY(gather_tops(g, err));
    if (!r->children)
        return PFR_OK;
    for (const struct member *m = members_of(r, g->row), *end = members_of(r, g->row + 1); m < end; m++) {
        __builtin_prefetch(&r->trees.path_segments.at[m[m + FETCHED < end ? FETCHED : 0].path_segment]);
        if (!m->is_inner && !segment_is_apart(r, m->path_segment))
            PFR_TRY(gather(g,
                           (struct tree_item){.node = m->node,
                                              .path_segment = m->path_segment,
                                              .weight = growth_weight_below(g, m->path_segment, false)},
                           err));
    }
    return PFR_OK;
}

static uint32_t event_of_root(const void *context, uint32_t root) {
    return ((const struct call_trees_root *)context)[root].group->event;
}

/* Begins a tree of all samples of an event, from the roots down. A sampled address that is separate from its chain
 * begins a chain only if the callchain is empty. */
pfr_status growth_begin_all(struct growth *g, uint32_t event, pfr_error *err) {
    struct report *r = g->r;
    const struct path_segment *path_segments = r->trees.path_segments.at;
    struct number_lists *roots = &r->events.roots;
    if (!roots->starts)
        PFR_TRY(number_lists_make(roots, r->memory, r->trees.calls.nr_roots, (size_t)r->profile->nr_events + 1,
                                  event_of_root, r->trees.calls.roots, err));
    for (uint32_t i = roots->starts[event]; i < roots->starts[event + 1]; i++) {
        const uint32_t root = r->trees.path_segments.root[roots->at[i]], end = root + path_segments[root].size;
        for (uint32_t l = root + 1; l < end; l += path_segments[l].size)
            PFR_TRY(gather(
                g, (struct tree_item){.node = path_segments[l].node, .path_segment = l, .weight = path_segments[l].sum},
                err));
    }
    return PFR_OK;
}

void growth_unmark(struct report_tree *t) {
    while (t->nr_marks > 0)
        t->mark_of[t->marks[--t->nr_marks].path_segment] = 0;
}
