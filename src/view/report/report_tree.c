/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of one row. It is no data structure of the profile: a twig is a frame and the nodes that it stands for,
 * and what is below it comes from their parents (callees first) or their children (callers first). Level by level; what
 * is lighter than asked for is not followed.
 *
 * Callees first, the chains of a row begin at the innermost node of the row in each stack and go up. Callers first they
 * begin, in --children, at the outermost one and go down; but a sample that was taken in the row itself, and every
 * sample without --children, shows its whole chain from the root. So two kinds of items mix:
 *
 *     part     the node with all below it, except samples of the row
 *     whole    the node with the samples of the row below it: their weight is the mark of the limb
 *
 * A step within a limb leads to one node of the same weight.
 */
#include "view/report/report_cells.h"

#include "base/memory/fail.h"

#include <stdlib.h>

#define FETCHED 16u /* items ahead */

/* What is needed while one tree grows. */
struct growth {
    struct report *r;
    struct report_tree *t;
    uint32_t row;
    uint64_t least;
    uint32_t above; /* the twig that grows */
};

/* What is done with an item that is one step further than one of a twig. */
typedef pfr_status tree_step(struct growth *g, const struct tree_item *item, pfr_error *err);

/* --- arrays --- */

/* For item number `last`. */
static pfr_status make_room(struct report *r, struct tree_items *list, size_t last, pfr_error *err) {
    void *grown = mem_grow(r->memory, list->at, last, &list->room, 256, sizeof *list->at);
    if (!grown)
        return mem_fail(r->memory, err, "tree");
    list->at = grown;
    return PFR_OK;
}

static pfr_status push_item(struct report *r, struct tree_items *list, struct tree_item item, pfr_error *err) {
    PFR_TRY(make_room(r, list, list->count, err));
    list->at[list->count++] = item;
    return PFR_OK;
}

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
    const bool marks = r->row_trees && r->chain.caller;
    if (marks && !t->mark_of)
        t->mark_of = mem_zeroed(r->memory, r->path_segments.count, sizeof *t->mark_of);
    if (!t->slot_of)
        t->slot_of = mem_alloc(r->memory, frames, sizeof *t->slot_of);
    if (!t->stamp_of)
        t->stamp_of = mem_zeroed(r->memory, frames, sizeof *t->stamp_of);
    const bool good = t->slot_of && t->stamp_of && (t->mark_of || !marks);
    return good ? PFR_OK : mem_fail(r->memory, err, "tree");
}

/* --- what stands one step further --- */

/* Where frames are addresses a tree shows functions all the same, unless -g address. */
static uint32_t frame_in_tree(const struct report *r, uint32_t node) {
    const uint32_t frame = node_frame(&r->call_trees.nodes[node]);
    return request_has_addresses(&r->profile->request) && !r->chain.by_address ? r->symbol_of[frame] : frame;
}

static bool is_root(const struct report *r, uint32_t path_segment) {
    return r->path_segments.at[path_segment].parent == NO_LIMB;
}

static bool is_apart(const struct report *r, uint32_t path_segment) {
    return r->path_segments.at[path_segment].is_apart;
}

/* The limb at whose last node the chain ends of what was sampled at the end of one: a root where there is no chain. */
static uint32_t chain_end(const struct report *r, uint32_t path_segment) {
    return is_apart(r, path_segment) ? r->path_segments.at[path_segment].parent : path_segment;
}

static void add_weight(struct profile_weight *to, struct profile_weight more) {
    to->weight += more.weight;
    to->samples += more.samples;
}

static struct profile_weight less(struct profile_weight a, struct profile_weight b) {
    return (struct profile_weight){a.weight - b.weight, a.samples - b.samples};
}

static struct profile_weight mark_of(const struct report_tree *t, uint32_t path_segment) {
    const uint32_t mark = t->nr_marks ? t->mark_of[path_segment] : 0;
    return mark ? t->marks[mark - 1].weight : (struct profile_weight){0, 0};
}

/* Of a node, without or with just the samples of the row. */
static struct profile_weight weight_below(const struct growth *g, uint32_t path_segment, bool whole) {
    const struct profile_weight mark = mark_of(g->t, path_segment);
    return whole ? mark : less(g->r->path_segments.at[path_segment].sum, mark);
}

static pfr_status step_to(struct growth *g, const struct tree_item *from, uint32_t path_segment, uint32_t node,
                          tree_step *take, pfr_error *err) {
    struct tree_item to = *from;
    to.path_segment = path_segment;
    to.node = node;
    return take(g, &to, err);
}

static pfr_status step_up(struct growth *g, const struct tree_item *item, tree_step *take, pfr_error *err) {
    const struct path_segment *path_segments = g->r->path_segments.at;
    const uint32_t parent = path_segments[item->path_segment].parent;
    if (item->node > path_segments[item->path_segment].node)
        return step_to(g, item, item->path_segment, item->node - 1, take, err);
    if (!is_root(g->r, parent))
        return step_to(g, item, parent, path_segment_last(&path_segments[parent]), take, err);
    return PFR_OK;
}

static pfr_status step_into(struct growth *g, uint32_t path_segment, bool whole, tree_step *take, pfr_error *err) {
    const struct tree_item to = {.node = g->r->path_segments.at[path_segment].node,
                                 .path_segment = path_segment,
                                 .whole = whole,
                                 .weight = weight_below(g, path_segment, whole)};
    return to.weight.samples ? take(g, &to, err) : PFR_OK;
}

/* What will be looked at next, and the limb beside that. */
static void fetch_beside(const struct report *r, uint32_t path_segment, uint32_t end) {
    const struct path_segment *path_segments = r->path_segments.at;
    if (path_segment >= end)
        return;
    __builtin_prefetch(&r->call_trees.nodes[path_segments[path_segment].node]);
    __builtin_prefetch(&path_segments[path_segment + path_segments[path_segment].size]);
}

static pfr_status step_down(struct growth *g, const struct tree_item *item, tree_step *take, pfr_error *err) {
    const struct path_segment *path_segments = g->r->path_segments.at, *at = &path_segments[item->path_segment];
    if (item->node != path_segment_last(at))
        return step_to(g, item, item->path_segment, item->node + 1, take, err);
    const uint32_t end = item->path_segment + at->size;
    for (uint32_t l = item->path_segment + 1; l < end; l += path_segments[l].size) {
        fetch_beside(g->r, l + path_segments[l].size, end);
        if (!is_apart(g->r, l))
            PFR_TRY(step_into(g, l, item->whole, take, err));
    }
    return PFR_OK;
}

/* --- twigs above one --- */

/* Objects that came later stand first, and what is in none last, as their addresses in perf's memory mostly do. */
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

/* Twigs that are too light are most of all: so they are weighed before any item of them is kept. */
static pfr_status weigh_item(struct growth *g, const struct tree_item *item, pfr_error *err) {
    struct report_tree *t = g->t;
    const uint32_t frame = frame_in_tree(g->r, item->node);
    if (t->stamp_of[frame] != t->stamp) {
        t->stamp_of[frame] = t->stamp;
        t->slot_of[frame] = (uint32_t)t->count;
        PFR_TRY(push_subtree(g->r, t, (struct subtree){.frame = frame, .parent = g->above}, err));
    }
    struct subtree *subtree = &t->subtrees[t->slot_of[frame]];
    add_weight(&subtree->total, item->weight);
    subtree->nr_items++;
    return PFR_OK;
}

/* The least weight that is a share of another, as perf rounds it: up. */
static uint64_t least_share(uint64_t of, double percent) {
    const double share = (double)of * (percent / 100);
    const uint64_t whole = (uint64_t)share;
    return whole + ((double)whole < share);
}

/* Heaviest first, those that are too light at the end and given up. Chains one after the other are sorted by what ends
 * in them, and only of equal ones the order of twigs counts. */
static void keep_heavy(struct growth *g, uint32_t first) {
    struct report_tree *t = g->t;
    struct subtree *const above = &t->subtrees[g->above];
    const struct chain_how *how = &g->r->chain;
    uint64_t least = g->least;
    if (how->mode == CHAIN_FRACTAL)
        least = least_share(less(above->total, above->own).weight, how->least);
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

/* Items of those that stay go to the next level, together by twig. */
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
    return count ? make_room(g->r, &t->next, t->next.count - 1, err) : PFR_OK;
}

static void fetch_item(const struct growth *g, const struct tree_item *item) {
    __builtin_prefetch(&g->r->path_segments.at[item->path_segment]);
    __builtin_prefetch(&g->r->call_trees.nodes[item->node + 1]);
}

/* Takes each step from the items of a twig. */
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

/* Those of all chains together are the gathered ones. */
static pfr_status take_gathered(struct growth *g, tree_step *take, pfr_error *err) {
    const struct tree_items *all = &g->t->gathered;
    for (size_t i = 0; i < all->count; i++) {
        if (i + FETCHED < all->count)
            fetch_item(g, &all->at[i + FETCHED]);
        PFR_TRY(take(g, &all->at[i], err));
    }
    return PFR_OK;
}

/* Chains end where there is no further step. */
static void weigh_ends(struct growth *g, uint32_t first) {
    struct report_tree *t = g->t;
    struct subtree *above = &t->subtrees[g->above];
    above->own = above->total;
    for (size_t i = first; i < t->count; i++)
        above->own = less(above->own, t->subtrees[i].total);
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

/* --- where the chains of a row begin --- */

static const struct member *members_of(const struct report *r, uint32_t row) {
    return r->walk.members + r->walk.begin[row];
}

static pfr_status gather(struct growth *g, struct tree_item item, pfr_error *err) {
    return item.weight.samples ? push_item(g->r, &g->t->gathered, item, err) : PFR_OK;
}

static struct tree_item item_at_end(const struct report *r, uint32_t path_segment, struct profile_weight weight) {
    return (struct tree_item){
        .node = path_segment_last(&r->path_segments.at[path_segment]), .path_segment = path_segment, .weight = weight};
}

#define NO_ITEM UINT32_MAX

static bool is_around(const struct report *r, const struct tree_item *item, const struct member *member) {
    return member->path_segment - item->path_segment < r->path_segments.at[item->path_segment].size;
}

/* Members as items of their own weight, without that of those inside: who is inside another one stands behind it. */
static pfr_status gather_members(struct growth *g, pfr_error *err) {
    struct report *r = g->r;
    struct tree_items *all = &g->t->gathered;
    uint32_t around = NO_ITEM;
    for (const struct member *m = members_of(r, g->row); m < members_of(r, g->row + 1); m++) {
        const struct profile_weight sum = r->path_segments.at[m->path_segment].sum;
        while (around != NO_ITEM && !is_around(r, &all->at[around], m))
            around = all->at[around].around;
        if (around != NO_ITEM)
            all->at[around].weight = less(all->at[around].weight, sum);
        const struct tree_item item = {
            .node = m->node, .path_segment = m->path_segment, .around = around, .weight = sum};
        around = (uint32_t)all->count;
        PFR_TRY(push_item(r, all, item, err));
    }
    return PFR_OK;
}

/* Callees first: all that has the row in its stack, at the innermost node of it. */
static pfr_status begin_innermost(struct growth *g, pfr_error *err) {
    struct report *r = g->r;
    struct tree_items *all = &g->t->gathered;
    size_t count = 0;
    PFR_TRY(gather_members(g, err));
    for (size_t i = 0; i < all->count; i++) {
        const struct tree_item item = all->at[i];
        const uint32_t end = chain_end(r, item.path_segment);
        if (item.weight.samples && !is_root(r, end))
            all->at[count++] = end == item.path_segment ? item : item_at_end(r, end, item.weight);
    }
    all->count = count;
    return PFR_OK;
}

static pfr_status begin_samples(struct growth *g, pfr_error *err) {
    struct report *r = g->r;
    for (const struct member *m = members_of(r, g->row); m < members_of(r, g->row + 1); m++) {
        const uint32_t end = chain_end(r, m->path_segment);
        if (!is_root(r, end))
            PFR_TRY(gather(g, item_at_end(r, end, path_segment_self(r, m->path_segment)), err));
    }
    return PFR_OK;
}

/* Limbs on the way to the root that have no mark get one, those above first. */
static pfr_status mark_way(struct growth *g, uint32_t path_segment, pfr_error *err) {
    const struct path_segment *path_segments = g->r->path_segments.at;
    struct report_tree *t = g->t;
    size_t count = t->nr_marks;
    for (uint32_t at = path_segment; !is_root(g->r, at) && !t->mark_of[at]; at = path_segments[at].parent)
        count++;
    void *grown = mem_grow(g->r->memory, t->marks, count, &t->marks_room, 256, sizeof *t->marks);
    if (!grown)
        return mem_fail(g->r->memory, err, "tree");
    t->marks = grown;
    t->nr_marks = count;
    for (uint32_t at = path_segment; !is_root(g->r, at) && !t->mark_of[at]; at = path_segments[at].parent) {
        t->mark_of[at] = (uint32_t)count--;
        t->marks[count] = (struct tree_mark){at, {0, 0}};
    }
    return PFR_OK;
}

/* What stands below has a larger number. */
static void sum_up_marks(struct growth *g) {
    const struct path_segment *path_segments = g->r->path_segments.at;
    struct report_tree *t = g->t;
    for (size_t i = t->nr_marks; i-- > 0;) {
        const uint32_t parent = t->mark_of[path_segments[t->marks[i].path_segment].parent];
        if (parent)
            add_weight(&t->marks[parent - 1].weight, t->marks[i].weight);
    }
}

static void fetch_samples(const struct report *r, const struct member *m) {
    __builtin_prefetch(&r->path_segments.at[m->path_segment]);
    if (m->has_samples)
        node_weights_fetch(&r->call_trees.self, m->node);
}

/* Marks the ways from the roots to the row's own samples. */
static pfr_status mark_samples(struct growth *g, pfr_error *err) {
    const struct report *r = g->r;
    struct report_tree *t = g->t;
    for (const struct member *m = members_of(r, g->row), *end = members_of(r, g->row + 1); m < end; m++) {
        if (m + FETCHED < end)
            fetch_samples(r, m + FETCHED);
        if (!m->has_samples)
            continue;
        const struct profile_weight self = path_segment_self(r, m->path_segment);
        const uint32_t chain = chain_end(r, m->path_segment);
        if (is_root(r, chain))
            continue;
        PFR_TRY(mark_way(g, chain, err));
        add_weight(&t->marks[t->mark_of[chain] - 1].weight, self);
    }
    sum_up_marks(g);
    return PFR_OK;
}

/* Whole chains begin where a marked limb hangs on a root. */
static pfr_status gather_tops(struct growth *g, pfr_error *err) {
    const struct path_segment *path_segments = g->r->path_segments.at;
    for (size_t i = 0; i < g->t->nr_marks; i++) {
        const struct tree_mark *mark = &g->t->marks[i];
        const struct path_segment *path_segment = &path_segments[mark->path_segment];
        if (is_root(g->r, path_segment->parent))
            PFR_TRY(gather(g,
                           (struct tree_item){.node = path_segment->node,
                                              .path_segment = mark->path_segment,
                                              .whole = true,
                                              .weight = mark->weight},
                           err));
    }
    return PFR_OK;
}

static void unmark(struct report_tree *t) {
    while (t->nr_marks > 0)
        t->mark_of[t->marks[--t->nr_marks].path_segment] = 0;
}

/* Callers first. The marks stay until the tree has grown. */
static pfr_status begin_outermost(struct growth *g, pfr_error *err) {
    struct report *r = g->r;
    PFR_TRY(mark_samples(g, err));
    PFR_TRY(gather_tops(g, err));
    if (!r->children)
        return PFR_OK;
    for (const struct member *m = members_of(r, g->row), *end = members_of(r, g->row + 1); m < end; m++) {
        __builtin_prefetch(&r->path_segments.at[m[m + FETCHED < end ? FETCHED : 0].path_segment]);
        if (!m->is_inner && !is_apart(r, m->path_segment))
            PFR_TRY(gather(g,
                           (struct tree_item){.node = m->node,
                                              .path_segment = m->path_segment,
                                              .weight = weight_below(g, m->path_segment, false)},
                           err));
    }
    return PFR_OK;
}

static uint32_t event_of_root(const void *context, uint32_t root) {
    return ((const struct call_trees_root *)context)[root].group->event;
}

/* All samples of an event, from the roots on. What is sampled apart from its chain and has none stands for itself. */
static pfr_status begin_all(struct growth *g, uint32_t event, pfr_error *err) {
    struct report *r = g->r;
    const struct path_segment *path_segments = r->path_segments.at;
    struct number_lists *roots = &r->event_roots;
    if (!roots->starts)
        PFR_TRY(number_lists_make(roots, r->memory, r->call_trees.nr_roots, (size_t)r->profile->nr_events + 1,
                                  event_of_root, r->call_trees.roots, err));
    for (uint32_t i = roots->starts[event]; i < roots->starts[event + 1]; i++) {
        const uint32_t root = r->path_segments.root[roots->at[i]], end = root + path_segments[root].size;
        for (uint32_t l = root + 1; l < end; l += path_segments[l].size)
            PFR_TRY(gather(
                g, (struct tree_item){.node = path_segments[l].node, .path_segment = l, .weight = path_segments[l].sum},
                err));
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
        add_weight(&t->subtrees[0].total, t->gathered.at[i].weight);
}

pfr_status tree_make_all(struct report *r, uint32_t event, uint64_t least, pfr_error *err) {
    struct growth g = {.r = r, .t = &r->tree, .row = NO_ROW, .least = least};
    PFR_TRY(begin_tree(r, g.t, err));
    PFR_TRY(begin_all(&g, event, err));
    weigh_top(g.t);
    return grow(&g, err);
}

pfr_status tree_make(struct report *r, struct report_tree *t, uint32_t row, uint64_t least, pfr_error *err) {
    struct growth g = {.r = r, .t = t, .row = row, .least = least};
    PFR_TRY(begin_tree(r, g.t, err));
    pfr_status st = r->chain.caller ? begin_outermost(&g, err)
                    : r->children   ? begin_innermost(&g, err)
                                    : begin_samples(&g, err);
    weigh_top(g.t);
    if (st >= 0)
        st = grow(&g, err);
    unmark(g.t);
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
    mem_free(r->memory, t->mark_of, r->path_segments.count, sizeof *t->mark_of);
    mem_free(r->memory, t->marks, t->marks_room, sizeof *t->marks);
    *t = (struct report_tree){0};
}
