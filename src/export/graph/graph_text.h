/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_GRAPH_TEXT_H
#define PFR_EXPORT_GRAPH_TEXT_H
/* Writes a call graph, or the difference of two call graphs, as DOT or mermaid. Names are escaped and quoted. */
#include "export/graph/call_graph.h"

#include <perfray/graph.h>

/* Uses labels and limits of pfr_graph_options; ignores its other members. `other` NULL: one graph. */
struct graph_view {
    const struct call_graph *graph, *other;
    const pfr_graph_options *how;
    bool ticks, by_weight;
};

/* Errors of the output are kept in `to`. */
void graph_write(const struct graph_view *view, struct rows *rows, struct output *to);

#endif
