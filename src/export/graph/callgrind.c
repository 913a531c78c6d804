/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text format of callgrind (valgrind's manual, "Callgrind Format Specification"): for each function, its own cost,
 * then a pair of lines per callee with the number of calls of that callee and their cost.
 *
 *     fn=(1) main
 *     0 12                       self cost; line 0: not known
 *     cfn=(2) scramble
 *     calls=40 0
 *     0 40                       cost of these calls, callees included
 *
 * For samples, the number of calls is not known; "calls" is the number of samples whose stack contains caller and
 * callee. Each cost counts a single event: samples, or calls and their time.
 */
#include "base/memory/fail.h"
#include "base/text/escape.h"
#include "export/graph/call_graph.h"
#include "export/rows/row_sinks.h"

struct callgrind {
    struct call_graph graph;
    uint32_t *first; /* by vertex: its first edge in `next` */
    uint32_t *next;  /* by edge: the next edge of the same caller */
    bool *named;     /* by vertex: its name was written */
    size_t nr_vertices, nr_edges;
};

#define NO_EDGE UINT32_MAX

/* Writes KEY=(N) NAME, and only KEY=(N) after the first time. Escaping leaves no line breaks in names. */
static void put_name(struct rows *r, const char *key, uint32_t vertex) {
    struct callgrind *c = r->state;
    const uint32_t symbol = c->graph.vertices[vertex].symbol;
    out_text(r->out, key);
    out_text(r->out, "=(");
    out_u64(r->out, vertex);
    out_char(r->out, ')');
    if (!c->named[vertex]) {
        const struct intern_text name = rows_symbol(r, symbol);
        out_char(r->out, ' ');
        out_escaped(r->out, name.bytes, name.length);
        c->named[vertex] = true;
    }
    out_char(r->out, '\n');
}

static void put_object(struct rows *r, const char *key, uint32_t vertex) {
    const struct callgrind *c = r->state;
    const struct intern_text object = rows_object_of(r, c->graph.vertices[vertex].symbol);
    out_text(r->out, key);
    out_char(r->out, '=');
    out_escaped(r->out, object.bytes, object.length);
    out_char(r->out, '\n');
}

static uint64_t cost_of(const struct rows *r, const struct graph_numbers *n) {
    return r->by_weight ? n->sum : n->count;
}

static void put_cost(struct rows *r, uint64_t cost) {
    out_text(r->out, "0 ");
    out_u64(r->out, cost);
    out_char(r->out, '\n');
}

static void put_function(struct rows *r, uint32_t vertex) {
    const struct callgrind *c = r->state;
    const struct call_graph *g = &c->graph;
    put_object(r, "ob", vertex);
    out_text(r->out, "fl=???\n");
    put_name(r, "fn", vertex);
    put_cost(r, g->vertices[vertex].self);
    for (uint32_t e = c->first[vertex]; e != NO_EDGE; e = c->next[e]) {
        if (!g->edges[e].is.count)
            continue;
        put_object(r, "cob", g->edges[e].to);
        out_text(r->out, "cfi=???\n");
        put_name(r, "cfn", g->edges[e].to);
        out_text(r->out, "calls=");
        out_u64(r->out, g->edges[e].is.count);
        out_text(r->out, " 0\n");
        put_cost(r, cost_of(r, &g->edges[e].is));
    }
    out_char(r->out, '\n');
}

static pfr_status chain_edges(struct rows *r, struct callgrind *c, pfr_error *err) {
    c->nr_vertices = c->graph.nr_vertices;
    c->nr_edges = c->graph.nr_edges;
    c->first = mem_alloc(r->memory, c->nr_vertices, sizeof *c->first);
    c->next = mem_alloc(r->memory, c->nr_edges, sizeof *c->next);
    c->named = mem_zeroed(r->memory, c->nr_vertices, sizeof *c->named);
    if (!c->first || !c->next || !c->named)
        return mem_fail(r->memory, err, "export");
    for (size_t i = 0; i < c->nr_vertices; i++)
        c->first[i] = NO_EDGE;
    for (size_t i = c->nr_edges; i-- > 0;) {
        c->next[i] = c->first[c->graph.edges[i].from];
        c->first[c->graph.edges[i].from] = (uint32_t)i;
    }
    return PFR_OK;
}

static void put_head(struct rows *r) {
    const char *program = rows_meta(r, "cmdline");
    out_text(r->out, "# callgrind format\nversion: 1\ncreator: perfray\ncmd: ");
    out_escaped(r->out, program, strlen(program));
    out_text(r->out, "\npositions: line\nevents: ");
    out_text(r->out, r->is_traced && r->by_weight ? (pfr_model_ticks(r->model) ? "ticks" : "ns")
                     : r->is_traced               ? "calls"
                     : r->by_weight               ? "period"
                                                  : "samples");
    out_text(r->out, "\nsummary: ");
}

static pfr_status write_callgrind(struct rows *r, pfr_error *err) {
    struct callgrind *c = r->state;
    PFR_TRY(call_graph_make(&c->graph, r, &(struct call_graph_of){0}, err));
    PFR_TRY(chain_edges(r, c, err));
    uint64_t total = 0;
    for (size_t i = 1; i < c->nr_vertices; i++) {
        if (r->is_traced && !r->by_weight)
            c->graph.vertices[i].self = c->graph.vertices[i].is.count;
        total += c->graph.vertices[i].self;
    }
    put_head(r);
    out_u64(r->out, total);
    out_text(r->out, "\n\n");
    for (uint32_t i = 1; i < c->nr_vertices; i++)
        if (c->graph.vertices[i].is.count)
            put_function(r, i);
    out_text(r->out, "totals: ");
    out_u64(r->out, total);
    out_char(r->out, '\n');
    return PFR_OK;
}

static void clear(struct rows *r) {
    struct callgrind *c = r->state;
    call_graph_free(&c->graph);
    mem_free(r->memory, c->first, c->nr_vertices, sizeof *c->first);
    mem_free(r->memory, c->next, c->nr_edges, sizeof *c->next);
    mem_free(r->memory, c->named, c->nr_vertices, sizeof *c->named);
}

const struct row_sink sink_callgrind = {
    .format = {.name = "callgrind",
               .suffix = ".callgrind",
               .about = "functions, their callees and costs",
               .reader = "KCachegrind, callgrind_annotate, speedscope",
               .losses = "times, threads, whole stacks; for samples also the number of calls"},
    .no_marks = true,
    .sums_events = true,
    .state_size = sizeof(struct callgrind),
    .write = write_callgrind,
    .clear = clear,
};
