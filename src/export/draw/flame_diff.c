/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws the two sides of a comparison, base and new, as one flame graph: box widths are those of the new side, and
 * colours show the change in percentage points of the total. Stacks found only in the base are in a strip below the
 * graph, with their width in the base. The colour scale is safe for colour-blind people (blue to orange, in steps of
 * different lightness), and labels carry the sign, so that no information depends on colour.
 */
#include "base/io/whole_file.h"
#include "base/text/escape.h"
#include "base/text/public_output.h"
#include "model/diff/diff_tree.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define ROW_HEIGHT 18u
#define HEAD_HEIGHT 64u
#define STEPS 7u
#define CHARACTER_WIDTH 6.6
#define STRIP_HEIGHT (2 * ROW_HEIGHT)

struct drawing {
    const pfr_diff *d;
    struct diff_tree tree;
    struct memory *memory;
    struct output *to;
    const char *title;
    double *from;    /* by node: left end, as a fraction of the whole */
    uint32_t *depth; /* by node */
    double whole[2], least, width;
    uint32_t rows;
    uint64_t left_out;
    bool is_fixed;
};

/* Changes, in percentage points of the total, at which the next stronger colour begins; changes below the first one are
   neutral. */
static const double bounds[] = {0.05, 0.5, 2};

static unsigned step_of(double points) {
    unsigned steps = 0;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        steps += fabs(points) >= bounds[i];
    return points < 0 ? 3 - steps : 3 + steps;
}

static double share(const struct drawing *g, size_t node, unsigned side) {
    return g->whole[side] > 0 ? g->tree.nodes[node].total[side] / g->whole[side] : 0;
}

static double points_of(const struct drawing *g, size_t node) {
    return 100 * (share(g, node, 1) - share(g, node, 0));
}

/* --- Places: children are side by side, in the order in which they are found. */

static void place(struct drawing *g) {
    for (size_t i = 1; i < g->tree.count; i++)
        g->depth[i] = g->depth[g->tree.nodes[i].parent] + 1;
    for (size_t i = 0; i < g->tree.count; i++) {
        double at = g->from[i];
        for (uint32_t child = g->tree.nodes[i].first_child; child; child = g->tree.nodes[child].next) {
            g->from[child] = at;
            at += share(g, child, 1);
        }
        if (share(g, i, 1) >= g->least && g->depth[i] > g->rows)
            g->rows = g->depth[i];
    }
}

/* --- Text. */

static void put(struct drawing *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct drawing *g, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    out_write(g->to, text, length > 0 && length < (int)sizeof text ? (size_t)length : 0);
}

static void put_markup(struct drawing *g, const char *text) {
    out_markup(g->to, text, strlen(text));
}

static const char *name_of(const struct drawing *g, size_t node) {
    const struct diff_row_key *key = node ? &g->d->keys[g->tree.nodes[node].row] : NULL;
    return !key ? "all" : strcmp(key->symbol, "[unknown]") == 0 && *key->object ? key->object : key->symbol;
}

static void put_hint(struct drawing *g, size_t node) {
    out_text(g->to, "<title>");
    put_markup(g, name_of(g, node));
    if (node) {
        out_text(g->to, " (");
        put_markup(g, g->d->keys[g->tree.nodes[node].row].object);
        out_text(g->to, ")");
    }
    put(g, ": %.2f %% → %.2f %%, %+.2f points</title>", 100 * share(g, node, 0), 100 * share(g, node, 1),
        points_of(g, node));
}

/* --- Boxes. */

static void put_label(struct drawing *g, size_t node, double width, const char *mark) {
    if (width < 5 * CHARACTER_WIDTH)
        return;
    out_text(g->to, "<text x=\"3\" y=\"13\">");
    out_text(g->to, mark);
    put_markup(g, name_of(g, node));
    if (step_of(points_of(g, node)) != 3)
        put(g, " %+.2f", points_of(g, node));
    out_text(g->to, "</text>");
}

static void put_box(struct drawing *g, size_t node) {
    const double part = share(g, node, 1), points = points_of(g, node);
    const unsigned y = HEAD_HEIGHT + g->depth[node] * ROW_HEIGHT;
    const bool is_new = node && g->tree.nodes[node].total[0] == 0;
    put(g, "<svg x=\"%.4f%%\" y=\"%u\" width=\"%.4f%%\" height=\"%u\" class=\"s%u%s\">", 100 * g->from[node], y,
        100 * part, ROW_HEIGHT - 1, step_of(points), is_new ? " new" : "");
    put_hint(g, node);
    out_text(g->to, "<rect width=\"100%\" height=\"100%\"/>");
    put_label(g, node, part * g->width,
              is_new                 ? "new "
              : points >= bounds[0]  ? "▲ "
              : points <= -bounds[0] ? "▼ "
                                     : "");
    out_text(g->to, "</svg>\n");
}

static void put_boxes(struct drawing *g) {
    for (size_t i = 0; i < g->tree.count; i++) {
        if (g->tree.nodes[i].total[1] == 0)
            continue;
        if (share(g, i, 1) >= g->least)
            put_box(g, i);
    }
}

/* Whether the node, but not its parent, is only in the base. */
static bool is_gone(const struct drawing *g, size_t node) {
    return node && g->tree.nodes[node].total[1] == 0 && g->tree.nodes[node].total[0] > 0 &&
           (!g->tree.nodes[node].parent || g->tree.nodes[g->tree.nodes[node].parent].total[1] > 0);
}

static void put_strip(struct drawing *g, unsigned y) {
    double at = 0, all = 0;
    for (size_t i = 1; i < g->tree.count; i++)
        all += is_gone(g, i) ? share(g, i, 0) : 0;
    put(g,
        "<text x=\"3\" y=\"%u\" class=\"head\">gone: %.2f %% of the base, outermost calls that the new side "
        "lacks</text>\n",
        y + 13, 100 * all);
    for (size_t i = 1; i < g->tree.count; i++) {
        const double part = share(g, i, 0);
        if (!is_gone(g, i) || part < g->least)
            continue;
        put(g, "<svg x=\"%.4f%%\" y=\"%u\" width=\"%.4f%%\" height=\"%u\" class=\"gone\">", 100 * at, y + ROW_HEIGHT,
            100 * part, ROW_HEIGHT - 1);
        put_hint(g, i);
        out_text(g->to, "<rect width=\"100%\" height=\"100%\"/>");
        put_label(g, i, part * g->width, "gone ");
        out_text(g->to, "</svg>\n");
        at += part;
    }
}

/* --- Head. */

static const char style[] =
    "<style>\n"
    "svg{font:11px sans-serif}.paper{fill:#fff}text{fill:#14171c}.head{font-size:12px}.title{font-size:15px}\n"
    "rect{stroke:#fff;stroke-width:.5}\n"
    ".s0 rect{fill:#2f78c4}.s1 rect{fill:#709ed3}.s2 rect{fill:#abc3e1}.s3 rect{fill:#e6e8ec}\n"
    ".s4 rect{fill:#e8c2ae}.s5 rect{fill:#e69b6f}.s6 rect{fill:#e0701a}.s0 text{fill:#fff}\n"
    ".new rect{stroke:#7a4fc0;stroke-width:2}.gone rect{fill:none;stroke:#8a6d3b;stroke-width:2;stroke-dasharray:4 2}\n"
    "@media(prefers-color-scheme:dark){.paper{fill:#14171c}text{fill:#e7eaee}rect{stroke:#14171c}\n"
    ".s0 rect{fill:#4f9be8}.s1 rect{fill:#4b7cb0}.s2 rect{fill:#445d7b}.s3 rect{fill:#3a4049}\n"
    ".s4 rect{fill:#715749}.s5 rect{fill:#aa6d43}.s6 rect{fill:#e5812f}.s0 text,.s6 text{fill:#14171c}\n"
    ".new rect{stroke:#b79cf0}.gone rect{fill:none;stroke:#d3b26a}}\n"
    "</style>\n";

static void put_legend(struct drawing *g) {
    static const char *const words[] = {"≤ −2",       "−2 … −0.5", "−0.5 … −0.05", "± 0.05",
                                        "0.05 … 0.5", "0.5 … 2",   "≥ 2 points"};
    for (unsigned s = 0; s < STEPS; s++) {
        put(g,
            "<svg x=\"%u\" y=\"44\" width=\"86\" height=\"16\" class=\"s%u\"><rect width=\"100%%\" height=\"100%%\"/>",
            s * 88, s);
        put(g, "<text x=\"43\" y=\"12\" text-anchor=\"middle\">%s</text></svg>\n", words[s]);
    }
}

static void put_head(struct drawing *g, unsigned height) {
    out_text(g->to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" ");
    if (g->is_fixed)
        put(g, "width=\"%.0f\" height=\"%u\">\n", g->width, height);
    else
        put(g, "width=\"100%%\" height=\"%u\">\n", height);
    out_text(g->to, style);
    out_text(g->to, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n<text x=\"3\" y=\"18\" class=\"title\">");
    put_markup(g, g->title);
    out_text(g->to, "</text>\n<text x=\"3\" y=\"36\" class=\"head\">");
    out_text(g->to, "width: share of the new side; colour: change in points of the total");
    if (g->left_out)
        put(g, "; %llu boxes too narrow to draw", (unsigned long long)g->left_out);
    out_text(g->to, "</text>\n");
    put_legend(g);
}

static void count_left_out(struct drawing *g) {
    for (size_t i = 0; i < g->tree.count; i++)
        g->left_out += g->tree.nodes[i].total[1] > 0 && share(g, i, 1) < g->least;
}

static void draw(struct drawing *g) {
    const unsigned strip = HEAD_HEIGHT + (g->rows + 1) * ROW_HEIGHT + ROW_HEIGHT / 2;
    count_left_out(g);
    put_head(g, strip + STRIP_HEIGHT + 4);
    put_boxes(g);
    put_strip(g, strip);
    out_text(g->to, "</svg>\n");
}

/* --- The whole image. */

static pfr_status draw_to(struct drawing *g, struct output *to, pfr_error *err) {
    g->to = to;
    pfr_status st = diff_tree_make(&g->tree, g->d, false, g->memory, err);
    const size_t count = g->tree.count;
    g->from = st < 0 ? NULL : mem_zeroed(g->memory, count, sizeof *g->from);
    g->depth = st < 0 ? NULL : mem_zeroed(g->memory, count, sizeof *g->depth);
    if (g->from && g->depth) {
        g->whole[0] = g->tree.nodes[0].total[0];
        g->whole[1] = g->tree.nodes[0].total[1];
        place(g);
        draw(g);
    } else if (st >= 0) {
        st = mem_fail(g->memory, err, "boxes");
    }
    mem_free(g->memory, g->from, count, sizeof *g->from);
    mem_free(g->memory, g->depth, count, sizeof *g->depth);
    diff_tree_free(&g->tree);
    return st;
}

static pfr_status draw_file(struct drawing *g, const char *path, pfr_error *err) {
    struct whole_file file;
    struct output out;
    PFR_TRY(whole_file_open(&file, path, g->memory, &out, err));
    const pfr_status st = draw_to(g, &out, err);
    const pfr_status closed = whole_file_close(&file, &out, st >= 0, st < 0 ? NULL : err);
    return st < 0 ? st : closed;
}

pfr_status pfr_diff_flame(const pfr_diff *d, const pfr_diff_flame_options *options, pfr_output *out, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    pfr_diff_flame_options o = {.size = sizeof o};
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    const uint32_t width = o.width ? o.width : 1200;
    if (width < 200 || width > 100000)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "width", "the width must be 200 to 100000 pixels");
    struct drawing g = {.d = d,
                        .memory = &out->memory,
                        .title = o.title ? o.title : "Differential flame graph",
                        .width = width,
                        .is_fixed = o.width > 0,
                        .least = (o.min_width > 0 ? o.min_width : 0.3) / width};
    return o.path ? draw_file(&g, o.path, err) : draw_to(&g, &out->out, err);
}
