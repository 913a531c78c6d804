/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and measures single lines of a table. The report is not modified, so threads can share it. */
#include "view/report/print/report_table_lines.h"
#include "view/report/print/report_text_cache.h"
#include "view/report/fields/report_common.h"
#include "view/report/rows/report_line.h"
#include "view/report/print/report_table.h"

#include <string.h>

#define FETCHED 8u /* lines to prefetch ahead */

/* --- width --- */

static struct report_text text_of_key(const struct table *t, struct report_texts *texts, unsigned c,
                                      const struct row_cells *cells, const struct row *row) {
    return report_text_of(texts, c, t->key[c] < t->r->chosen.nr_keys ? cells->of[t->key[c]] : 0, row);
}

/* If all lines are shown, they are measured in memory order, not in display order. */
static uint32_t line_to_measure(const struct lines *lines, uint32_t place) {
    return lines->shown == lines->count ? place : lines->order[place];
}

void table_measure_line(const struct table *t, struct report_texts *texts, uint32_t place, size_t *width) {
    const struct report *r = t->r;
    const uint32_t line = line_to_measure(t->lines, place);
    const struct row *row = line_row(r, t->lines, line, 0);
    struct row_cells cells;
    line_cells(r, t->lines, line, &cells);
    for (unsigned c = 0; c < r->chosen.nr_columns; c++) {
        if (r->chosen.columns[c]->number)
            continue;
        const size_t wide = text_of_key(t, texts, c, &cells, row).width;
        width[c] = wide > width[c] ? wide : width[c];
    }
}

/* --- text --- */

/* Whether to pad the column to its width. The last column is padded only in perf's format. */
static bool fills(const struct table *t, unsigned c) {
    return c + 1 < t->r->chosen.nr_columns || t->r->options->format == PFR_REPORT_PERF;
}

/* As in perf, each occurrence of the separator's first character in a text becomes a '.', so that the separators can be
   recognized. */
void table_write_without(struct output *out, const struct report_text *text, const char *separator) {
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

static void write_cell(const struct table *t, const struct report_text *text, size_t width, bool right, bool filled,
                       struct output *to) {
    const size_t pad = width > text->width && filled ? width - text->width : 0;
    out_pad(to, right ? pad : 0);
    if (t->cuts)
        out_text_within(to, text->bytes, text->length, width);
    else
        out_write(to, text->bytes, text->length);
    out_pad(to, right ? 0 : pad);
}

/* As in perf: shares from 0.5 percent are green, from 5 percent red. */
#define WARM 0.5
#define HOT 5.0

const char *report_color(const struct report *r, double percent) {
    if (!r->options->color || percent < WARM)
        return NULL;
    return percent >= HOT ? "\033[31m" : "\033[32m";
}

static const char *color_of(const struct table *t, const struct report_field *f, const struct row *row) {
    const uint64_t weight = f->in_percent ? f->rank(t->r, row) : 0;
    return !weight         ? NULL
           : f->of_latency ? report_color(t->r, report_percent(t->r, row->event, weight))
                           : report_color(t->r, overhead_percent(t->r, row->event, weight));
}

void table_write_weight(const struct table *t, struct report_texts *texts, unsigned c, uint32_t member,
                        const struct row *row, struct output *to) {
    const char *color = color_of(t, t->r->chosen.columns[c], row);
    const struct report_text text = report_text_of(texts, c, 0, row);
    out_text(to, member ? " " : "");
    out_text(to, color ? color : "");
    write_cell(t, &text, t->width[c] - (member > 0), true, !t->separator, to);
    out_text(to, color ? REPORT_COLOR_ENDS : "");
}

static void write_weights(const struct table *t, struct report_texts *texts, unsigned c, uint32_t line,
                          struct output *to) {
    for (uint32_t m = 0; m < t->lines->members; m++)
        table_write_weight(t, texts, c, m, line_row(t->r, t->lines, line, m), to);
}

static void write_column(const struct table *t, struct report_texts *texts, unsigned c, uint32_t line,
                         const struct row_cells *cells, struct output *to) {
    const struct report_field *f = t->r->chosen.columns[c];
    if (f->number) {
        write_weights(t, texts, c, line, to);
        return;
    }
    const struct report_text text = text_of_key(t, texts, c, cells, line_row(t->r, t->lines, line, 0));
    if (t->separator)
        table_write_without(to, &text, t->separator);
    else
        write_cell(t, &text, t->width[c], f->right, fills(t, c), to);
}

void table_write_line(const struct table *t, struct report_texts *texts, uint32_t place, struct output *to) {
    const struct lines *lines = t->lines;
    const uint32_t line = lines->order[place];
    struct row_cells cells;
    if (place + FETCHED < lines->shown)
        line_fetch(t->r, lines, lines->order[place + FETCHED]);
    line_cells(t->r, lines, line, &cells);
    out_text(to, t->separator ? "" : "  ");
    for (unsigned c = 0; c < t->r->chosen.nr_columns; c++) {
        out_text(to, !c ? "" : t->separator ? t->separator : "  ");
        write_column(t, texts, c, line, &cells, to);
    }
    out_char(to, '\n');
}
