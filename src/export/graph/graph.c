/* SPDX-License-Identifier: Apache-2.0 */
/* The formats dot and mermaid, and pfr_graph, which has more options and compares two recordings. */
#include "export/graph/graph_text.h"
#include "export/rows/row_sinks.h"

#include "base/memory/fail.h"

struct graphing {
    double min_vertex, min_edge;
    struct call_graph graph, other;
};

static pfr_status check_labels(const struct rows *r, const pfr_graph_options *how, pfr_error *err) {
    const pfr_graph_label labels[] = {how->edge_label, how->vertex_label, how->edge_color, how->vertex_color};
    for (size_t i = 0; i < sizeof labels / sizeof *labels && !r->is_traced; i++)
        if (labels[i] > PFR_GRAPH_COUNT && labels[i] < PFR_GRAPH_SUM)
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "label",
                            "samples have no durations: use the label count or sum");
    return PFR_OK;
}

/* The graph of the other recording, made in a separate walk. */
struct comparing {
    struct call_graph *graph;
    const struct call_graph_of *of;
    bool is_traced;
};

static pfr_status make_other(struct rows *r, pfr_error *err) {
    const struct comparing *c = r->own;
    if (c->is_traced != r->is_traced)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "diff", "a trace and samples cannot be compared");
    return call_graph_make(c->graph, r, c->of, err);
}

static const struct row_sink sink_other = {
    .format = {.name = "graph", .suffix = "", .about = "", .reader = "", .losses = ""},
    .no_marks = true,
    .state_size = 1,
    .write = make_other,
};

static bool shows_quantiles(const pfr_graph_options *how) {
    const pfr_graph_label labels[] = {how->edge_label, how->vertex_label, how->edge_color, how->vertex_color};
    bool shows = false;
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        shows = shows || (labels[i] >= PFR_GRAPH_MEDIAN && labels[i] <= PFR_GRAPH_P99);
    return shows;
}

static pfr_status write_graph(struct rows *r, pfr_error *err) {
    struct graphing *g = r->state;
    const pfr_graph_options *given = r->own;
    const struct row_sink *sink = r->sink;
    const bool is_mermaid = strcmp(sink->format.name, "mermaid") == 0;
    const pfr_graph_options plain = {.edge_label = PFR_GRAPH_COUNT,
                                     .vertex_label = r->is_traced || r->by_weight ? PFR_GRAPH_SUM : PFR_GRAPH_COUNT,
                                     .min_vertex = g->min_vertex,
                                     .min_edge = g->min_edge,
                                     .mermaid = is_mermaid};
    const pfr_graph_options *how = given ? given : &plain;
    struct graph_view view = {&g->graph, NULL, how, pfr_model_ticks(r->model), r->by_weight};
    PFR_TRY(check_labels(r, how, err));
    const struct call_graph_of of = {.by_name = how->other != NULL, .quantiles = shows_quantiles(how)};
    PFR_TRY(call_graph_make(&g->graph, r, &of, err));
    if (how->other) {
        struct comparing other = {&g->other, &of, r->is_traced};
        PFR_TRY(rows_run(&sink_other, how->other, r->options, &other, NULL, err));
        view.other = &g->other;
    }
    graph_write(&view, r, r->out);
    return PFR_OK;
}

static void clear(struct rows *r) {
    struct graphing *g = r->state;
    call_graph_free(&g->graph);
    call_graph_free(&g->other);
}

static const struct row_option shares[] = {{"min-node", ROW_PERCENT, offsetof(struct graphing, min_vertex)},
                                           {"min-edge", ROW_PERCENT, offsetof(struct graphing, min_edge)},
                                           {0}};

/* Members that all row sinks below share. */
#define GRAPH_MEMBERS                                                                                                  \
    .no_marks = true, .sums_events = true, .state_size = sizeof(struct graphing), .write = write_graph, .clear = clear

const struct row_sink sink_dot = {
    .format = {.name = "dot",
               .suffix = ".dot",
               .about = "call graph for Graphviz",
               .reader = "dot and the other programs of Graphviz",
               .losses = "times, threads, whole stacks, lost records"},
    .options = shares,
    GRAPH_MEMBERS,
};

const struct row_sink sink_mermaid = {
    .format = {.name = "mermaid",
               .suffix = ".mmd",
               .about = "call graph for Markdown pages",
               .reader = "mermaid, GitHub, GitLab",
               .losses = "times, threads, whole stacks, lost records"},
    .options = shares,
    GRAPH_MEMBERS,
};

static const struct row_sink sink_graph = {
    .format = {.name = "graph", .suffix = ".dot", .about = "", .reader = "", .losses = ""},
    GRAPH_MEMBERS,
};

pfr_status pfr_graph(pfr_reader *reader, const pfr_graph_options *given, pfr_output *out, pfr_error *err) {
    pfr_graph_options how = {.size = sizeof how};
    if (given)
        memcpy(&how, given, given->size < sizeof how ? given->size : sizeof how);
    const pfr_export_options options = {.size = sizeof options, .of = how.of, .path = how.path};
    return rows_run(&sink_graph, reader, &options, &how, out, err);
}
