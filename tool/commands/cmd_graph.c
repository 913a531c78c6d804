/* SPDX-License-Identifier: Apache-2.0 */
/* perfray graph: which function called which, for Graphviz or mermaid. */
#include <perfray/graph.h>
#include "selecting.h"

struct graph_options {
    const char *output, *base;
    unsigned format, edge_label, vertex_label, edge_color, vertex_color;
    double min_vertex, min_edge;
    struct selecting selecting;
};

static const struct graph_options graph_defaults = {
    .edge_label = PFR_GRAPH_COUNT, .vertex_label = PFR_GRAPH_SUM, .selecting = {.naming.cache = true}};

#define PROGRAM "perfray graph"
#define OF(member) offsetof(struct graph_options, member)
#define LABELS "none|count|min|median|90p|99p|max|sum"

static const struct opt graph_opts[] = {
    HEADING("Output"),
    {"format", 0, OPT_CHOICE, OF(format), "dot|mermaid", "output format: for Graphviz (default) or mermaid"},
    {"output", 'o', OPT_STRING, OF(output), "FILE", "write FILE, completely or not at all; - for stdout (default)"},
    {"diff", 0, OPT_STRING, OF(base), "BASE", "print the changes from BASE to FILE, in percent"},
    HEADING("Labels and colors"),
    {"edge-label", 'e', OPT_CHOICE, OF(edge_label), LABELS, "number printed at each edge (default count)"},
    {"vertex-label", 'v', OPT_CHOICE, OF(vertex_label), LABELS, "number printed for each function (default sum)"},
    {"edge-color", 0, OPT_CHOICE, OF(edge_color), LABELS, "color edges by this number (default: no color)"},
    {"color-edges", 0, OPT_CHOICE, OF(edge_color), LABELS, NULL},
    {"vertex-color", 0, OPT_CHOICE, OF(vertex_color), LABELS, "color functions by this number (default: no color)"},
    {"color-vertices", 0, OPT_CHOICE, OF(vertex_color), LABELS, NULL},
    {"min-vertex", 0, OPT_PERCENT, OF(min_vertex), "PERCENT", "omit functions with a smaller share (default 0)"},
    {"min-edge", 0, OPT_PERCENT, OF(min_edge), "PERCENT", "omit edges with a smaller share (default 0)"},
    SELECTING_ROWS_WITH(struct graph_options, 0),
    HEADING("Compatibility"),
    {"keep-going", 'k', OPT_HABIT, 0, NULL, "ignored, for compatibility with llvm-xray (errors never end the graph)"},
    {"deduce-sibling-calls", 'd', OPT_REFUSED, 0,
     "is not available: a call without an exit has no duration; perfray latency -d ends it at the exit of its caller",
     NULL},
    {0},
};

static enum exit_status write_graph(const struct task *task, pfr_reader *reader, pfr_reader *base) {
    const struct graph_options *const o = task->options;
    const pfr_symbol_options naming = symbol_options_of(&o->selecting.naming);
    const pfr_selection of = selection_of(&o->selecting, task, &naming);
    const pfr_graph_options how = {.size = sizeof how,
                                   .of = &of,
                                   .path = output_path(o->output),
                                   .edge_label = (pfr_graph_label)o->edge_label,
                                   .vertex_label = (pfr_graph_label)o->vertex_label,
                                   .edge_color = (pfr_graph_label)o->edge_color,
                                   .vertex_color = (pfr_graph_label)o->vertex_color,
                                   .min_vertex = o->min_vertex,
                                   .min_edge = o->min_edge,
                                   .mermaid = o->format == 1,
                                   .other = base ? reader : NULL};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    const pfr_status status = pfr_graph(base ? base : reader, &how, task->out, &err);
    return end_of_writing(task, PROGRAM, reader, status, &err);
}

static enum exit_status graph_run(const struct task *task) {
    const struct graph_options *const o = task->options;
    const pfr_open_options how = {.size = sizeof how, .spool = true};
    struct task second = *task;
    enum exit_status status;
    pfr_reader *base = NULL;
    if (!is_other_file(task, PROGRAM, output_path(o->output)) || !selecting_fits(&o->selecting, PROGRAM))
        return ENDS_USAGE;
    pfr_reader *const reader = open_recording(task, &how, &status);
    second.file = o->base;
    if (reader && o->base)
        base = open_recording(&second, &how, &status);
    if (reader && (base || !o->base))
        status = write_graph(task, reader, base);
    if (base)
        status = graver_of(status, complain_of_damage(&second, base));
    pfr_close(base);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_graph;
const struct command cmd_graph = {
    .name = "graph",
    .about = "draw the call graph for Graphviz or mermaid",
    .arguments = "[FILE]",
    .examples = "perfray graph perf.data >calls.dot\n"
                "perfray graph --format=mermaid perf.data\n",
    .takes_one_file = true,
    .opts = graph_opts,
    .defaults = &graph_defaults,
    .size = sizeof(struct graph_options),
    .prints_at_end = true,
    .passes = 2,
    .run = graph_run,
};
