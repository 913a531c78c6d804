/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the call trees from which rows are made: the profile's own trees, or a copy if something must be changed:
 *
 *     filters             excluded samples have weight 0
 *     --mem-mode          the weight of a sample is its access cost instead of its period
 *     -p                  samples with different parents (functions matched by -p) are under different roots
 *     --ignore-callees    samples below a matching function count as its own samples
 */
#include "view/report/rows/report_call_trees.h"
#include "view/report/fields/report_common.h"
#include "view/report/fields/report_filter.h"

#include "base/memory/fail.h"

#include <string.h>

/* --- adding nodes --- */

static pfr_status add_node(struct report *r, struct profile_node node, struct profile_weight self, pfr_error *err) {
    struct call_trees *f = &r->trees.calls;
    void *nodes = mem_grow(r->memory, f->nodes, f->nr_nodes, &f->nodes_room, 256, sizeof *f->nodes);
    f->nodes = nodes ? nodes : f->nodes;
    void *weights = mem_grow(r->memory, f->self.at, f->nr_nodes, &f->self.room, 256, sizeof *f->self.at);
    f->self.at = weights ? weights : f->self.at;
    f->own_nodes = f->own_self = true;
    if (!nodes || !weights)
        return mem_fail(r->memory, err, "nodes");
    f->nodes[f->nr_nodes] = node;
    f->self.at[f->nr_nodes++] = self;
    return PFR_OK;
}

static pfr_status add_root(struct report *r, struct call_trees_root root, pfr_error *err) {
    struct call_trees *f = &r->trees.calls;
    void *grown = mem_grow(r->memory, f->roots, f->nr_roots, &f->roots_room, 16, sizeof *f->roots);
    if (!grown)
        return mem_fail(r->memory, err, "nodes");
    f->roots = grown;
    f->roots[f->nr_roots++] = root;
    return PFR_OK;
}

static pfr_status copy_weights(struct report *r, pfr_error *err) {
    struct call_trees *f = &r->trees.calls;
    struct node_weights copy;
    if (f->own_self || !f->nr_nodes)
        return PFR_OK;
    if (!node_weights_copy(&copy, &f->self, r->memory, f->nr_nodes))
        return mem_fail(r->memory, err, "nodes");
    f->self = copy;
    f->own_self = true;
    return PFR_OK;
}

/* --- weights --- */

/* Returns for each node the number of its root (the root node's `frame`). NULL: out of memory. */
static uint32_t *roots_of_nodes(struct report *r) {
    const struct call_trees *f = &r->trees.calls;
    uint32_t *root_of = mem_alloc(r->memory, f->nr_nodes, sizeof *root_of);
    for (uint32_t n = 0; root_of && n < f->nr_nodes; n++)
        root_of[n] = f->nodes[n].parent == NO_NODE ? f->nodes[n].frame : root_of[f->nodes[n].parent];
    return root_of;
}

static void weigh_cost(struct report *r, const struct profile_group *group, struct profile_weight *self) {
    const uint64_t cost = profile_value(r->profile, group, PROFILE_WEIGHT);
    self->weight = self->samples * (cost ? cost : 1);
}

static uint32_t frame_of_node(const struct call_trees *f, uint32_t n) {
    return f->nodes[n].parent == NO_NODE ? NO_FRAME : node_frame(&f->nodes[n]);
}

static pfr_status weigh(struct report *r, pfr_error *err) {
    struct call_trees *f = &r->trees.calls;
    if (r->mode != REPORT_MEMORY && !r->filters.has_rows)
        return PFR_OK;
    PFR_TRY(copy_weights(r, err));
    uint32_t *root_of = roots_of_nodes(r);
    if (!root_of)
        return mem_fail(r->memory, err, "nodes");
    memset(r->events.sums.totals, 0, ((size_t)r->profile->nr_events + 1) * sizeof *r->events.sums.totals);
    memset(r->events.sums.all, 0, ((size_t)r->profile->nr_events + 1) * sizeof *r->events.sums.all);
    for (uint32_t n = 0; n < f->nr_nodes; n++) {
        const struct profile_group *group = f->roots[root_of[n]].group;
        if (!node_weight(&f->self, n)->samples)
            continue;
        struct profile_weight *self = node_weights_own(&f->self, n);
        if (r->mode == REPORT_MEMORY)
            weigh_cost(r, group, self);
        weight_add(&r->events.sums.all[group->event], self);
        const bool kept = !r->filters.has_rows || filter_keeps(r, group, frame_of_node(f, n));
        if (kept || !r->relative)
            weight_add(&r->events.sums.totals[group->event], self);
        if (!kept)
            *self = (struct profile_weight){0, 0};
    }
    mem_free(r->memory, root_of, f->nr_nodes, sizeof *root_of);
    return PFR_OK;
}

/* --- parents --- */

struct replanting {
    struct report *r;
    struct call_trees old;
    struct intern_table keys;  /* (new parent, frame) -> new node; for roots: (NO_NODE, number of root) -> new node */
    struct intern_table roots; /* (group, parent text) -> number of root */
    uint32_t *path;            /* the nodes of one chain of the old tree */
    size_t path_room;
    uint8_t *parents, *ignored; /* by text: 0 not checked yet, 1 the text does not match, 2 it matches */
};

static bool matches(struct replanting *p, const regex_t *pattern, uint8_t *known, uint32_t node) {
    const struct profile_node *n = &p->old.nodes[node];
    if (n->frame & NODE_APART)
        return false;
    const uint32_t text = report_frame(p->r, n->frame)->text;
    if (text == NO_TEXT)
        return false;
    if (!known[text])
        known[text] = regexec(pattern, intern_chars(&p->r->profile->texts, text), 0, NULL, 0) == 0 ? 2 : 1;
    return known[text] == 2;
}

static bool is_parent(struct replanting *p, uint32_t node) {
    return p->r->filters.parents.wanted && matches(p, &p->r->filters.parents.pattern, p->parents, node);
}

static bool ignores_callees(struct replanting *p, uint32_t node) {
    return p->r->filters.ignored.made && matches(p, &p->r->filters.ignored.pattern, p->ignored, node);
}

/* Finds the function that matches -p: the innermost match, or the outermost match with caller first. p->path receives
   the chain, innermost frame first. The chain begins at the outermost function whose callees are ignored. */
static pfr_status find_parent(struct replanting *p, uint32_t node, uint32_t *count, uint32_t *parent, pfr_error *err) {
    struct memory *memory = p->r->memory;
    *count = 0;
    *parent = NO_PARENT;
    for (uint32_t n = node; p->old.nodes[n].parent != NO_NODE; n = p->old.nodes[n].parent) {
        void *grown = mem_grow(memory, p->path, *count, &p->path_room, 128, sizeof *p->path);
        if (!grown)
            return mem_fail(memory, err, "nodes");
        p->path = grown;
        if (ignores_callees(p, n))
            *count = 0;
        p->path[(*count)++] = n;
        if ((*parent == NO_PARENT || p->r->chain.caller) && is_parent(p, n))
            *parent = report_frame(p->r, p->old.nodes[n].frame)->text;
    }
    return PFR_OK;
}

static pfr_status find_root(struct replanting *p, const struct profile_group *group, uint32_t parent, uint32_t *node,
                            pfr_error *err) {
    const struct { uint64_t group, parent; } key = {(uint64_t)(uintptr_t)group, parent};
    uint32_t root;
    PFR_TRY(intern_put(&p->roots, &key, sizeof key, &root, err));
    if (root == p->r->trees.calls.nr_roots) {
        *node = p->r->trees.calls.nr_nodes;
        PFR_TRY(add_root(p->r, (struct call_trees_root){group, *node, parent}, err));
        PFR_TRY(add_node(p->r, (struct profile_node){NO_NODE, root}, (struct profile_weight){0, 0}, err));
        uint32_t number; /* unused: the root is added to `keys` only so that each key has the number of its node */
        const struct profile_node self = {NO_NODE, root};
        return intern_put(&p->keys, &self, sizeof self, &number, err);
    }
    *node = p->r->trees.calls.roots[root].node;
    return PFR_OK;
}

static pfr_status replant(struct replanting *p, uint32_t node, const struct profile_group *group, pfr_error *err) {
    uint32_t count, parent, at;
    PFR_TRY(find_parent(p, node, &count, &parent, err));
    PFR_TRY(find_root(p, group, parent, &at, err));
    while (count-- > 0) {
        const struct profile_node key = {at, p->old.nodes[p->path[count]].frame};
        PFR_TRY(intern_put(&p->keys, &key, sizeof key, &at, err));
        if (at == p->r->trees.calls.nr_nodes)
            PFR_TRY(add_node(p->r, key, (struct profile_weight){0, 0}, err));
    }
    const bool kept = parent != NO_PARENT || !p->r->filters.parents.only;
    if (kept)
        weight_add(node_weights_own(&p->r->trees.calls.self, at), node_weight(&p->old.self, node));
    return PFR_OK;
}

static pfr_status replant_all(struct replanting *p, const uint32_t *root_of, pfr_error *err) {
    for (uint32_t n = 0; n < p->old.nr_nodes; n++)
        if (node_weight(&p->old.self, n)->samples)
            PFR_TRY(replant(p, n, p->old.roots[root_of[n]].group, err));
    return PFR_OK;
}

static void free_arrays(struct memory *memory, struct call_trees *f) {
    mem_free(memory, f->own_nodes ? f->nodes : NULL, f->nodes_room, sizeof *f->nodes);
    if (f->own_self)
        node_weights_free(&f->self, memory);
    mem_free(memory, f->roots, f->roots_room, sizeof *f->roots);
    *f = (struct call_trees){0};
}

static pfr_status plant_anew(struct report *r, pfr_error *err) {
    struct replanting p = {.r = r, .old = r->trees.calls};
    const size_t texts = r->profile->texts.count;
    uint32_t *root_of = roots_of_nodes(r);
    p.parents = mem_zeroed(r->memory, texts, 1);
    p.ignored = mem_zeroed(r->memory, texts, 1);
    intern_init(&p.keys, r->memory);
    intern_init(&p.roots, r->memory);
    r->trees.calls = (struct call_trees){0};
    const pfr_status st =
        root_of && p.parents && p.ignored ? replant_all(&p, root_of, err) : mem_fail(r->memory, err, "nodes");
    intern_free(&p.roots);
    intern_free(&p.keys);
    mem_free(r->memory, p.path, p.path_room, sizeof *p.path);
    mem_free(r->memory, p.parents, texts, 1);
    mem_free(r->memory, p.ignored, texts, 1);
    mem_free(r->memory, root_of, p.old.nr_nodes, sizeof *root_of);
    free_arrays(r->memory, &p.old);
    return st;
}

/* --- all steps --- */

static pfr_status begin(struct report *r, pfr_error *err) {
    const struct profile *p = r->profile;
    r->trees.calls = (struct call_trees){.nodes = p->nodes, .self = p->self, .nr_nodes = p->nr_nodes};
    for (uint32_t g = 0; g < p->nr_groups; g++)
        PFR_TRY(add_root(r, (struct call_trees_root){p->groups[g], p->groups[g]->root, NO_PARENT}, err));
    return PFR_OK;
}

pfr_status call_trees_make(struct report *r, pfr_error *err) {
    PFR_TRY(begin(r, err));
    PFR_TRY(weigh(r, err));
    if (r->filters.parents.wanted || r->filters.ignored.made)
        PFR_TRY(plant_anew(r, err));
    return PFR_OK;
}

void call_trees_free(struct report *r) {
    free_arrays(r->memory, &r->trees.calls);
}
