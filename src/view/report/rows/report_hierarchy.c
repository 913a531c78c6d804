/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --hierarchy: lines become the leaves of a tree that has one level per sort key. With the keys comm,dso,sym:
 *
 *     60%  busy               node of level 0: all lines whose comm is busy
 *        40%  libc.so.6       level 1
 *           40%  memcpy       level 2: one line
 *        20%  busy
 *           20%  main
 *
 * No tree is stored. A path of nodes per line suffices: lines are sorted by comparing their paths from level 0 on, and
 * a node is printed before the first line that has it.
 */
#include "view/report/fields/report_common.h"
#include "view/report/rows/report_hierarchy.h"
#include "view/report/rows/report_line.h"

#include "base/memory/capped_sum.h"
#include "base/memory/fail.h"

#include <stdlib.h>

#define NODES_AT_FIRST 256u

static pfr_status refuse(pfr_error *err, const char *why) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "hierarchy", "%s", why);
}

pfr_status hierarchy_check(const struct report *r, pfr_error *err) {
    const pfr_report_options *o = r->options;
    if (!o->hierarchy)
        return PFR_OK;
    if (o->bars)
        return refuse(err, "--hierarchy and --tree cannot be combined; give one of them");
    if (o->format == PFR_REPORT_CSV || o->format == PFR_REPORT_JSON)
        return refuse(err, "--hierarchy needs --format=text or perf; rows of CSV and JSON have all keys");
    if (o->fields)
        return refuse(err, "--hierarchy cannot be used with --fields, as in perf; give the levels with --sort");
    const unsigned weights = o->latency ? 2 : 1; /* number of default weights, which are the first elements of `sort` */
    bool has_weight = r->chosen.nr_keys == 0;    /* true for --sort overhead, which adds no element */
    for (unsigned i = weights; i < r->chosen.nr_sort; i++)
        has_weight = has_weight || r->chosen.sort[i]->rank;
    if (has_weight)
        return refuse(
            err,
            "with --hierarchy the keys of --sort are levels, so they cannot be weights; -n adds the number of samples");
    return PFR_OK;
}

/* --- nodes --- */

static void choose_levels(struct hierarchy *h, const struct report *r) {
    h->levels = r->chosen.nr_keys;
    for (unsigned c = 0; c < r->chosen.nr_columns; c++)
        for (unsigned level = 0; level < h->levels; level++)
            if (r->chosen.keys[level] == r->chosen.columns[c])
                h->column[level] = c;
}

/* Makes room for the undivided weights of a new node. */
static pfr_status add_whole(struct hierarchy *h, struct report *r, pfr_error *err) {
    if (!r->overheads.at)
        return PFR_OK;
    struct row_overhead *whole =
        mem_grow(r->memory, h->whole, h->nr_nodes, &h->whole_room, NODES_AT_FIRST, h->members * sizeof *whole);
    if (!whole)
        return mem_fail(r->memory, err, "hierarchy");
    h->whole = whole;
    memset(&whole[(size_t)h->nr_nodes * h->members], 0, h->members * sizeof *whole);
    return PFR_OK;
}

static pfr_status add_node(struct hierarchy *h, struct report *r, const struct lines *lines, uint32_t line,
                           unsigned level, pfr_error *err) {
    struct hierarchy_node *nodes =
        mem_grow(r->memory, h->nodes, h->nr_nodes, &h->nodes_room, NODES_AT_FIRST, sizeof *nodes);
    h->nodes = nodes ? nodes : h->nodes;
    struct row *rows =
        mem_grow(r->memory, h->rows, h->nr_nodes, &h->rows_room, NODES_AT_FIRST, h->members * sizeof *rows);
    h->rows = rows ? rows : h->rows;
    if (!nodes || !rows)
        return mem_fail(r->memory, err, "hierarchy");
    PFR_TRY(add_whole(h, r, err));
    nodes[h->nr_nodes] = (struct hierarchy_node){.level = level, .line = line};
    for (uint32_t m = 0; m < h->members; m++) {
        struct row *const row = &rows[(size_t)h->nr_nodes * h->members + m];
        *row = *line_row(r, lines, line, m);
        row->event = lines->leader + m;
        row->self = row->total = (struct profile_weight){0, 0};
        row->system = row->user = 0;
    }
    h->nr_nodes++;
    return PFR_OK;
}

static struct profile_weight sum_of(struct profile_weight a, struct profile_weight b) {
    return (struct profile_weight){.weight = capped_sum(a.weight, b.weight), .samples = a.samples + b.samples};
}

static void add_to_whole(struct row_overhead *to, struct row_overhead more) {
    to->self = capped_sum(to->self, more.self);
    to->total = capped_sum(to->total, more.total);
    to->system = capped_sum(to->system, more.system);
    to->user = capped_sum(to->user, more.user);
}

static void add_line(struct hierarchy *h, const struct report *r, const struct lines *lines, uint32_t line,
                     uint32_t node) {
    for (uint32_t m = 0; m < h->members; m++) {
        const struct row *const from = line_row(r, lines, line, m);
        struct row *const to = &hierarchy_rows(h, node)[m];
        to->self = sum_of(to->self, from->self);
        to->total = sum_of(to->total, from->total);
        to->system = capped_sum(to->system, from->system);
        to->user = capped_sum(to->user, from->user);
        if (h->whole)
            add_to_whole(&h->whole[(size_t)node * h->members + m], row_overhead(r, from));
    }
}

static pfr_status put_line(struct hierarchy *h, struct report *r, const struct lines *lines, uint32_t line,
                           pfr_error *err) {
    uint64_t group[2] = {UINT64_MAX, 0};
    for (unsigned level = 0; level < h->levels; level++) {
        uint32_t node;
        group[1] = line_cell(r, lines, line, level);
        PFR_TRY(intern_put(&h->groups, group, sizeof group, &node, err));
        if (node == h->nr_nodes)
            PFR_TRY(add_node(h, r, lines, line, level, err));
        add_line(h, r, lines, line, node);
        h->paths[(size_t)line * h->levels + level] = node;
        group[0] = node;
    }
    return PFR_OK;
}

static void find_heaviest(struct hierarchy *h) {
    for (uint32_t line = 0; line < h->count; line++)
        for (unsigned level = 1; level < h->levels; level++) {
            struct hierarchy_node *const above = &h->nodes[hierarchy_node_of(h, line, level - 1)];
            const uint64_t weight = hierarchy_rows(h, hierarchy_node_of(h, line, level))->self.weight;
            above->heaviest = weight > above->heaviest ? weight : above->heaviest;
        }
}

/* --- order --- */

struct hierarchy_comparison {
    const struct hierarchy *h;
    const struct report *r;
    const struct lines *lines;
};

/* Siblings of equal weight are ordered by their key, like rows of a table. */
static int compare_siblings(const struct hierarchy_comparison *c, uint32_t a, uint32_t b) {
    const struct hierarchy_node *const x = &c->h->nodes[a], *const y = &c->h->nodes[b];
    const struct report_field *const f = c->r->chosen.keys[x->level];
    for (uint32_t m = 0; m < c->h->members; m++) {
        const uint64_t p = hierarchy_rows(c->h, a)[m].self.weight, q = hierarchy_rows(c->h, b)[m].self.weight;
        if (p != q)
            return p > q ? -1 : 1;
    }
    const uint64_t p = line_cell(c->r, c->lines, x->line, x->level), q = line_cell(c->r, c->lines, y->line, y->level);
    const int order = f->order ? f->order(c->r, p, q) : f->collate ? f->collate(c->r, p, q) : (p > q) - (p < q);
    return order ? order : a < b ? -1 : 1;
}

static int by_path(const void *a, const void *b, void *context) {
    const struct hierarchy_comparison *const c = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    for (unsigned level = 0; level < c->h->levels; level++) {
        const uint32_t p = hierarchy_node_of(c->h, x, level), q = hierarchy_node_of(c->h, y, level);
        if (p != q)
            return compare_siblings(c, p, q);
    }
    return 0;
}

bool hierarchy_shows_row(const struct report *r, const struct row *row) {
    return report_percent(r, row->event, row->self.weight) >= r->options->percent_limit;
}

/* --- the whole hierarchy --- */

static pfr_status put_lines(struct hierarchy *h, struct report *r, const struct lines *lines, pfr_error *err) {
    struct hierarchy_comparison c = {h, r, lines};
    for (uint32_t i = 0; i < h->count; i++)
        PFR_TRY(put_line(h, r, lines, lines->order[i], err));
    r->overheads.nodes = h->rows;
    r->overheads.of_nodes = h->whole;
    r->overheads.nr_nodes = h->whole ? (size_t)h->nr_nodes * h->members : 0;
    find_heaviest(h);
    memcpy(h->order, lines->order, h->count * sizeof *h->order);
    qsort_r(h->order, h->count, sizeof *h->order, by_path, &c);
    return PFR_OK;
}

pfr_status hierarchy_make(struct hierarchy *h, struct report *r, struct lines *lines, pfr_error *err) {
    *h = (struct hierarchy){.count = lines->shown, .members = lines->members};
    intern_init(&h->groups, r->memory);
    choose_levels(h, r);
    h->paths = mem_alloc(r->memory, h->count, h->levels * sizeof *h->paths);
    h->order = mem_alloc(r->memory, h->count, sizeof *h->order);
    if (!h->paths || !h->order)
        return mem_fail(r->memory, err, "hierarchy");
    PFR_TRY(put_lines(h, r, lines, err));
    lines->shown = 0;
    for (uint32_t i = 0; i < h->count; i++)
        if (hierarchy_shows_row(r, hierarchy_rows(h, hierarchy_node_of(h, h->order[i], h->levels - 1))))
            lines->order[lines->shown++] = h->order[i];
    return PFR_OK;
}

void hierarchy_free(struct hierarchy *h, struct report *r, const struct lines *lines) {
    r->overheads.nodes = NULL;
    r->overheads.of_nodes = NULL;
    r->overheads.nr_nodes = 0;
    intern_free(&h->groups);
    mem_free(r->memory, h->whole, h->whole_room, lines->members * sizeof *h->whole);
    mem_free(r->memory, h->nodes, h->nodes_room, sizeof *h->nodes);
    mem_free(r->memory, h->rows, h->rows_room, lines->members * sizeof *h->rows);
    mem_free(r->memory, h->paths, h->paths ? lines->count : 0, h->levels * sizeof *h->paths);
    mem_free(r->memory, h->order, h->order ? lines->count : 0, sizeof *h->order);
}
