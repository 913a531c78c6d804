/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_GRAPH_H
#define PERFRAY_GRAPH_H
/*
 * pfr_graph - which function called which, as a graph in DOT (Graphviz) or mermaid.
 *
 * Vertices are functions, edges are pairs of caller and callee. For XRay traces the numbers are counts of calls and
 * their durations, including callees, as in `llvm-xray graph`. For samples the numbers are counts of the samples whose
 * stack contains the function or the pair; each sample counts once.
 *
 * Memory: allocated from the reader's memory limit; for traces 32 bytes per call while the graph is made.
 *
 * Threads: as pfr_export().
 *
 * Example:
 *
 *     pfr_graph_options options = {.size = sizeof options, .edge_label = PFR_GRAPH_COUNT, .edge_color = PFR_GRAPH_SUM};
 *     pfr_status status = pfr_graph(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/selection.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number of a vertex or an edge. Samples have PFR_GRAPH_COUNT and PFR_GRAPH_SUM only. */
typedef enum pfr_graph_label {
    PFR_GRAPH_NONE,
    PFR_GRAPH_COUNT,  /* calls, or samples */
    PFR_GRAPH_MIN,    /* duration of a call, in seconds */
    PFR_GRAPH_MEDIAN, /* the duration at index count / 2 in ascending order */
    PFR_GRAPH_P90,    /* the duration at index count * 90 / 100 */
    PFR_GRAPH_P99,
    PFR_GRAPH_MAX,
    PFR_GRAPH_SUM /* sum of durations; for samples, of weights (periods) */
} pfr_graph_label;

/* All pointers must remain valid while pfr_graph() runs. */
typedef struct pfr_graph_options {
    /* sizeof(pfr_graph_options) */
    size_t size;
    /* Samples or calls to count, and callbacks for holes and notes. NULL: all. */
    const pfr_selection *of;
    /* File to write, as pfr_export_options.path. NULL: write to `out`. */
    const char *path;
    /* The number printed at an edge and below the name of a vertex. */
    pfr_graph_label edge_label, vertex_label;
    /* The number by which an edge or a vertex is coloured, from white (0) to red (the largest). */
    pfr_graph_label edge_color, vertex_color;
    /* Leave out vertices and edges whose share of all samples or of all self times is below this many percent. */
    double min_vertex, min_edge;
    /* Write mermaid. Default: DOT. Mermaid has no colours of edges. */
    bool mermaid;
    /* Compare with this recording: labels are changes from `reader` to `other`, (B - A) / A in percent. Functions are
       matched by name. NULL: no comparison. */
    pfr_reader *other;
} pfr_graph_options;

/*
 * pfr_graph - read the recording and write the graph.
 *
 * Returns as pfr_export(); also PFR_ERR_USAGE for a label that samples do not have, and for comparing a trace with
 * samples.
 */
pfr_status pfr_graph(pfr_reader *reader, const pfr_graph_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
