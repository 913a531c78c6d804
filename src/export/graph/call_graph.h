/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_CALL_GRAPH_H
#define PFR_EXPORT_CALL_GRAPH_H
/*
 * A call graph tells which function called which, how often and for how long: vertices are functions, edges are pairs
 * of caller and callee.
 *
 *     call_graph_make(&graph, rows, &(struct call_graph_of){0}, &err);
 *     for (i = 1; i < graph.nr_vertices; i++)  ... graph.vertices[i] ...      vertex 0 is the root, which calls threads
 *     call_graph_free(&graph);
 *
 * For a trace, the numbers are those of calls with their inclusive durations, as in llvm-xray graph. For samples, the
 * numbers count samples: a sample counts once for each function and each pair in its stack, even if the stack contains
 * them repeatedly.
 */
#include "export/rows/rows.h"

#include "base/tables/hashmap.h"
#include "base/tables/intern.h"

enum graph_label { GRAPH_NONE, GRAPH_COUNT, GRAPH_MIN, GRAPH_MED, GRAPH_P90, GRAPH_P99, GRAPH_MAX, GRAPH_SUM };

/* Durations in ns (or ticks), or weights of samples. Samples have only count and sum. */
struct graph_numbers {
    uint64_t count, sum, min, max, med, p90, p99;
    uint64_t seen; /* calls: durations added so far, for quantiles; samples: the stack counted last */
};

struct graph_vertex {
    uint32_t symbol; /* one of the symbols that have this name */
    struct graph_numbers is;
    uint64_t self;
};

struct graph_edge {
    uint32_t from, to; /* vertices */
    struct graph_numbers is;
};

struct call_graph {
    struct memory *memory;
    struct intern_table names; /* names of vertices, at index vertex - 1: name, NUL, object (no object if by_name) */
    struct graph_vertex *vertices;
    struct graph_edge *edges;
    size_t nr_vertices, vertices_room, nr_edges, edges_room;
    struct u64_map edge_of; /* key: from << 32 | to */
    uint32_t *vertex_of;    /* by symbol */
    uint32_t *edge_of_stack;
    size_t nr_symbols, nr_stacks;
    uint64_t total; /* 100 % in percentages: the sum of self times, or of weights */
    bool is_traced;
};

struct call_graph_of {
    bool by_name;   /* functions with the same name in several objects are one vertex, for comparing two programs */
    bool quantiles; /* compute med, p90 and p99 of calls; otherwise they are 0 */
};
pfr_status call_graph_make(struct call_graph *graph, struct rows *rows, const struct call_graph_of *of, pfr_error *err);
void call_graph_free(struct call_graph *graph);

/* Returns the number that this label shows. */
uint64_t graph_number(const struct graph_numbers *numbers, enum graph_label label);
static inline struct intern_text graph_name(const struct call_graph *graph, uint32_t vertex) {
    const struct intern_text key = intern_get(&graph->names, vertex - 1);
    return (struct intern_text){key.bytes, (uint32_t)strnlen((const char *)key.bytes, key.length)};
}

#endif
