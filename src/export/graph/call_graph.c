/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a call graph from the calls or samples of a model: see call_graph.h. */
#include "export/graph/call_graph.h"

#include "base/memory/capped_sum.h"
#include "base/memory/fail.h"
#include "base/memory/sizes.h"

void call_graph_free(struct call_graph *g) {
    if (!g->memory)
        return;
    intern_free(&g->names);
    u64_map_free(&g->edge_of);
    mem_free(g->memory, g->vertices, g->vertices_room, sizeof *g->vertices);
    mem_free(g->memory, g->edges, g->edges_room, sizeof *g->edges);
    mem_free(g->memory, g->vertex_of, g->nr_symbols, sizeof *g->vertex_of);
    mem_free(g->memory, g->edge_of_stack, g->nr_stacks, sizeof *g->edge_of_stack);
}

uint64_t graph_number(const struct graph_numbers *n, enum graph_label label) {
    const uint64_t numbers[] = {0, n->count, n->min, n->med, n->p90, n->p99, n->max, n->sum};
    return numbers[label];
}

/* --- Vertices and edges. */

static pfr_status add_vertex(struct call_graph *g, uint32_t symbol, pfr_error *err) {
    struct graph_vertex *grown =
        mem_grow(g->memory, g->vertices, g->nr_vertices, &g->vertices_room, 256, sizeof *grown);
    if (!grown)
        return mem_fail(g->memory, err, "graph");
    g->vertices = grown;
    g->vertices[g->nr_vertices++] = (struct graph_vertex){.symbol = symbol, .is.min = UINT64_MAX};
    return PFR_OK;
}

static pfr_status name_vertex(struct call_graph *g, struct rows *r, uint32_t symbol, bool by_name, struct output *key,
                              pfr_error *err) {
    const struct intern_text name = rows_symbol(r, symbol), object = rows_object_of(r, symbol);
    uint32_t number;
    out_clear(key);
    out_write(key, name.bytes, name.length);
    out_char(key, 0);
    if (!by_name)
        out_write(key, object.bytes, object.length);
    if (key->status < 0)
        return mem_fail(g->memory, err, "graph");
    PFR_TRY(intern_put(&g->names, key->buffer, key->used, &number, err));
    g->vertex_of[symbol] = number + 1;
    return number + 1 == g->nr_vertices ? add_vertex(g, symbol, err) : PFR_OK;
}

static pfr_status name_vertices(struct call_graph *g, struct rows *r, bool by_name, pfr_error *err) {
    struct output key;
    out_open_memory(&key, g->memory);
    pfr_status st = add_vertex(g, 0, err);
    for (uint32_t id = 1; st >= 0 && id < g->nr_symbols; id++)
        st = name_vertex(g, r, id, by_name, &key, err);
    out_close(&key, NULL);
    return st;
}

static pfr_status find_edge(struct call_graph *g, uint32_t from, uint32_t to, uint32_t *edge, pfr_error *err) {
    bool is_new;
    uint64_t *at = u64_map_at(&g->edge_of, (uint64_t)from << 32 | to, g->nr_edges, &is_new);
    struct graph_edge *grown = g->edges;
    if (at && is_new)
        grown = mem_grow(g->memory, g->edges, g->nr_edges, &g->edges_room, 256, sizeof *grown);
    if (!at || !grown)
        return mem_fail(g->memory, err, "graph");
    g->edges = grown;
    *edge = (uint32_t)*at;
    if (is_new)
        g->edges[g->nr_edges++] = (struct graph_edge){.from = from, .to = to, .is.min = UINT64_MAX};
    return PFR_OK;
}

/* A stack is an edge from its parent's function to its own function. */
static pfr_status find_edges(struct call_graph *g, const struct rows *r, pfr_error *err) {
    const pfr_stack *stacks = pfr_model_stacks(r->model);
    for (uint32_t id = 1; id < g->nr_stacks; id++)
        PFR_TRY(find_edge(g, g->vertex_of[stacks[stacks[id].parent].symbol], g->vertex_of[stacks[id].symbol],
                          &g->edge_of_stack[id], err));
    return PFR_OK;
}

/* --- Samples are counted by stack, with the sum of their weights. */

static void count(struct graph_numbers *n, uint64_t samples, uint64_t weight, uint64_t stack) {
    if (n->seen == stack)
        return;
    n->seen = stack;
    n->count += samples;
    n->sum = capped_sum(n->sum, weight);
}

static void add_stack(struct call_graph *g, const struct rows *r, const struct row_weight *w) {
    const pfr_stack *stacks = pfr_model_stacks(r->model);
    const uint64_t own = r->by_weight ? w->weight : w->samples;
    g->total = capped_sum(g->total, own);
    g->vertices[g->vertex_of[stacks[w->stack].symbol]].self += own;
    for (uint32_t at = w->samples ? w->stack : 0; at; at = stacks[at].parent) {
        struct graph_edge *edge = &g->edges[g->edge_of_stack[at]];
        count(&edge->is, w->samples, w->weight, w->stack);
        count(&g->vertices[edge->to].is, w->samples, w->weight, w->stack);
    }
}

static pfr_status add_stacks(struct call_graph *g, struct rows *r, pfr_error *err) {
    struct row_weights w;
    const pfr_status st = rows_weigh(r, &w, 0, err);
    for (size_t i = 0; st >= 0 && i < w.count; i++)
        add_stack(g, r, &w.at[i]);
    rows_weights_free(r, &w);
    return st;
}

/* --- Calls. */

struct graph_duration {
    uint64_t duration, edge;
};

struct calls_of_graph {
    struct call_graph *graph;
    struct external_sort *durations; /* NULL: quantiles are not needed */
};

static struct sort_key duration_of(const void *row) {
    return (struct sort_key){.major = ((const struct graph_duration *)row)->duration};
}

static void add_duration(struct graph_numbers *n, uint64_t duration) {
    n->count++;
    n->sum = capped_sum(n->sum, duration);
    n->min = duration < n->min ? duration : n->min;
    n->max = duration > n->max ? duration : n->max;
}

static pfr_status add_call(struct rows *r, const pfr_call *call, pfr_error *err) {
    struct calls_of_graph *c = r->walking;
    struct call_graph *g = c->graph;
    uint32_t edge = g->edge_of_stack[call->stack];
    if (!call->stack) /* its path did not fit into the memory limit */
        PFR_TRY(find_edge(g, 0, g->vertex_of[call->symbol], &edge, err));
    add_duration(&g->edges[edge].is, call->duration);
    add_duration(&g->vertices[g->edges[edge].to].is, call->duration);
    g->vertices[g->edges[edge].to].self += call->self > 0 ? (uint64_t)call->self : 0;
    g->total = capped_sum(g->total, call->self > 0 ? (uint64_t)call->self : 0);
    const struct graph_duration row = {call->duration, edge};
    return c->durations ? external_sort_add(c->durations, &row, err) : PFR_OK;
}

/* Adds the next duration; durations come in ascending order. As in llvm-xray, each quantile is one of the durations:
 * the median is the one with index count / 2. */
static void see(struct graph_numbers *n, uint64_t duration) {
    if (n->seen == n->count / 2)
        n->med = duration;
    if (n->seen == n->count * 90 / 100)
        n->p90 = duration;
    if (n->seen == n->count * 99 / 100)
        n->p99 = duration;
    n->seen++;
}

static pfr_status find_quantiles(const struct calls_of_graph *c, pfr_error *err) {
    const struct call_graph *g = c->graph;
    const void *row;
    pfr_status st = external_sort_begin(c->durations, err);
    while (st >= 0 && (st = external_sort_next(c->durations, &row, err)) == PFR_OK) {
        const struct graph_duration *d = row;
        struct graph_edge *edge = &g->edges[d->edge];
        see(&edge->is, d->duration);
        see(&g->vertices[edge->to].is, d->duration);
    }
    return st < 0 ? st : PFR_OK;
}

static pfr_status walk_calls(struct rows *r, struct calls_of_graph *calls, pfr_error *err) {
    const struct row_visit visit = {.call = add_call};
    r->walking = calls;
    return rows_walk(r, &visit, err);
}

static pfr_status add_calls_with_quantiles(struct call_graph *g, struct rows *r, pfr_error *err) {
    struct external_sort durations;
    struct calls_of_graph calls = {.graph = g, .durations = &durations};
    external_sort_init(
        &durations, &(struct external_sort_of){g->memory, sizeof(struct graph_duration), sizes.sort_rows, duration_of});
    pfr_status st = walk_calls(r, &calls, err);
    if (st >= 0)
        st = find_quantiles(&calls, err);
    external_sort_free(&durations);
    return st;
}

static pfr_status add_calls(struct call_graph *g, struct rows *r, bool quantiles, pfr_error *err) {
    struct calls_of_graph calls = {.graph = g};
    return quantiles ? add_calls_with_quantiles(g, r, err) : walk_calls(r, &calls, err);
}

pfr_status call_graph_make(struct call_graph *g, struct rows *r, const struct call_graph_of *of, pfr_error *err) {
    *g = (struct call_graph){.memory = r->memory, .is_traced = r->is_traced};
    intern_init(&g->names, r->memory);
    u64_map_init(&g->edge_of, r->memory);
    g->nr_symbols = (size_t)pfr_model_count(r->model, PFR_TABLE_SYMBOL) + 1;
    g->nr_stacks = (size_t)pfr_model_count(r->model, PFR_TABLE_STACK) + 1;
    g->vertex_of = mem_zeroed(r->memory, g->nr_symbols, sizeof *g->vertex_of);
    g->edge_of_stack = mem_zeroed(r->memory, g->nr_stacks, sizeof *g->edge_of_stack);
    if (!g->vertex_of || !g->edge_of_stack)
        return mem_fail(r->memory, err, "graph");
    PFR_TRY(name_vertices(g, r, of->by_name, err));
    PFR_TRY(find_edges(g, r, err));
    return r->is_traced ? add_calls(g, r, of->quantiles, err) : add_stacks(g, r, err);
}
