/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the text table: columns as wide as their contents, weights aligned right, call trees after their rows. */
#include "view/report/fields/report_groups.h"
#include "view/report/print/report_text_cache.h"
#include "view/report/print/report_tree_parallel.h"
#include "view/report/fields/report_cells.h"
#include "view/report/fields/report_common.h"
#include "view/report/print/report_table.h"

#include "base/text/escape.h"
#include "base/memory/fail.h"

#include <string.h>

#define WEIGHT_WIDTH 8u
#define NUMBER_WIDTH 12u

/* --- heading --- */

/* With --children the columns of self weights are headed "Self" and "Self latency", unless -F named the columns. perf
   calls both latency columns "Latency"; the format perf keeps that. */
const char *table_heading(const struct report *r, const struct report_field *f) {
    const char *fields = r->options->fields;
    const bool named = fields && *fields != '+';
    if (!r->children || named || !f->in_percent)
        return f->heading;
    if (f->rank == rank_self)
        return r->options->format == PFR_REPORT_PERF ? f->heading : "Self latency";
    return f->rank == rank_overhead ? "Self" : f->heading;
}

static size_t least_width(const struct report *r, const struct report_field *f) {
    const size_t own = strlen(f->heading), now = strlen(table_heading(r, f)), heading = now > own ? now : own;
    const size_t least = !f->number ? 0 : f->in_percent ? WEIGHT_WIDTH : NUMBER_WIDTH;
    return heading > least ? heading : least;
}

static void write_scaled(struct output *out, uint64_t n) {
    static const char units[] = " KMGTPE";
    unsigned unit = 0;
    while (n >= 1000 && unit < 4) { /* like perf, rounds to the nearest thousand at each step */
        if (n < 10000 && unit == 0)
            break;
        n = (n + 500) / 1000;
        unit++;
    }
    out_u64(out, n);
    if (unit)
        out_char(out, units[unit]);
}

static void write_event_names(struct report *r, const struct lines *lines, pfr_output *to) {
    for (uint32_t m = 0; m < lines->members; m++) {
        const char *name = profile_event(r->reader, lines->leader + m)->name;
        out_text(&to->out, m ? ", " : "");
        print_name(to, name, strlen(name));
    }
}

void report_write_totals(struct report *r, const struct lines *lines, pfr_output *to) {
    uint64_t samples = 0, weight = 0;
    if (r->options->quiet)
        return;
    const bool grouped = lines->members > 1;
    for (uint32_t m = 0; m < lines->members; m++) {
        weight += overhead_total(r, lines->leader + m);
        samples += r->events.sums.totals[lines->leader + m].samples;
    }
    const char *group = grouped ? report_group_name(r, lines->leader) : NULL;
    out_text(&to->out, "# ");
    out_text(&to->out, r->measure->samples);
    out_text(&to->out, ": ");
    write_scaled(&to->out, samples);
    out_text(&to->out, grouped ? "  of events '" : "  of event '");
    if (group) {
        print_name(to, group, strlen(group));
        out_text(&to->out, " { ");
    }
    write_event_names(r, lines, to);
    out_text(&to->out, group ? " }'" : "'");
    out_text(&to->out, "\n# ");
    out_text(&to->out, r->mode == REPORT_MEMORY ? "Total weight " : r->measure->weight);
    out_text(&to->out, ": ");
    out_u64(&to->out, profile_amount(r->profile, weight));
    out_text(&to->out, "\n#\n");
}

size_t table_column_width(const struct table *t, unsigned c) {
    const bool of_weights = t->r->chosen.columns[c]->number;
    return of_weights && t->lines->members > 1 ? t->width[c] * t->lines->members : t->width[c];
}

static void write_headings(const struct table *t, struct output *to) {
    const struct report *r = t->r;
    if (r->options->quiet)
        return;
    out_text(to, "# ");
    for (unsigned c = 0; c < r->chosen.nr_columns; c++) {
        const struct report_field *f = r->chosen.columns[c];
        const char *heading = table_heading(r, f);
        const size_t pad = table_column_width(t, c) - strlen(heading);
        out_text(to, !c ? "" : t->separator ? t->separator : "  ");
        out_pad(to, f->right && !t->separator ? pad : 0);
        out_text(to, heading);
        out_pad(to, f->right || t->separator ? 0 : pad);
    }
    if (t->separator) {
        out_char(to, '\n');
        return;
    }
    out_text(to, "\n# ");
    for (unsigned c = 0; c < r->chosen.nr_columns; c++) {
        out_text(to, c ? "  " : "");
        out_fill(to, '.', table_column_width(t, c));
    }
    out_text(to, "\n#\n");
}

/* --- width --- */

#define NAME_LEAST 16u /* minimum width of a shortened text column */

static size_t line_width(const struct table *t) {
    size_t width = 2;
    for (unsigned c = 0; c < t->r->chosen.nr_columns; c++)
        width += table_column_width(t, c) + (c ? 2 : 0);
    return width;
}

/* Returns the widest text column that can still be narrowed; nr_columns: there is no such column. */
static unsigned widest_text(const struct table *t) {
    unsigned widest = t->r->chosen.nr_columns;
    for (unsigned c = 0; c < t->r->chosen.nr_columns; c++)
        if (!t->r->chosen.columns[c]->number && t->width[c] > NAME_LEAST &&
            t->width[c] > least_width(t->r, t->r->chosen.columns[c]) &&
            (widest == t->r->chosen.nr_columns || t->width[c] > t->width[widest]))
            widest = c;
    return widest;
}

static void fit(struct table *t, unsigned columns) {
    if (!columns || t->separator || t->r->options->format != PFR_REPORT_TEXT)
        return;
    for (size_t width = line_width(t); width > columns; width--) {
        const unsigned c = widest_text(t);
        if (c == t->r->chosen.nr_columns)
            return;
        t->width[c]--;
        t->cuts = true;
    }
}

/* --- the whole table --- */

static pfr_status write_lines(const struct table *t, struct table_hands *hands, struct trees_ahead *trees,
                              pfr_output *to, pfr_error *err) {
    uint32_t i = table_write_ahead(hands, to);
    for (; i < t->lines->shown && !pfr_output_failed(to); i++) {
        table_write_line(t, table_own_texts(hands), i, &to->out);
        PFR_TRY(trees_print(trees, t->lines->order[i], to, err));
    }
    out_text(&to->out, t->r->options->format == PFR_REPORT_PERF ? "\n\n" : "\n");
    return table_own_texts(hands)->cell.out.status < 0 ? mem_fail(t->r->memory, err, "report") : PFR_OK;
}

static pfr_status write_table(struct table *t, struct table_hands *hands, pfr_output *to, pfr_error *err) {
    struct trees_ahead *trees;
    pfr_status st = trees_open(&trees, t->r, t->lines, to, err);
    if (st >= 0) {
        table_measure(hands, t->width);
        fit(t, to->columns);
        report_write_totals(t->r, t->lines, to);
        write_headings(t, &to->out);
        st = write_lines(t, hands, trees, to, err);
    }
    trees_close(trees);
    return st;
}

void table_begin(struct table *t, struct report *r, const struct lines *lines) {
    *t = (struct table){.r = r, .lines = lines, .separator = r->options->separator};
    for (unsigned c = 0; c < r->chosen.nr_columns; c++) {
        t->key[c] = report_key_shown(r, r->chosen.columns[c]);
        t->width[c] = least_width(r, r->chosen.columns[c]);
    }
}

pfr_status report_print_table(struct report *r, const struct lines *lines, pfr_output *to, pfr_error *err) {
    struct table t;
    struct table_hands *hands;
    table_begin(&t, r, lines);
    pfr_status st = table_hands_open(&hands, &t, err);
    if (st >= 0)
        st = write_table(&t, hands, to, err);
    table_hands_close(hands);
    return st;
}
