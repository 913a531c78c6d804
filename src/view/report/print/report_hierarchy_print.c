/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a hierarchy in the layout of perf: weights and name of a node are indented by its level, so the names of all
 * levels share the last column.
 *
 *     #    Overhead  Command / Shared Object
 *     # ...........  .......................
 *     #
 *         60.00%     busy
 *            40.00%     libc.so.6
 */
#include "view/report/print/report_hierarchy_print.h"
#include "view/report/print/report_table.h"
#include "view/report/print/report_tree_parallel.h"
#include "view/report/rows/report_line.h"

#include "base/memory/fail.h"
#include "base/text/escape.h"

#include <stdio.h>
#include <string.h>

#define INDENT 3u
#define GAP 2u         /* blanks between columns */
#define NAME_LEAST 16u /* minimum width of a shortened name */
#define NO_ENTRY_ROOM 40u

struct hierarchy_printer {
    struct table table;
    const struct hierarchy *h;
    struct report_texts texts;
    pfr_output *to;
};

static bool is_weight(const struct hierarchy_printer *p, unsigned c) {
    return p->table.r->chosen.columns[c]->number;
}

static size_t deepest_indent(const struct hierarchy_printer *p) {
    return p->table.separator ? 0 : (p->h->levels - 1) * INDENT;
}

static size_t weights_width(const struct hierarchy_printer *p) {
    size_t width = 0;
    for (unsigned c = 0; c < p->table.r->chosen.nr_columns; c++)
        if (is_weight(p, c))
            width += table_column_width(&p->table, c) + (width ? GAP : 0);
    return width;
}

static const char *gap_of(const struct hierarchy_printer *p) {
    return p->table.separator ? p->table.separator : "  ";
}

/* The width of the terminal; 0: unlimited. */
static size_t columns_of(const struct hierarchy_printer *p) {
    return p->table.r->options->format == PFR_REPORT_TEXT ? p->to->columns : 0;
}

/* --- heading --- */

/* Returns the heading without the leading blanks that some headings have for alignment. */
static const char *level_heading(const struct hierarchy_printer *p, unsigned level) {
    const char *const heading = table_heading(p->table.r, p->table.r->chosen.columns[p->h->column[level]]);
    return heading + strspn(heading, " ");
}

static size_t names_width(const struct hierarchy_printer *p) {
    size_t headings = 0, names = 0;
    for (unsigned level = 0; level < p->h->levels; level++) {
        const size_t width = level * INDENT + p->table.width[p->h->column[level]];
        headings += strlen(level_heading(p, level)) + (level ? strlen(" / ") : 0);
        names = width > names ? width : names;
    }
    const size_t width = headings > names ? headings : names, before = GAP + deepest_indent(p) + weights_width(p) + GAP;
    const size_t columns = columns_of(p);
    return columns && before + width > columns ? (columns > before ? columns - before : 0) : width;
}

static void write_headings(const struct hierarchy_printer *p, struct output *out) {
    const struct report *r = p->table.r;
    out_text(out, "# ");
    out_pad(out, deepest_indent(p));
    for (unsigned c = 0; c < r->chosen.nr_columns; c++)
        if (is_weight(p, c)) {
            const char *const heading = table_heading(r, r->chosen.columns[c]);
            out_pad(out, p->table.separator ? 0 : table_column_width(&p->table, c) - strlen(heading));
            out_text(out, heading);
            out_text(out, gap_of(p));
        }
    for (unsigned level = 0; level < p->h->levels; level++) {
        out_text(out, level ? " / " : "");
        out_text(out, level_heading(p, level));
    }
    out_char(out, '\n');
    if (p->table.separator)
        return;
    out_text(out, "# ");
    out_fill(out, '.', deepest_indent(p) + weights_width(p));
    out_text(out, "  ");
    out_fill(out, '.', names_width(p));
    out_text(out, "\n#\n");
}

/* --- lines --- */

/* Shortens a name only if the terminal has room for a readable part. */
static void write_name(struct hierarchy_printer *p, uint32_t node, size_t before) {
    const struct report *r = p->table.r;
    const unsigned level = p->h->nodes[node].level, c = p->h->column[level];
    const struct row *const row = hierarchy_rows(p->h, node);
    const uint64_t value = line_cell(r, p->table.lines, p->h->nodes[node].line, level);
    struct report_text text = report_text_of(&p->texts, c, value, row);
    while (text.length && *text.bytes == ' ')
        text.bytes++, text.length--;
    const size_t columns = columns_of(p);
    if (p->table.separator)
        table_write_without(&p->to->out, &text, p->table.separator);
    else if (columns)
        out_text_within(&p->to->out, text.bytes, text.length,
                        columns > before + NAME_LEAST ? columns - before : NAME_LEAST);
    else
        out_write(&p->to->out, text.bytes, text.length);
}

static void write_node(struct hierarchy_printer *p, uint32_t node) {
    const struct table *t = &p->table;
    struct output *const out = &p->to->out;
    const size_t indent = p->h->nodes[node].level * INDENT;
    const char *gap = t->separator ? "" : "  ";
    out_pad(out, indent);
    for (unsigned c = 0; c < t->r->chosen.nr_columns; c++)
        if (is_weight(p, c)) {
            out_text(out, gap);
            gap = gap_of(p);
            for (uint32_t m = 0; m < p->h->members; m++)
                table_write_weight(t, &p->texts, c, m, &hierarchy_rows(p->h, node)[m], out);
        }
    out_pad(out, deepest_indent(p));
    out_text(out, gap_of(p));
    write_name(p, node, indent + GAP + weights_width(p) + deepest_indent(p) + GAP);
    out_char(out, '\n');
}

/* As in perf, prints "no entry" below a node whose children are all below --percent-limit. */
static void write_no_entry(const struct hierarchy_printer *p, uint32_t node) {
    const struct report *const r = p->table.r;
    const struct hierarchy_node *const n = &p->h->nodes[node];
    const size_t indent = p->table.separator ? 0 : (p->h->levels + n->level) * INDENT;
    char text[NO_ENTRY_ROOM];
    struct row heaviest = *hierarchy_rows(p->h, node);
    heaviest.self.weight = n->heaviest;
    if (n->level + 1 == p->h->levels || hierarchy_shows_row(r, &heaviest))
        return;
    out_pad(&p->to->out, indent + weights_width(p) + 2 * GAP);
    snprintf(text, sizeof text, "no entry >= %.2f%%", r->options->percent_limit);
    out_text(&p->to->out, text);
    out_char(&p->to->out, '\n');
}

/* Writes the nodes that this line does not share with the line before it. */
static pfr_status write_line(struct hierarchy_printer *p, uint32_t place, struct trees_ahead *trees, pfr_error *err) {
    const uint32_t line = p->h->order[place];
    bool shared = place > 0;
    for (unsigned level = 0; level < p->h->levels; level++) {
        const uint32_t node = hierarchy_node_of(p->h, line, level);
        shared = shared && node == hierarchy_node_of(p->h, p->h->order[place - 1], level);
        if (!hierarchy_shows_row(p->table.r, hierarchy_rows(p->h, node)))
            return PFR_OK;
        if (shared)
            continue;
        write_node(p, node);
        write_no_entry(p, node);
    }
    return trees_print(trees, line, p->to, err);
}

/* As in perf, names of lines below --percent-limit also widen the columns. */
static void measure(struct hierarchy_printer *p) {
    struct table all = p->table;
    struct lines lines = *p->table.lines;
    lines.shown = lines.count;
    all.lines = &lines;
    for (uint32_t i = 0; i < lines.count && !all.separator; i++)
        table_measure_line(&all, &p->texts, i, p->table.width);
}

static pfr_status write_all(struct hierarchy_printer *p, pfr_error *err) {
    struct report *const r = p->table.r;
    struct trees_ahead *trees;
    pfr_status st = trees_open(&trees, r, p->table.lines, p->to, err);
    measure(p);
    if (st >= 0) {
        report_write_totals(r, p->table.lines, p->to);
        if (!r->options->quiet)
            write_headings(p, &p->to->out);
    }
    for (uint32_t i = 0; i < p->h->count && st >= 0 && !pfr_output_failed(p->to); i++)
        st = write_line(p, i, trees, err);
    trees_close(trees);
    out_text(&p->to->out, r->options->format == PFR_REPORT_PERF ? "\n\n" : "\n");
    return st < 0 || p->texts.cell.out.status >= 0 ? st : mem_fail(r->memory, err, "report");
}

pfr_status report_print_hierarchy(struct report *r, const struct hierarchy *h, const struct lines *lines,
                                  pfr_output *to, pfr_error *err) {
    struct hierarchy_printer p = {.h = h, .to = to};
    table_begin(&p.table, r, lines);
    pfr_status st = report_texts_open(&p.texts, r, err);
    if (st >= 0)
        st = write_all(&p, err);
    report_texts_close(&p.texts);
    return st;
}
