/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call graphs as text. DOT: each function is a record, "{name|number}", in which a backslash escapes { } | < > and
 * blanks. mermaid: quotes and other signs of its grammar are written as #NUMBER;.
 */
#include "export/graph/graph_text.h"

#include "base/memory/escape_bytes.h"
#include "base/text/escape.h"

#include <inttypes.h>
#include <stdio.h>

struct pair { /* the numbers of the same vertex or edge in both graphs; NULL: absent there */
    const struct graph_numbers *is, *was;
};

/* --- Names. */

static void put_dot_name(struct output *to, struct intern_text name) {
    struct output plain;
    out_open_memory(&plain, to->memory);
    out_escaped(&plain, name.bytes, name.length);
    for (size_t i = 0; i < plain.used; i++) {
        if (strchr("\"\\{}|<> ", plain.buffer[i]))
            out_char(to, '\\');
        out_char(to, plain.buffer[i]);
    }
    if (out_close(&plain, NULL) < 0)
        to->status = to->status < 0 ? to->status : PFR_ERR_MEMORY;
}

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_.:,~()[] +-*", c) ||
           (unsigned char)c >= 128;
}

static void put_mermaid_name(struct output *to, struct intern_text name) {
    struct output plain;
    out_open_memory(&plain, to->memory);
    out_escaped(&plain, name.bytes, name.length);
    for (size_t i = 0; i < plain.used; i++) {
        if (plain.buffer[i] && is_plain(plain.buffer[i])) {
            out_char(to, plain.buffer[i]);
            continue;
        }
        out_char(to, '#');
        out_u64(to, (unsigned char)plain.buffer[i]);
        out_char(to, ';');
    }
    if (out_close(&plain, NULL) < 0)
        to->status = to->status < 0 ? to->status : PFR_ERR_MEMORY;
}

/* --- Numbers. */

static bool is_duration(const struct graph_view *v, enum graph_label label) {
    return label > GRAPH_COUNT && !v->ticks && (v->graph->is_traced || label != GRAPH_SUM);
}

static void put_change(struct output *to, uint64_t was, uint64_t is) {
    char text[40];
    const double change = was ? ((double)is - (double)was) / (double)was * 100 : 0;
    snprintf(text, sizeof text, "%.2f%%", change);
    out_text(to, was || !is ? text : "new");
}

/* Writes the number like llvm-xray: durations in seconds. When two recordings are compared, writes nothing for a vertex
 * or edge that is in only one of them. */
static void put_number(struct output *to, const struct graph_view *v, const struct pair *p, enum graph_label label) {
    char text[40];
    if (v->other && p->is && p->was)
        put_change(to, graph_number(p->was, label), graph_number(p->is, label));
    if (v->other)
        return;
    const uint64_t number = graph_number(p->is, label);
    snprintf(text, sizeof text, "%e", (double)number / 1e9);
    if (is_duration(v, label))
        out_text(to, text);
    else
        out_u64(to, number);
}

/*
 * --- Colours. The fill of a function goes from white to red with its size. In a comparison, the fill goes to green if
 * the function's number fell, to red if it rose. Lines are drawn on white, so their scale begins with a grey that gives
 * every line a contrast of at least 3:1.
 */

struct color {
    unsigned red, green, blue;
};

struct color_scale {
    struct color least, most, fallen; /* fallen: end of the scale for decreases */
    struct color added, removed;
};

static const struct color_scale line_colors = {.least = {0x8f, 0x8f, 0x8f},
                                               .most = {0xd0, 0, 0},
                                               .fallen = {0, 0x7a, 0},
                                               .added = {0, 0x7a, 0},
                                               .removed = {0xff, 0, 0}};
static const struct color_scale fill_colors = {.least = {0xff, 0xff, 0xff},
                                               .most = {0xff, 0x37, 0x37},
                                               .fallen = {0x37, 0xff, 0x37},
                                               .added = {0, 0xff, 0},
                                               .removed = {0xff, 0, 0}};

static void put_rgb(struct output *to, struct color c) {
    out_char(to, '#');
    out_hex(to, c.red << 16 | c.green << 8 | c.blue, 6);
}

static unsigned between(unsigned from, unsigned to, double share) {
    return (unsigned)((double)from + ((double)to - (double)from) * share + 0.5);
}

static struct color mix(struct color from, struct color to, double share) {
    return (struct color){between(from.red, to.red, share), between(from.green, to.green, share),
                          between(from.blue, to.blue, share)};
}

static void put_color(struct output *to, const struct graph_view *v, const struct pair *p, enum graph_label label,
                      uint64_t most, const struct color_scale *scale) {
    if (v->other && (!p->is || !p->was)) {
        put_rgb(to, p->is ? scale->added : scale->removed);
        return;
    }
    const double is = (double)graph_number(p->is, label), was = v->other ? (double)graph_number(p->was, label) : 0;
    const double larger = is > was ? is : was;
    const double share =
        v->other ? (larger > 0 ? (is > was ? is - was : was - is) / larger : 0) : (most ? is / (double)most : 0);
    put_rgb(to, mix(scale->least, v->other && is < was ? scale->fallen : scale->most, share));
}

/* --- Selection by size. */

static bool is_shown(const struct graph_view *v, const struct graph_numbers *n, double least) {
    const uint64_t amount = v->graph->is_traced || v->by_weight ? n->sum : n->count;
    const double total = (double)v->graph->total;
    return n->count > 0 && (least <= 0 || total <= 0 || (double)amount * 100 >= least * total);
}

struct shown {
    const struct graph_view *view;
    struct output *to;
    uint64_t most_of_edges, most_of_vertices;
    uint64_t hidden_edges, hidden_vertices;
};

static uint64_t most_of(const struct graph_view *v, bool edges, enum graph_label label) {
    const struct call_graph *g = v->graph;
    uint64_t most = 0;
    for (size_t i = edges ? 0 : 1; i < (edges ? g->nr_edges : g->nr_vertices); i++) {
        const uint64_t n = graph_number(edges ? &g->edges[i].is : &g->vertices[i].is, label);
        most = n > most ? n : most;
    }
    return most;
}

/* --- DOT. */

static void dot_edge(struct shown *s, uint32_t from, uint32_t to, const struct pair *p) {
    const pfr_graph_options *how = s->view->how;
    struct output *out = s->to;
    out_char(out, 'F');
    out_u64(out, from);
    out_text(out, " -> F");
    out_u64(out, to);
    if (how->edge_label || how->edge_color || s->view->other) {
        out_text(out, " [label=\"");
        if (how->edge_label)
            put_number(out, s->view, p, (enum graph_label)how->edge_label);
        out_char(out, '"');
        if (how->edge_color || s->view->other) {
            out_text(out, " color=\"");
            put_color(out, s->view, p, (enum graph_label)how->edge_color, s->most_of_edges, &line_colors);
            out_char(out, '"');
        }
        out_char(out, ']');
    }
    out_text(out, ";\n");
}

static void dot_vertex(struct shown *s, uint32_t number, struct intern_text name, const struct pair *p) {
    const pfr_graph_options *how = s->view->how;
    struct output *out = s->to;
    out_char(out, 'F');
    out_u64(out, number);
    out_text(out, how->vertex_label ? " [label=\"{" : " [label=\"");
    put_dot_name(out, name);
    if (how->vertex_label) {
        out_char(out, '|');
        put_number(out, s->view, p, (enum graph_label)how->vertex_label);
        out_char(out, '}');
    }
    out_char(out, '"');
    if (how->vertex_color || (s->view->other && (!p->is || !p->was))) {
        out_text(out, " style=filled fillcolor=\"");
        put_color(out, s->view, p, (enum graph_label)how->vertex_color, s->most_of_vertices, &fill_colors);
        out_char(out, '"');
    }
    out_text(out, "];\n");
}

/* --- mermaid. */

static void mermaid_edge(struct shown *s, uint32_t from, uint32_t to, const struct pair *p) {
    struct output *out = s->to;
    out_text(out, "    F");
    out_u64(out, from);
    if (s->view->how->edge_label) {
        out_text(out, " -->|\"");
        put_number(out, s->view, p, (enum graph_label)s->view->how->edge_label);
        out_text(out, "\"| F");
    } else {
        out_text(out, " --> F");
    }
    out_u64(out, to);
    out_char(out, '\n');
}

static void mermaid_vertex(struct shown *s, uint32_t number, struct intern_text name, const struct pair *p) {
    const pfr_graph_options *how = s->view->how;
    struct output *out = s->to;
    out_text(out, "    F");
    out_u64(out, number);
    out_text(out, "[\"");
    put_mermaid_name(out, name);
    if (how->vertex_label) {
        out_text(out, "<br/>");
        put_number(out, s->view, p, (enum graph_label)how->vertex_label);
    }
    out_text(out, "\"]\n");
    if (!how->vertex_color)
        return;
    out_text(out, "    style F");
    out_u64(out, number);
    out_text(out, " fill:");
    put_color(out, s->view, p, (enum graph_label)how->vertex_color, s->most_of_vertices, &fill_colors);
    out_char(out, '\n');
}

/* --- Two graphs: a vertex of the second graph gets the number of the first graph's vertex with the same name. */

static uint32_t number_in_first(const struct graph_view *v, uint32_t vertex) {
    if (!vertex || !v->other)
        return vertex;
    const struct intern_text key = intern_get(&v->other->names, vertex - 1);
    const uint32_t id = intern_find(&v->graph->names, key.bytes, key.length);
    return id == UINT32_MAX ? (uint32_t)v->graph->nr_vertices + vertex : id + 1;
}

static const struct graph_numbers *edge_in(const struct call_graph *g, uint32_t from, uint32_t to) {
    uint64_t edge;
    if (!u64_map_get(&g->edge_of, (uint64_t)from << 32 | to, &edge) || !g->edges[edge].is.count)
        return NULL;
    return &g->edges[edge].is;
}

static const struct graph_numbers *vertex_in(const struct call_graph *g, const struct intern_table *names,
                                             uint32_t vertex, uint32_t *number) {
    const struct intern_text key = intern_get(names, vertex - 1);
    const uint32_t id = intern_find(&g->names, key.bytes, key.length);
    *number = id == UINT32_MAX ? 0 : id + 1;
    return *number && g->vertices[*number].is.count ? &g->vertices[*number].is : NULL;
}

static uint32_t other_number(const struct graph_view *v, uint32_t vertex) {
    uint32_t number = 0;
    if (vertex)
        vertex_in(v->other, &v->graph->names, vertex, &number);
    return vertex && !number ? UINT32_MAX : number;
}

/* --- Writing vertices and edges. */

static void put_edge(struct shown *s, uint32_t from, uint32_t to, const struct pair *p) {
    const struct graph_view *v = s->view;
    const struct graph_numbers *n = p->is ? p->is : p->was;
    if (!n->count)
        return;
    if (!is_shown(v, n, v->how->min_edge))
        s->hidden_edges++;
    else if (v->how->mermaid)
        mermaid_edge(s, from, to, p);
    else
        dot_edge(s, from, to, p);
}

static void put_vertex(struct shown *s, uint32_t number, struct intern_text name, const struct pair *p) {
    const struct graph_view *v = s->view;
    const struct graph_numbers *n = p->is ? p->is : p->was;
    if (!n->count)
        return;
    if (!is_shown(v, n, v->how->min_vertex))
        s->hidden_vertices++;
    else if (v->how->mermaid)
        mermaid_vertex(s, number, name, p);
    else
        dot_vertex(s, number, name, p);
}

/* Writes `graph`. If `other` is set, `graph` belongs to the earlier recording and `other` to the later recording. */
static void put_first(struct shown *s) {
    const struct graph_view *v = s->view;
    const struct call_graph *g = v->graph;
    uint32_t number;
    for (size_t i = 0; i < g->nr_edges; i++) {
        const struct graph_edge *e = &g->edges[i];
        struct pair p = {.is = &e->is};
        if (v->other)
            p = (struct pair){edge_in(v->other, other_number(v, e->from), other_number(v, e->to)), &e->is};
        put_edge(s, e->from, e->to, &p);
    }
    for (uint32_t i = 1; i < g->nr_vertices; i++) {
        struct pair p = {.is = &g->vertices[i].is};
        if (v->other)
            p = (struct pair){vertex_in(v->other, &g->names, i, &number), &g->vertices[i].is};
        put_vertex(s, i, graph_name(g, i), &p);
    }
}

/* Writes the vertices and edges that only `other` has. */
static void put_added(struct shown *s) {
    const struct graph_view *v = s->view;
    const struct call_graph *g = v->other;
    uint32_t number;
    for (size_t i = 0; i < g->nr_edges; i++) {
        const struct graph_edge *e = &g->edges[i];
        const uint32_t from = number_in_first(v, e->from), to = number_in_first(v, e->to);
        if (!edge_in(v->graph, from, to))
            put_edge(s, from, to, &(struct pair){.is = &e->is});
    }
    for (uint32_t i = 1; i < g->nr_vertices; i++)
        if (!vertex_in(v->graph, &g->names, i, &number))
            put_vertex(s, number_in_first(v, i), graph_name(g, i), &(struct pair){.is = &g->vertices[i].is});
}

static void report_hidden(const struct shown *s, struct rows *r) {
    char text[160];
    if (!s->hidden_vertices && !s->hidden_edges)
        return;
    snprintf(text, sizeof text, "left out because of their share: functions %" PRIu64 ", edges %" PRIu64,
             s->hidden_vertices, s->hidden_edges);
    rows_note(r, text);
}

void graph_write(const struct graph_view *v, struct rows *r, struct output *to) {
    struct shown s = {.view = v,
                      .to = to,
                      .most_of_edges = most_of(v, true, (enum graph_label)v->how->edge_color),
                      .most_of_vertices = most_of(v, false, (enum graph_label)v->how->vertex_color)};
    out_text(to, v->how->mermaid ? "flowchart TD\n    F0((\" \"))\n"
                                 : "digraph xray {\nnode [shape=record];\nF0 [label=\"\" shape=point];\n");
    put_first(&s);
    if (v->other)
        put_added(&s);
    out_text(to, v->how->mermaid ? "" : "}\n");
    report_hidden(&s, r);
}
