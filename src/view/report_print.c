/* SPDX-License-Identifier: Apache-2.0 */
/* The table: columns as wide as what is in them, weights to the right, trees below their rows. */
#include "view/report_cells.h"
#include "view/report_print.h"

#include "base/escape.h"
#include "base/fail.h"

#include <string.h>

#define WEIGHT_WIDTH 8u
#define NUMBER_WIDTH 12u
#define FETCHED 8u /* lines ahead */

struct table {
    struct report *r;
    const struct lines *lines;
    pfr_output *to;
    struct output *out;
    const char *separator; /* -t; NULL: columns */
    struct report_texts texts;
    struct trees_ahead *trees;
    unsigned key[FIELDS_MOST]; /* that a column shows; nr_keys: a weight */
    size_t width[FIELDS_MOST];
};

/* --- cells --- */

static unsigned key_shown(const struct report *r, const struct report_field *f) {
    unsigned k = 0;
    while (k < r->nr_keys && r->keys[k] != f)
        k++;
    return k;
}

/* Which cell a column shows. */
uint64_t report_cell_of(const struct report *r, const struct report_field *f, const struct row_cells *cells) {
    const unsigned key = key_shown(r, f);
    return key < r->nr_keys ? cells->of[key] : 0;
}

static struct report_text text_of_key(struct table *t, unsigned c, const struct row_cells *cells,
                                      const struct row *row) {
    return report_text_of(&t->texts, c, t->key[c] < t->r->nr_keys ? cells->of[t->key[c]] : 0, row);
}

/* Beside what a row is with all it calls, its own weight is called so, unless the columns themselves were named. */
static const char *heading_of(const struct report *r, const struct report_field *f) {
    const char *fields = r->options->fields;
    const bool named = fields && *fields != '+';
    return r->children && !named && f->rank == rank_self && f->in_percent ? "Self" : f->heading;
}

static size_t least_width(const struct report_field *f) {
    const size_t heading = strlen(f->heading);
    const size_t least = !f->number ? 0 : f->in_percent ? WEIGHT_WIDTH : NUMBER_WIDTH;
    return heading > least ? heading : least;
}

/* All lines as they lie, where all are shown. */
static uint32_t line_to_measure(const struct lines *lines, uint32_t i) {
    return lines->shown == lines->count ? i : lines->order[i];
}

static void measure_line(struct table *t, uint32_t line) {
    struct report *r = t->r;
    const struct row *row = line_row(r, t->lines, line, 0);
    struct row_cells cells;
    line_cells(r, t->lines, line, &cells);
    for (unsigned c = 0; c < r->nr_columns; c++) {
        if (r->columns[c]->number)
            continue;
        const size_t width = text_of_key(t, c, &cells, row).width;
        t->width[c] = width > t->width[c] ? width : t->width[c];
    }
}

static void measure(struct table *t) {
    for (unsigned c = 0; c < t->r->nr_columns; c++)
        t->width[c] = least_width(t->r->columns[c]);
    for (uint32_t i = 0; i < t->lines->shown && !t->separator; i++)
        measure_line(t, line_to_measure(t->lines, i));
}

/* --- heading --- */

static void write_scaled(struct output *out, uint64_t n) {
    static const char units[] = " KMGTPE";
    unsigned unit = 0;
    while (n >= 1000 && unit < 4) { /* perf rounds to the nearest thousand at each step it prints */
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
    struct profile_weight all = {0, 0};
    const bool grouped = lines->members > 1;
    for (uint32_t m = 0; m < lines->members; m++) {
        all.weight += r->totals[lines->leader + m].weight;
        all.samples += r->totals[lines->leader + m].samples;
    }
    const char *group = grouped ? report_group_name(r, lines->leader) : NULL;
    out_text(&to->out, "# ");
    out_text(&to->out, r->measure->samples);
    out_text(&to->out, ": ");
    write_scaled(&to->out, all.samples);
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
    out_u64(&to->out, profile_amount(r->profile, all.weight));
    out_text(&to->out, "\n#\n");
}

static size_t column_width(const struct table *t, unsigned c) {
    const bool of_weights = t->r->columns[c]->number;
    return of_weights && t->lines->members > 1 ? t->width[c] * t->lines->members : t->width[c];
}

static void write_headings(const struct table *t) {
    const struct report *r = t->r;
    out_text(t->out, "# ");
    for (unsigned c = 0; c < r->nr_columns; c++) {
        const struct report_field *f = r->columns[c];
        const char *heading = heading_of(r, f);
        const size_t pad = column_width(t, c) - strlen(heading);
        out_text(t->out, !c ? "" : t->separator ? t->separator : "  ");
        out_pad(t->out, f->right && !t->separator ? pad : 0);
        out_text(t->out, heading);
        out_pad(t->out, f->right || t->separator ? 0 : pad);
    }
    if (t->separator) {
        out_char(t->out, '\n');
        return;
    }
    out_text(t->out, "\n# ");
    for (unsigned c = 0; c < r->nr_columns; c++) {
        out_text(t->out, c ? "  " : "");
        out_fill(t->out, '.', column_width(t, c));
    }
    out_text(t->out, "\n#\n");
}

/* --- lines --- */

/* The last column is filled up where perf does it. */
static bool fills(const struct table *t, unsigned c) {
    return c + 1 < t->r->nr_columns || t->r->options->format == PFR_REPORT_PERF;
}

/* As in perf a point stands for each character that a separator begins with, so that columns can be told apart. */
static void write_without(struct output *out, const struct report_text *text, const char *separator) {
    size_t length = 1;
    while (((uint8_t)separator[length] & 0xc0) == 0x80)
        length++;
    const char *from = text->bytes, *const end = from + text->length;
    for (const char *at; (at = memmem(from, (size_t)(end - from), separator, length)); from = at + length) {
        out_write(out, from, (size_t)(at - from));
        out_char(out, '.');
    }
    out_write(out, from, (size_t)(end - from));
}

static void write_cell(const struct table *t, const struct report_text *text, size_t width, bool right) {
    const size_t pad = width > text->width && !t->separator ? width - text->width : 0;
    out_pad(t->out, right ? pad : 0);
    out_write(t->out, text->bytes, text->length);
    out_pad(t->out, right ? 0 : pad);
}

/* As perf: what is worth a look is green, what is hot red. */
#define WARM 0.5
#define HOT 5.0

const char *report_color(const struct report *r, double percent) {
    if (!r->options->color || percent < WARM)
        return NULL;
    return percent >= HOT ? "\033[31m" : "\033[32m";
}

static const char *color_of(const struct table *t, const struct report_field *f, const struct row *row) {
    return f->in_percent ? report_color(t->r, report_percent(t->r, row->event, f->rank(row))) : NULL;
}

/* A weight takes one column more than its heading, on the left. */
static void write_weights(struct table *t, unsigned c, uint32_t line) {
    for (uint32_t m = 0; m < t->lines->members; m++) {
        out_text(t->out, m ? " " : "");
        const struct row *row = line_row(t->r, t->lines, line, m);
        const char *color = color_of(t, t->r->columns[c], row);
        const struct report_text text = report_text_of(&t->texts, c, 0, row);
        out_text(t->out, color ? color : "");
        write_cell(t, &text, t->width[c] - (m > 0), true);
        out_text(t->out, color ? REPORT_COLOR_ENDS : "");
    }
}

static void write_line(struct table *t, uint32_t line) {
    const struct report *r = t->r;
    struct row_cells cells;
    line_cells(r, t->lines, line, &cells);
    out_text(t->out, t->separator ? "" : "  ");
    for (unsigned c = 0; c < r->nr_columns; c++) {
        const struct report_field *f = r->columns[c];
        out_text(t->out, !c ? "" : t->separator ? t->separator : "  ");
        if (f->number) {
            write_weights(t, c, line);
            continue;
        }
        const struct report_text text = text_of_key(t, c, &cells, line_row(r, t->lines, line, 0));
        if (t->separator)
            write_without(t->out, &text, t->separator);
        else
            write_cell(t, &text, fills(t, c) ? t->width[c] : 0, f->right);
    }
    out_char(t->out, '\n');
}

static pfr_status write_lines(struct table *t, pfr_error *err) {
    const struct lines *lines = t->lines;
    for (unsigned c = 0; c < t->r->nr_columns; c++)
        t->key[c] = key_shown(t->r, t->r->columns[c]);
    measure(t);
    report_write_totals(t->r, lines, t->to);
    write_headings(t);
    for (uint32_t i = 0; i < lines->shown && !pfr_output_failed(t->to); i++) {
        if (i + FETCHED < lines->shown)
            line_fetch(t->r, lines, lines->order[i + FETCHED]);
        write_line(t, lines->order[i]);
        PFR_TRY(trees_print(t->trees, lines->order[i], t->to, err));
    }
    out_text(t->out, t->r->options->format == PFR_REPORT_PERF ? "\n\n" : "\n");
    return t->r->cell.out.status < 0 ? mem_fail(t->r->memory, err, "report") : PFR_OK;
}

pfr_status report_print_table(struct report *r, const struct lines *lines, pfr_output *to, pfr_error *err) {
    struct table t = {.r = r, .lines = lines, .to = to, .out = &to->out, .separator = r->options->separator};
    PFR_TRY(report_texts_open(&t.texts, r, err));
    pfr_status st = trees_open(&t.trees, r, lines, to->raw_names, err);
    if (st >= 0)
        st = write_lines(&t, err);
    trees_close(t.trees);
    report_texts_close(&t.texts);
    return st;
}
