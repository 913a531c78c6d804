/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of one row. The tree grows level by level from the profile's call trees: a subtree is a frame plus the
 * nodes (items) merged into it. Its children come from the parents of these nodes (callee first) or from their children
 * (caller first). Subtrees below the minimum share are not grown further.
 *
 * Callee first: in each stack, the chain of a row begins at the row's innermost node and goes up. Caller first with
 * --children: the chain begins at the row's outermost node and goes down. There are two exceptions, in which the chain
 * is the whole stack from the root: samples taken in the row itself, and all samples if --children is not given. So
 * there are two kinds of items:
 *
 *     part     the node with its inclusive weight, except the row's own samples
 *     whole    the node with the row's own samples at or below it; the mark of its path segment has their weight
 *
 * A step within a path segment leads to one node of the same weight.
 */
#include "view/report/fields/report_common.h"
#include "view/report/rows/report_path_segments.h"
#include "view/report/print/report_tree.h"
#include "view/report/print/report_tree_growth.h"
#include "view/report/fields/report_cells.h"

#include "base/memory/fail.h"

#include <stdlib.h>

#define FETCHED 16u /* items to prefetch ahead */

/* Called for each item that is one step away from an item of the subtree that grows. */
typedef pfr_status tree_step(struct growth *g, const struct tree_item *item, pfr_error *err);

static pfr_status push_subtree(struct report *r, struct report_tree *t, struct subtree subtree, pfr_error *err) {
    void *grown = mem_grow(r->memory, t->subtrees, t->count, &t->room, 256, sizeof *t->subtrees);
    if (!grown)
        return mem_fail(r->memory, err, "tree");
    t->subtrees = grown;
    t->subtrees[t->count++] = subtree;
    return PFR_OK;
}

static pfr_status prepare(struct report *r, struct report_tree *t, pfr_error *err) {
    const size_t frames = r->profile->nr_frames;
    const bool marks = r->trees.of_rows && r->chain.caller;
    if (marks && !t->mark_of)
        t->mark_of = mem_zeroed(r->memory, r->trees.path_segments.count, sizeof *t->mark_of);
    if (!t->slot_of)
        t->slot_of = mem_alloc(r->memory, frames, sizeof *t->slot_of);
    if (!t->stamp_of)
        t->stamp_of = mem_zeroed(r->memory, frames, sizeof *t->stamp_of);
    const bool good = t->slot_of && t->stamp_of && (t->mark_of || !marks);
    return good ? PFR_OK : mem_fail(r->memory, err, "tree");
}

/* --- steps --- */

/* Even if the profile has a frame for each address, the tree shows functions, except with -g address. */
static uint32_t frame_in_tree(const struct report *r, uint32_t node) {
    const uint32_t frame = node_frame(&r->trees.calls.nodes[node]);
    return request_has_addresses(&r->profile->request) && !r->chain.by_address ? r->symbol_of[frame] : frame;
}

static pfr_status step_to(struct growth *g, const struct tree_item *from, uint32_t path_segment, uint32_t node,
                          tree_step *take, pfr_error *err) {
    struct tree_item to = *from;
    to.path_segment = path_segment;
    to.node = node;
    return take(g, &to, err);
}

static pfr_status step_up(struct growth *g, const struct tree_item *item, tree_step *take, pfr_error *err) {
    const struct path_segment *path_segments = g->r->trees.path_segments.at;
    const uint32_t parent = path_segments[item->path_segment].parent;
    if (item->node > path_segments[item->path_segment].node)
        return step_to(g, item, item->path_segment, item->node - 1, take, err);
    if (!segment_is_root(g->r, parent))
        return step_to(g, item, parent, path_segment_last(&path_segments[parent]), take, err);
    return PFR_OK;
}

static pfr_status step_into(struct growth *g, uint32_t path_segment, bool whole, tree_step *take, pfr_error *err) {
    const struct tree_item to = {.node = g->r->trees.path_segments.at[path_segment].node,
                                 .path_segment = path_segment,
                                 .whole = whole,
                                 .weight = growth_weight_below(g, path_segment, whole)};
    return to.weight.samples ? take(g, &to, err) : PFR_OK;
}

/* Prefetches the first node of a child segment, and the next child segment. */
static void fetch_beside(const struct report *r, uint32_t path_segment, uint32_t end) {
    const struct path_segment *path_segments = r->trees.path_segments.at;
    if (path_segment >= end)
        return;
    __builtin_prefetch(&r->trees.calls.nodes[path_segments[path_segment].node]);
    __builtin_prefetch(&path_segments[path_segment + path_segments[path_segment].size]);
}

static pfr_status step_down(struct growth *g, const struct tree_item *item, tree_step *take, pfr_error *err) {
    const struct path_segment *path_segments = g->r->trees.path_segments.at, *at = &path_segments[item->path_segment];
    if (item->node != path_segment_last(at))
        return step_to(g, item, item->path_segment, item->node + 1, take, err);
    const uint32_t end = item->path_segment + at->size;
    for (uint32_t l = item->path_segment + 1; l < end; l += path_segments[l].size) {
        fetch_beside(g->r, l + path_segments[l].size, end);
        if (!segment_is_apart(g->r, l))
            PFR_TRY(step_into(g, l, item->whole, take, err));
    }
    return PFR_OK;
}

/* --- children of a subtree --- */

/* Objects seen later come first, frames outside any object last. This mostly reproduces the order of perf, which
 * compares pointers. */
static uint64_t object_rank(const struct profile_frame *f) {
    return f->object == NO_OBJECT ? 0 : (uint64_t)f->object + 1;
}

static int by_address(const void *a, const void *b, void *context) {
    const struct report *r = context;
    const struct profile_frame *x = report_frame(r, ((const struct subtree *)a)->frame);
    const struct profile_frame *y = report_frame(r, ((const struct subtree *)b)->frame);
    if (object_rank(x) != object_rank(y))
        return object_rank(x) > object_rank(y) ? -1 : 1;
    if (x->is_inlined || y->is_inlined)
        return x->is_inlined && y->is_inlined ? -collate_texts(r, x->text, y->text) : x->is_inlined ? -1 : 1;
    const bool by_ip = x->text == NO_TEXT || y->text == NO_TEXT;
    const uint64_t p = by_ip ? x->ip : x->address, q = by_ip ? y->ip : y->address;
    return p != q ? (p > q ? -1 : 1) : 0;
}

static int by_weight(const void *a, const void *b, void *context) {
    const struct subtree *x = a, *y = b;
    if (x->total.weight != y->total.weight)
        return x->total.weight > y->total.weight ? -1 : 1;
    return by_address(a, b, context);
}

/* First pass: sum the weights of child frames. Items are stored in a second pass because most frames are below the
 * minimum share. */
static pfr_status weigh_item(struct growth *g, const struct tree_item *item, pfr_error *err) {
    struct report_tree *t = g->t;
    const uint32_t frame = frame_in_tree(g->r, item->node);
    if (t->stamp_of[frame] != t->stamp) {
        t->stamp_of[frame] = t->stamp;
        t->slot_of[frame] = (uint32_t)t->count;
        PFR_TRY(push_subtree(g->r, t, (struct subtree){.frame = frame, .parent = g->above}, err));
    }
    struct subtree *subtree = &t->subtrees[t->slot_of[frame]];
    tree_add_weight(&subtree->total, item->weight);
    subtree->nr_items++;
    return PFR_OK;
}

/* The minimum weight for a percentage, rounded up as in perf. */
static uint64_t least_share(uint64_t of, double percent) {
    const double share = (double)of * (percent / 100);
    const uint64_t whole = (uint64_t)share;
    return whole + ((double)whole < share);
}

/* Sorts subtrees by weight and drops those below the minimum. In the modes flat and folded, orders the kept subtrees by
   address: report_tree_print.c sorts the chains by their own weight, and chains of equal weight keep this order. */
static void keep_heavy(struct growth *g, uint32_t first) {
    struct report_tree *t = g->t;
    struct subtree *const above = &t->subtrees[g->above];
    const struct chain_how *how = &g->r->chain;
    uint64_t least = g->least;
    if (how->mode == CHAIN_FRACTAL)
        least = least_share(weight_less(above->total, above->own).weight, how->least);
    above->first = first;
    above->all = (uint32_t)t->count - first;
    qsort_r(t->subtrees + first, above->all, sizeof *t->subtrees, by_weight, g->r);
    while (above->count < above->all && t->subtrees[first + above->count].total.weight >= least)
        above->count++;
    if (how->mode == CHAIN_FLAT || how->mode == CHAIN_FOLDED)
        qsort_r(t->subtrees + first, above->count, sizeof *t->subtrees, by_address, g->r);
}

static pfr_status place_item(struct growth *g, const struct tree_item *item, pfr_error *err) {
    struct report_tree *t = g->t;
    const uint32_t frame = frame_in_tree(g->r, item->node);
    (void)err;
    if (t->stamp_of[frame] == t->stamp)
        t->next.at[t->slot_of[frame]++] = *item;
    return PFR_OK;
}

/* Allocates the items of the kept subtrees in the next level; the items of a subtree are contiguous. */
static pfr_status make_places(struct growth *g, uint32_t first, uint32_t count, pfr_error *err) {
    struct report_tree *t = g->t;
    t->stamp++;
    t->count = first + count;
    for (uint32_t i = first; i < t->count; i++) {
        struct subtree *subtree = &t->subtrees[i];
        subtree->items = (uint32_t)t->next.count;
        t->stamp_of[subtree->frame] = t->stamp;
        t->slot_of[subtree->frame] = subtree->items;
        t->next.count += subtree->nr_items;
    }
    return count ? tree_make_room(g->r, &t->next, t->next.count - 1, err) : PFR_OK;
}

static void fetch_item(const struct growth *g, const struct tree_item *item) {
    __builtin_prefetch(&g->r->trees.path_segments.at[item->path_segment]);
    __builtin_prefetch(&g->r->trees.calls.nodes[item->node + 1]);
}

/* Applies a step to each item of the subtree that grows. */
static pfr_status take_steps(struct growth *g, tree_step *take, pfr_error *err) {
    const struct subtree subtree = g->t->subtrees[g->above];
    for (uint32_t i = 0; i < subtree.nr_items; i++) {
        const struct tree_item *item = &g->t->level.at[subtree.items + i];
        if (i + FETCHED < subtree.nr_items)
            fetch_item(g, item + FETCHED);
        PFR_TRY((g->r->chain.caller ? step_down : step_up)(g, item, take, err));
    }
    return PFR_OK;
}

/* The root of the tree has no items to step from: its children are the gathered items. */
static pfr_status take_gathered(struct growth *g, tree_step *take, pfr_error *err) {
    const struct tree_items *all = &g->t->gathered;
    for (size_t i = 0; i < all->count; i++) {
        if (i + FETCHED < all->count)
            fetch_item(g, &all->at[i + FETCHED]);
        PFR_TRY(take(g, &all->at[i], err));
    }
    return PFR_OK;
}

/* Computes the weight of the chains that end in this subtree: the total minus the totals of the children. */
static void weigh_ends(struct growth *g, uint32_t first) {
    struct report_tree *t = g->t;
    struct subtree *above = &t->subtrees[g->above];
    above->own = above->total;
    for (size_t i = first; i < t->count; i++)
        above->own = weight_less(above->own, t->subtrees[i].total);
}

static pfr_status grow_subtree(struct growth *g, uint32_t number, pfr_error *err) {
    struct report_tree *t = g->t;
    pfr_status (*const take_all)(struct growth *, tree_step *, pfr_error *) = number ? take_steps : take_gathered;
    const uint32_t first = (uint32_t)t->count;
    g->above = number;
    t->stamp++;
    PFR_TRY(take_all(g, weigh_item, err));
    weigh_ends(g, first);
    keep_heavy(g, first);
    PFR_TRY(make_places(g, first, t->subtrees[number].count, err));
    return t->subtrees[number].count ? take_all(g, place_item, err) : PFR_OK;
}

static void next_level(struct report_tree *t) {
    const struct tree_items done = t->level;
    t->level = t->next;
    t->next = done;
    t->next.count = 0;
}

static pfr_status grow(struct growth *g, pfr_error *err) {
    struct report_tree *t = g->t;
    PFR_TRY(grow_subtree(g, 0, err));
    for (uint32_t at = 1; at < t->count;) {
        const uint32_t end = (uint32_t)t->count;
        next_level(t);
        for (; at < end; at++)
            PFR_TRY(grow_subtree(g, at, err));
    }
    return PFR_OK;
}

static pfr_status begin_tree(struct report *r, struct report_tree *t, pfr_error *err) {
    PFR_TRY(prepare(r, t, err));
    t->count = t->gathered.count = t->level.count = t->next.count = 0;
    return push_subtree(r, t, (struct subtree){.frame = NO_FRAME, .parent = NO_NODE}, err);
}

static void weigh_top(struct report_tree *t) {
    for (size_t i = 0; i < t->gathered.count; i++)
        tree_add_weight(&t->subtrees[0].total, t->gathered.at[i].weight);
}

pfr_status tree_make_all(struct report *r, uint32_t event, uint64_t least, pfr_error *err) {
    struct growth g = {.r = r, .t = &r->trees.whole, .row = NO_ROW, .least = least};
    PFR_TRY(begin_tree(r, g.t, err));
    PFR_TRY(growth_begin_all(&g, event, err));
    weigh_top(g.t);
    return grow(&g, err);
}

pfr_status tree_make(struct report *r, struct report_tree *t, uint32_t row, uint64_t least, pfr_error *err) {
    struct growth g = {.r = r, .t = t, .row = row, .least = least};
    PFR_TRY(begin_tree(r, g.t, err));
    pfr_status st = r->chain.caller ? growth_begin_outermost(&g, err)
                    : r->children   ? growth_begin_innermost(&g, err)
                                    : growth_begin_samples(&g, err);
    weigh_top(g.t);
    if (st >= 0)
        st = grow(&g, err);
    growth_unmark(g.t);
    return st;
}

static void free_items(struct memory *memory, struct tree_items *list) {
    mem_free(memory, list->at, list->room, sizeof *list->at);
}

void tree_free(const struct report *r, struct report_tree *t) {
    const size_t frames = r->profile ? r->profile->nr_frames : 0;
    mem_free(r->memory, t->subtrees, t->room, sizeof *t->subtrees);
    free_items(r->memory, &t->level);
    free_items(r->memory, &t->next);
    free_items(r->memory, &t->gathered);
    mem_free(r->memory, t->slot_of, frames, sizeof *t->slot_of);
    mem_free(r->memory, t->stamp_of, frames, sizeof *t->stamp_of);
    mem_free(r->memory, t->ends, t->ends_room, sizeof *t->ends);
    mem_free(r->memory, t->levels, t->levels_room, sizeof *t->levels);
    mem_free(r->memory, t->mark_of, r->trees.path_segments.count, sizeof *t->mark_of);
    mem_free(r->memory, t->marks, t->marks_room, sizeof *t->marks);
    *t = (struct report_tree){0};
}
