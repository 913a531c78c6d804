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
 *     whole    the node with the samples of the row below it: their weight is walk.mark
 */
#include "view/report_cells.h"

#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

/* What is needed while one tree grows. */
struct growth {
    struct report *r;
    struct tree *t;
    uint32_t row;
    uint64_t least;
};

/* --- arrays --- */

static pfr_status push_item(struct report *r, struct tree_items *list, struct tree_item item, pfr_error *err) {
    void *grown = mem_grow(r->memory, list->at, list->count, &list->room, 256, sizeof *list->at);
    if (!grown)
        return mem_fail(r->memory, err, "tree");
    list->at = grown;
    list->at[list->count++] = item;
    return PFR_OK;
}

static pfr_status push_twig(struct report *r, struct twig twig, pfr_error *err) {
    struct tree *t = &r->tree;
    void *grown = mem_grow(r->memory, t->twigs, t->count, &t->room, 256, sizeof *t->twigs);
    if (!grown)
        return mem_fail(r->memory, err, "tree");
    t->twigs = grown;
    t->twigs[t->count++] = twig;
    return PFR_OK;
}

static pfr_status prepare(struct report *r, pfr_error *err) {
    struct tree *t = &r->tree;
    const size_t frames = r->profile->nr_frames;
    if (t->slot_of)
        return PFR_OK;
    t->slot_of = mem_alloc(r->memory, frames, sizeof *t->slot_of);
    t->stamp_of = mem_zeroed(r->memory, frames, sizeof *t->stamp_of);
    return t->slot_of && t->stamp_of ? PFR_OK : mem_fail(r->memory, err, "tree");
}

/* --- gathering: what stands one step further --- */

/* Where frames are addresses a tree shows functions all the same, unless -g address. */
static uint32_t frame_in_tree(const struct report *r, uint32_t node) {
    const uint32_t frame = node_frame(&r->forest.nodes[node]);
    return r->profile->wish.addresses && !r->chain.by_address ? r->symbol_of[frame] : frame;
}

static bool is_root(const struct report *r, uint32_t node) {
    return r->forest.nodes[node].parent == NO_NODE;
}

static bool is_apart(const struct report *r, uint32_t node) {
    return r->forest.nodes[node].frame & NODE_APART;
}

/* The innermost node of the chain of what was sampled at a node: a root where there is no chain. */
static uint32_t chain_end(const struct report *r, uint32_t node) {
    return is_apart(r, node) ? r->forest.nodes[node].parent : node;
}

static void add_weight(struct profile_weight *to, struct profile_weight more) {
    to->weight += more.weight;
    to->samples += more.samples;
}

static struct profile_weight less(struct profile_weight a, struct profile_weight b) {
    return (struct profile_weight){a.weight - b.weight, a.samples - b.samples};
}

static pfr_status gather(struct growth *g, struct tree_item item, pfr_error *err) {
    return item.weight.samples ? push_item(g->r, &g->t->gathered, item, err) : PFR_OK;
}

static pfr_status gather_up(struct growth *g, struct twig *twig, const struct tree_item *item, pfr_error *err) {
    const uint32_t parent = g->r->forest.nodes[item->node].parent;
    if (is_root(g->r, parent)) {
        add_weight(&twig->own, item->weight);
        return PFR_OK;
    }
    return gather(g, (struct tree_item){parent, false, item->weight}, err);
}

/* Samples that end at this node, of the item's kind. */
static void count_end(struct growth *g, struct twig *twig, const struct tree_item *item, uint32_t node) {
    if ((g->r->walk.row[node] == g->row) == item->whole)
        add_weight(&twig->own, g->r->forest.self[node]);
}

static pfr_status gather_down(struct growth *g, struct twig *twig, const struct tree_item *item, pfr_error *err) {
    const struct walk *w = &g->r->walk;
    count_end(g, twig, item, item->node);
    for (uint32_t n = w->first[item->node]; n != NO_NODE; n = w->next[n]) {
        if (is_apart(g->r, n)) {
            count_end(g, twig, item, n);
            continue;
        }
        const struct profile_weight weight = item->whole ? w->mark[n] : less(w->sum[n], w->mark[n]);
        PFR_TRY(gather(g, (struct tree_item){n, item->whole, weight}, err));
    }
    return PFR_OK;
}

/* --- a gathered level to twigs --- */

/* Objects that came later stand first, and what is in none last, as their addresses in perf's memory mostly do. */
static uint64_t object_rank(const struct profile_frame *f) {
    return f->object == NO_OBJECT ? 0 : (uint64_t)f->object + 1;
}

static int by_address(const void *a, const void *b, void *context) {
    const struct report *r = context;
    const struct profile_frame *x = report_frame(r, ((const struct twig *)a)->frame);
    const struct profile_frame *y = report_frame(r, ((const struct twig *)b)->frame);
    if (object_rank(x) != object_rank(y))
        return object_rank(x) > object_rank(y) ? -1 : 1;
    if (x->is_inlined || y->is_inlined)
        return x->is_inlined && y->is_inlined ? -collate_texts(r, x->text, y->text) : x->is_inlined ? -1 : 1;
    const bool by_ip = x->text == NO_TEXT || y->text == NO_TEXT;
    const uint64_t p = by_ip ? x->ip : x->address, q = by_ip ? y->ip : y->address;
    return p != q ? (p > q ? -1 : 1) : 0;
}

static int by_weight(const void *a, const void *b, void *context) {
    const struct twig *x = a, *y = b;
    if (x->total.weight != y->total.weight)
        return x->total.weight > y->total.weight ? -1 : 1;
    return by_address(a, b, context);
}

static pfr_status sort_into_twigs(struct growth *g, uint32_t parent, pfr_error *err) {
    struct tree *t = g->t;
    t->stamp++;
    for (size_t i = 0; i < t->gathered.count; i++) {
        const struct tree_item *item = &t->gathered.at[i];
        const uint32_t frame = frame_in_tree(g->r, item->node);
        if (t->stamp_of[frame] != t->stamp) {
            t->stamp_of[frame] = t->stamp;
            t->slot_of[frame] = (uint32_t)t->count;
            PFR_TRY(push_twig(g->r, (struct twig){.frame = frame, .parent = parent}, err));
        }
        struct twig *twig = &t->twigs[t->slot_of[frame]];
        add_weight(&twig->total, item->weight);
        twig->nr_items++;
    }
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
static void keep_heavy(struct growth *g, uint32_t parent, uint32_t first) {
    struct tree *t = g->t;
    struct twig *const above = &t->twigs[parent];
    const struct chain_how *how = &g->r->chain;
    uint64_t least = g->least;
    if (how->mode == CHAIN_FRACTAL)
        least = least_share(less(above->total, above->own).weight, how->least);
    above->first = first;
    above->all = (uint32_t)t->count - first;
    qsort_r(t->twigs + first, above->all, sizeof *t->twigs, by_weight, g->r);
    while (above->count < above->all && t->twigs[first + above->count].total.weight >= least)
        above->count++;
    if (how->mode == CHAIN_FLAT || how->mode == CHAIN_FOLDED)
        qsort_r(t->twigs + first, above->count, sizeof *t->twigs, by_address, g->r);
}

/* The gathered items of those that stay go to the next level, together by twig. */
static pfr_status place_items(struct growth *g, uint32_t first, uint32_t count, pfr_error *err) {
    struct tree *t = g->t;
    const struct tree_item none = {0};
    t->stamp++;
    for (uint32_t i = 0; i < count; i++) {
        struct twig *twig = &t->twigs[first + i];
        twig->items = (uint32_t)t->next.count;
        t->stamp_of[twig->frame] = t->stamp;
        t->slot_of[twig->frame] = twig->items;
        for (uint32_t k = 0; k < twig->nr_items; k++)
            PFR_TRY(push_item(g->r, &t->next, none, err));
    }
    for (size_t i = 0; i < t->gathered.count; i++) {
        const struct tree_item *item = &t->gathered.at[i];
        const uint32_t frame = frame_in_tree(g->r, item->node);
        if (t->stamp_of[frame] == t->stamp)
            t->next.at[t->slot_of[frame]++] = *item;
    }
    t->count = first + count;
    return PFR_OK;
}

static pfr_status make_twigs(struct growth *g, uint32_t parent, pfr_error *err) {
    const uint32_t first = (uint32_t)g->t->count;
    PFR_TRY(sort_into_twigs(g, parent, err));
    keep_heavy(g, parent, first);
    return place_items(g, first, g->t->twigs[parent].count, err);
}

static pfr_status grow_twig(struct growth *g, uint32_t number, pfr_error *err) {
    struct tree *t = g->t;
    struct twig *twig = &t->twigs[number];
    t->gathered.count = 0;
    for (uint32_t i = 0; i < twig->nr_items; i++) {
        const struct tree_item *item = &t->level.at[twig->items + i];
        PFR_TRY((g->r->chain.caller ? gather_down : gather_up)(g, twig, item, err));
    }
    return make_twigs(g, number, err);
}

static void next_level(struct tree *t) {
    const struct tree_items done = t->level;
    t->level = t->next;
    t->next = done;
    t->next.count = 0;
}

static pfr_status grow(struct growth *g, pfr_error *err) {
    struct tree *t = g->t;
    PFR_TRY(make_twigs(g, 0, err));
    for (uint32_t at = 1; at < t->count;) {
        const uint32_t end = (uint32_t)t->count;
        next_level(t);
        for (; at < end; at++)
            PFR_TRY(grow_twig(g, at, err));
    }
    return PFR_OK;
}

/* --- where the chains of a row begin --- */

#define FOR_MEMBERS(walk, row, node)                                                                                   \
    for (uint32_t at_ = (walk)->begin[row], node; at_ < (walk)->begin[(row) + 1] && (node = (walk)->members[at_], 1);  \
         at_++)

/* Callees first: all that has the row in its stack, at the innermost node of it. */
static pfr_status begin_innermost(struct growth *g, pfr_error *err) {
    struct report *r = g->r;
    struct walk *w = &r->walk;
    pfr_status st = PFR_OK;
    FOR_MEMBERS(w, g->row, n)
    if (w->above[n] != NO_NODE)
        add_weight(&w->mark[w->above[n]], w->sum[n]);
    FOR_MEMBERS(w, g->row, n) {
        const uint32_t end = chain_end(r, n);
        if (st >= 0 && !is_root(r, end))
            st = gather(g, (struct tree_item){end, false, less(w->sum[n], w->mark[n])}, err);
    }
    FOR_MEMBERS(w, g->row, n)
    w->mark[n] = (struct profile_weight){0, 0};
    return st;
}

static pfr_status begin_samples(struct growth *g, pfr_error *err) {
    struct report *r = g->r;
    FOR_MEMBERS(&r->walk, g->row, n) {
        const uint32_t end = chain_end(r, n);
        if (!is_root(r, end))
            PFR_TRY(gather(g, (struct tree_item){end, false, r->forest.self[n]}, err));
    }
    return PFR_OK;
}

/* Marks the way from the roots to the row's own samples; the first node of each way is where a whole chain begins. */
static pfr_status mark_samples(struct growth *g, struct tree_items *tops, pfr_error *err) {
    struct report *r = g->r;
    FOR_MEMBERS(&r->walk, g->row, n) {
        const struct profile_weight self = r->forest.self[n];
        if (!self.samples)
            continue;
        for (uint32_t at = chain_end(r, n); !is_root(r, at); at = r->forest.nodes[at].parent) {
            struct profile_weight *mark = &r->walk.mark[at];
            if (!mark->samples && is_root(r, r->forest.nodes[at].parent))
                PFR_TRY(push_item(r, tops, (struct tree_item){at, true, {0, 0}}, err));
            add_weight(mark, self);
        }
    }
    return PFR_OK;
}

static void unmark(struct growth *g) {
    const struct report *r = g->r;
    FOR_MEMBERS(&r->walk, g->row, n)
    for (uint32_t at = chain_end(r, n); !is_root(r, at) && r->walk.mark[at].samples; at = r->forest.nodes[at].parent)
        r->walk.mark[at] = (struct profile_weight){0, 0};
}

/* Callers first. The marks stay until the tree has grown. */
static pfr_status begin_outermost(struct growth *g, pfr_error *err) {
    struct report *r = g->r;
    const struct walk *w = &r->walk;
    struct tree_items *tops = &g->t->gathered;
    PFR_TRY(mark_samples(g, tops, err));
    for (size_t i = 0; i < tops->count; i++)
        tops->at[i].weight = w->mark[tops->at[i].node];
    if (!r->children)
        return PFR_OK;
    FOR_MEMBERS(w, g->row, n)
    if (w->above[n] == NO_NODE && !is_apart(r, n))
        PFR_TRY(gather(g, (struct tree_item){n, false, less(w->sum[n], w->mark[n])}, err));
    return PFR_OK;
}

static uint32_t event_of_root(const void *context, uint32_t root) {
    return ((const struct forest_root *)context)[root].group->event;
}

/* All samples of an event, from the roots on. What is sampled apart from its chain and has none stands for itself. */
static pfr_status begin_all(struct growth *g, uint32_t event, pfr_error *err) {
    struct report *r = g->r;
    const struct walk *w = &r->walk;
    struct number_lists *roots = &r->event_roots;
    if (!roots->starts)
        PFR_TRY(number_lists_make(roots, r->memory, r->forest.nr_roots, (size_t)r->profile->nr_events + 1,
                                  event_of_root, r->forest.roots, err));
    for (uint32_t i = roots->starts[event]; i < roots->starts[event + 1]; i++)
        for (uint32_t n = w->first[r->forest.roots[roots->at[i]].node]; n != NO_NODE; n = w->next[n])
            PFR_TRY(gather(g, (struct tree_item){n, false, w->sum[n]}, err));
    return PFR_OK;
}

static pfr_status begin_tree(struct report *r, pfr_error *err) {
    struct tree *t = &r->tree;
    PFR_TRY(prepare(r, err));
    t->count = t->gathered.count = t->level.count = t->next.count = 0;
    return push_twig(r, (struct twig){.frame = NO_FRAME, .parent = NO_NODE}, err);
}

static void weigh_top(struct tree *t) {
    for (size_t i = 0; i < t->gathered.count; i++)
        add_weight(&t->twigs[0].total, t->gathered.at[i].weight);
}

pfr_status tree_make_all(struct report *r, uint32_t event, uint64_t least, pfr_error *err) {
    struct growth g = {.r = r, .t = &r->tree, .row = NO_ROW, .least = least};
    PFR_TRY(begin_tree(r, err));
    PFR_TRY(begin_all(&g, event, err));
    weigh_top(g.t);
    return grow(&g, err);
}

pfr_status tree_make(struct report *r, uint32_t row, uint64_t least, pfr_error *err) {
    struct growth g = {.r = r, .t = &r->tree, .row = row, .least = least};
    PFR_TRY(begin_tree(r, err));
    pfr_status st = r->chain.caller ? begin_outermost(&g, err)
                    : r->children   ? begin_innermost(&g, err)
                                    : begin_samples(&g, err);
    weigh_top(g.t);
    if (st >= 0)
        st = grow(&g, err);
    if (r->chain.caller)
        unmark(&g);
    return st;
}

static void free_items(struct memory *memory, struct tree_items *list) {
    mem_free(memory, list->at, list->room, sizeof *list->at);
}

void tree_free(struct report *r) {
    struct tree *t = &r->tree;
    const size_t frames = r->profile ? r->profile->nr_frames : 0;
    mem_free(r->memory, t->twigs, t->room, sizeof *t->twigs);
    free_items(r->memory, &t->level);
    free_items(r->memory, &t->next);
    free_items(r->memory, &t->gathered);
    mem_free(r->memory, t->slot_of, frames, sizeof *t->slot_of);
    mem_free(r->memory, t->stamp_of, frames, sizeof *t->stamp_of);
    mem_free(r->memory, t->ends, t->ends_room, sizeof *t->ends);
    mem_free(r->memory, t->levels, t->levels_room, sizeof *t->levels);
    *t = (struct tree){0};
}
