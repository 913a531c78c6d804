/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk over the nodes of each group: which row a node belongs to, and what rows weigh. With --children a row has
 * the weight of all samples with it somewhere in their stack, each counted once: that of its outermost nodes with all
 * below them.
 */
#include "view/report_parts.h"

#include "base/fail.h"

#include <string.h>

/* What is needed while walking. */
struct strides {
    struct report *r;
    const struct forest_root *root;
    uint32_t number;            /* of the root, plus 1 */
    uint32_t *row_of, *made_at; /* by frame, then by frame of a sampled address: its row, in which root */
    uint32_t *last;             /* by row: its innermost node on the way here */
    size_t last_room;
    uint32_t *height; /* by node: entries of the longest chain from it on down; NULL: nobody asks */
    uint32_t depth;   /* entries of the chain down to the node at hand */
};

static bool is_apart(const struct report *r, uint32_t node) {
    return r->forest.nodes[node].frame & NODE_APART;
}

/* --- links and sums --- */

static pfr_status alloc_nodes(struct report *r, pfr_error *err) {
    struct walk *w = &r->walk;
    const size_t nr = r->forest.nr_nodes;
    const bool sums = r->children || r->chain.mode != CHAIN_NONE;
    w->first = mem_alloc(r->memory, nr, sizeof *w->first);
    w->next = mem_alloc(r->memory, nr, sizeof *w->next);
    w->row = mem_alloc(r->memory, nr, sizeof *w->row);
    w->above = r->children ? mem_alloc(r->memory, nr, sizeof *w->above) : NULL;
    w->sum = sums ? mem_zeroed(r->memory, nr, sizeof *w->sum) : NULL;
    if (!w->first || !w->next || !w->row || (r->children && !w->above) || (sums && !w->sum))
        return mem_fail(r->memory, err, "walk");
    memset(w->first, 0xff, nr * sizeof *w->first);
    return PFR_OK;
}

/* Of a node whose children are all there: they have larger numbers. */
static void sum_up(struct report *r, uint32_t node, uint32_t parent) {
    struct profile_weight *sum = &r->walk.sum[node];
    sum->weight += r->forest.self[node].weight;
    sum->samples += r->forest.self[node].samples;
    if (parent == NO_NODE)
        return;
    r->walk.sum[parent].weight += sum->weight;
    r->walk.sum[parent].samples += sum->samples;
}

/* From the end, so that lists begin with the first child. */
static void link_children(struct report *r) {
    struct walk *w = &r->walk;
    for (uint32_t n = r->forest.nr_nodes; n-- > 0;) {
        const uint32_t parent = r->forest.nodes[n].parent;
        if (w->sum)
            sum_up(r, n, parent);
        w->row[n] = NO_ROW;
        w->next[n] = parent == NO_NODE ? NO_NODE : w->first[parent];
        if (parent != NO_NODE)
            w->first[parent] = n;
    }
}

static pfr_status measure(struct strides *s, pfr_error *err) {
    struct report *r = s->r;
    if (!r->chain.caller)
        return PFR_OK;
    s->height = mem_zeroed(r->memory, r->forest.nr_nodes, sizeof *s->height);
    if (!s->height)
        return mem_fail(r->memory, err, "walk");
    for (uint32_t n = r->forest.nr_nodes; n-- > 0;) {
        const uint32_t parent = r->forest.nodes[n].parent;
        if (parent == NO_NODE || !r->walk.sum[n].samples)
            continue;
        s->height[n] += !is_apart(r, n);
        if (s->height[parent] < s->height[n])
            s->height[parent] = s->height[n];
    }
    return PFR_OK;
}

/* --- rows --- */

/* Of frames in this root; other roots have other rows. */
static pfr_status row_of_frame(struct strides *s, uint32_t frame, uint32_t *row, pfr_error *err) {
    struct report *r = s->r;
    const size_t at = frame & NODE_APART ? (size_t)r->profile->nr_frames + (frame & ~NODE_APART) : frame;
    if (s->made_at[at] == s->number) {
        *row = s->row_of[at];
        return PFR_OK;
    }
    const struct spot spot = {s->root->group, frame, s->root->parent};
    PFR_TRY(rows_find(r, &spot, row, err));
    s->row_of[at] = *row;
    s->made_at[at] = s->number;
    return PFR_OK;
}

static void add_weight(struct profile_weight *to, const struct profile_weight *more) {
    to->weight += more->weight;
    to->samples += more->samples;
}

void row_add_self(const struct report *r, struct row *row, uint32_t frame, const struct profile_weight *self) {
    const struct profile_frame *f = report_frame(r, frame);
    add_weight(&row->self, self);
    if (f && f->cpumode == 1)
        row->system += self->weight;
    else if (f && f->cpumode == 2)
        row->user += self->weight;
}

static void count_self(struct report *r, uint32_t node, struct row *row) {
    row_add_self(r, row, r->forest.nodes[node].frame, &r->forest.self[node]);
}

static void raise_depth(struct row *row, uint32_t depth) {
    if (row->depth < depth)
        row->depth = depth;
}

/* Room for one more row in `last`. */
static pfr_status make_room(struct strides *s, uint32_t row, pfr_error *err) {
    const size_t before = s->last_room;
    if (row < before)
        return PFR_OK;
    uint32_t *grown = mem_grow(s->r->memory, s->last, row, &s->last_room, 256, sizeof *grown);
    if (!grown)
        return mem_fail(s->r->memory, err, "walk");
    s->last = grown;
    memset(grown + before, 0xff, (s->last_room - before) * sizeof *grown);
    return PFR_OK;
}

/* On the way down. */
static pfr_status enter(struct strides *s, uint32_t node, pfr_error *err) {
    struct report *r = s->r;
    struct walk *w = &r->walk;
    uint32_t row;
    s->depth += !is_apart(r, node);
    if (!w->sum[node].samples)
        return PFR_OK;
    PFR_TRY(row_of_frame(s, r->forest.nodes[node].frame, &row, err));
    PFR_TRY(make_room(s, row, err));
    w->row[node] = row;
    w->above[node] = s->last[row];
    s->last[row] = node;
    struct row *at = &r->rows.at[row];
    if (w->above[node] == NO_NODE) {
        add_weight(&at->total, &w->sum[node]);
        raise_depth(at, r->chain.caller ? s->height[node] : 0);
    }
    if (!r->chain.caller)
        raise_depth(at, s->depth);
    if (r->forest.self[node].samples) {
        count_self(r, node, at);
        raise_depth(at, s->depth);
    }
    return PFR_OK;
}

/* On the way back. */
static void leave(struct strides *s, uint32_t node) {
    const struct walk *w = &s->r->walk;
    s->depth -= !is_apart(s->r, node);
    if (w->row[node] != NO_ROW)
        s->last[w->row[node]] = w->above[node];
}

static pfr_status walk_root(struct strides *s, uint32_t root, pfr_error *err) {
    const struct walk *w = &s->r->walk;
    const struct profile_node *nodes = s->r->forest.nodes;
    uint32_t n = w->first[root];
    while (n != NO_NODE) {
        PFR_TRY(enter(s, n, err));
        if (w->first[n] != NO_NODE) {
            n = w->first[n];
            continue;
        }
        leave(s, n);
        while (w->next[n] == NO_NODE && (n = nodes[n].parent) != root)
            leave(s, n);
        n = n == root ? NO_NODE : w->next[n];
    }
    return PFR_OK;
}

/* Only where samples were counts: no way, just nodes. */
static pfr_status walk_selves(struct strides *s, uint32_t root, pfr_error *err) {
    struct report *r = s->r;
    const struct walk *w = &r->walk;
    uint32_t n = w->first[root];
    while (n != NO_NODE) {
        if (r->forest.self[n].samples) {
            PFR_TRY(row_of_frame(s, r->forest.nodes[n].frame | NODE_APART, &w->row[n], err));
            count_self(r, n, &r->rows.at[w->row[n]]);
        }
        if (w->first[n] != NO_NODE) {
            n = w->first[n];
            continue;
        }
        while (w->next[n] == NO_NODE && (n = r->forest.nodes[n].parent) != root) {
        }
        n = n == root ? NO_NODE : w->next[n];
    }
    return PFR_OK;
}

/* Weight that no frame was asked for. Of a branch the place is where it went. */
static pfr_status count_root(struct strides *s, pfr_error *err) {
    struct report *r = s->r;
    const uint32_t node = s->root->node;
    struct spot spot = {s->root->group, NO_FRAME, s->root->parent};
    if (!r->forest.self[node].samples)
        return PFR_OK;
    if (r->mode == REPORT_BRANCHES && r->profile->wish.keys & PROFILE_BIT(PROFILE_TO))
        spot.frame = r->profile->places[profile_value(r->profile, spot.group, PROFILE_TO)].frame;
    PFR_TRY(rows_find(r, &spot, &r->walk.row[node], err));
    count_self(r, node, &r->rows.at[r->walk.row[node]]);
    add_weight(&r->rows.at[r->walk.row[node]].total, &r->forest.self[node]);
    return PFR_OK;
}

static pfr_status walk_all(struct strides *s, pfr_error *err) {
    struct report *r = s->r;
    for (uint32_t i = 0; i < r->forest.nr_roots; i++) {
        s->root = &r->forest.roots[i];
        s->number = i + 1;
        PFR_TRY(count_root(s, err));
        PFR_TRY((r->children ? walk_root : walk_selves)(s, s->root->node, err));
    }
    return PFR_OK;
}

/* --- nodes by row --- */

pfr_status walk_list_nodes(struct report *r, pfr_error *err) {
    struct walk *w = &r->walk;
    const uint32_t rows = r->rows.cells.count, nodes = r->forest.nr_nodes;
    w->begin = mem_zeroed(r->memory, (size_t)rows + 2, sizeof *w->begin);
    w->members = mem_alloc(r->memory, nodes, sizeof *w->members);
    w->mark = mem_zeroed(r->memory, nodes, sizeof *w->mark);
    if (!w->begin || !w->members || !w->mark)
        return mem_fail(r->memory, err, "walk");
    w->nr_rows = rows;
    for (uint32_t n = 0; n < nodes; n++)
        if (w->row[n] != NO_ROW)
            w->begin[w->row[n] + 2]++;
    for (uint32_t i = 0; i < rows; i++)
        w->begin[i + 2] += w->begin[i + 1];
    for (uint32_t n = 0; n < nodes; n++)
        if (w->row[n] != NO_ROW)
            w->members[w->begin[w->row[n] + 1]++] = n;
    return PFR_OK;
}

/* --- all --- */

static void strides_free(struct strides *s, size_t frames) {
    struct memory *memory = s->r->memory;
    mem_free(memory, s->row_of, frames, sizeof *s->row_of);
    mem_free(memory, s->made_at, frames, sizeof *s->made_at);
    mem_free(memory, s->last, s->last_room, sizeof *s->last);
    mem_free(memory, s->height, s->height ? s->r->forest.nr_nodes : 0, sizeof *s->height);
}

pfr_status walk_make(struct report *r, pfr_error *err) {
    struct strides s = {.r = r};
    const size_t frames = 2 * (size_t)r->profile->nr_frames;
    PFR_TRY(alloc_nodes(r, err));
    link_children(r);
    s.row_of = mem_alloc(r->memory, frames, sizeof *s.row_of);
    s.made_at = mem_zeroed(r->memory, frames, sizeof *s.made_at);
    pfr_status st = s.row_of && s.made_at ? PFR_OK : mem_fail(r->memory, err, "walk");
    if (st >= 0 && r->children)
        st = measure(&s, err);
    if (st >= 0)
        st = walk_all(&s, err);
    strides_free(&s, frames);
    return st < 0 ? st : walk_sums(r, err);
}

void walk_free(struct report *r) {
    struct walk *w = &r->walk;
    const size_t nr = r->forest.nr_nodes;
    mem_free(r->memory, w->first, nr, sizeof *w->first);
    mem_free(r->memory, w->next, nr, sizeof *w->next);
    mem_free(r->memory, w->row, nr, sizeof *w->row);
    mem_free(r->memory, w->above, nr, sizeof *w->above);
    mem_free(r->memory, w->sum, nr, sizeof *w->sum);
    mem_free(r->memory, w->mark, nr, sizeof *w->mark);
    mem_free(r->memory, w->members, nr, sizeof *w->members);
    mem_free(r->memory, w->begin, (size_t)w->nr_rows + 2, sizeof *w->begin);
    *w = (struct walk){0};
}
