/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints rows in aligned columns: plain, in boxes, or as Markdown. The first rows are held back to measure the widths
 * of columns; later rows are printed immediately, and may be wider.
 */
#include "sql/sql_rows.h"

#include "base/memory/escape_bytes.h"

#include <string.h>

#define ROWS_HELD 2000u
#define BYTES_HELD ((size_t)4 << 20)

struct line_style {
    const char *left, *between, *right, *fill;
};

static uint32_t width_of(const char *at, size_t length) {
    uint32_t width = 0, code;
    for (size_t i = 0; i < length; width++) {
        const size_t took = utf8_take((const uint8_t *)at + i, length - i, &code);
        i += took ? took : 1;
    }
    return width;
}

/* Prints a text. In Markdown a `|` is escaped, because it would end the cell. */
static void put_text(struct sql_printer *p, struct output *out, const char *at, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (p->format == PFR_SQL_MARKDOWN && at[i] == '|')
            out_char(out, '\\');
        out_char(out, at[i]);
    }
}

static void hold(struct sql_printer *p, const char *text, size_t length, bool is_number) {
    struct memory *memory = &p->to->memory;
    struct held_cell *cells = mem_grow(memory, p->cells, p->nr_cells, &p->cells_room, 64, sizeof *cells);
    if (!cells) {
        p->failed = PFR_ERR_MEMORY;
        return;
    }
    p->cells = cells;
    const size_t from = p->held.used;
    put_text(p, &p->held, text, length);
    cells[p->nr_cells++] =
        (struct held_cell){from, p->held.used - from, width_of(p->held.buffer + from, p->held.used - from), is_number};
}

static void put_cell(struct sql_printer *p, const struct held_cell *cell, uint32_t width, bool right, bool is_last) {
    const uint32_t pad = width > cell->width ? width - cell->width : 0;
    if (right)
        out_fill(p->out, ' ', pad);
    if (cell->length)
        out_write(p->out, p->held.buffer + cell->from, cell->length);
    if (!right && !(is_last && p->format == PFR_SQL_TABLE))
        out_fill(p->out, ' ', pad);
}

static void put_row(struct sql_printer *p, const struct held_cell *cells) {
    static const char *const left[] = {[PFR_SQL_BOX] = "│ ", [PFR_SQL_MARKDOWN] = "| "};
    static const char *const between[] = {[PFR_SQL_TABLE] = "  ", [PFR_SQL_BOX] = " │ ", [PFR_SQL_MARKDOWN] = " | "};
    static const char *const end[] = {[PFR_SQL_TABLE] = "\n", [PFR_SQL_BOX] = " │\n", [PFR_SQL_MARKDOWN] = " |\n"};
    if (left[p->format])
        out_text(p->out, left[p->format]);
    for (unsigned i = 0; i < p->columns; i++) {
        if (i)
            out_text(p->out, between[p->format]);
        put_cell(p, &cells[i], p->widths[i], p->right[i], i + 1 == p->columns);
    }
    out_text(p->out, end[p->format]);
}

static void put_line(struct sql_printer *p, const struct line_style *style) {
    const bool is_plain = p->format == PFR_SQL_TABLE;
    out_text(p->out, style->left);
    for (unsigned i = 0; i < p->columns; i++) {
        if (i)
            out_text(p->out, style->between);
        for (uint32_t w = 0; w < p->widths[i] + (is_plain ? 0 : 2); w++) {
            const bool is_mark = p->format == PFR_SQL_MARKDOWN && p->right[i] && w == p->widths[i] + 1;
            out_text(p->out, is_mark ? ":" : style->fill);
        }
    }
    out_text(p->out, style->right);
}

static const struct line_style box_top = {"┌", "┬", "┐\n", "─"}, box_end = {"└", "┴", "┘\n", "─"};
static const struct line_style below_header[] = {[PFR_SQL_TABLE] = {"", "  ", "\n", "-"},
                                                 [PFR_SQL_BOX] = {"├", "┼", "┤\n", "─"},
                                                 [PFR_SQL_MARKDOWN] = {"|", "|", "|\n", "-"}};

/* Measures the columns. A column that contains only numbers is aligned to the right. */
static void measure(struct sql_printer *p) {
    const size_t rows = p->nr_cells / p->columns;
    for (unsigned i = 0; i < p->columns; i++) {
        bool has_number = false, has_text = false;
        p->widths[i] = 1;
        for (size_t row = 0; row < rows; row++) {
            const struct held_cell *cell = &p->cells[row * p->columns + i];
            p->widths[i] = cell->width > p->widths[i] ? cell->width : p->widths[i];
            has_number |= row && cell->is_number;
            has_text |= row && !cell->is_number && cell->length;
        }
        p->right[i] = has_number && !has_text;
    }
}

static void release(struct sql_printer *p) {
    measure(p);
    if (p->format == PFR_SQL_BOX)
        put_line(p, &box_top);
    put_row(p, p->cells);
    put_line(p, &below_header[p->format]);
    for (size_t at = p->columns; at < p->nr_cells; at += p->columns)
        put_row(p, p->cells + at);
    p->is_streaming = true;
}

static void free_widths(struct sql_printer *p) {
    mem_free(&p->to->memory, p->widths, p->columns, sizeof *p->widths);
    mem_free(&p->to->memory, p->right, p->columns, sizeof *p->right);
    p->widths = NULL;
    p->right = NULL;
}

static void begin(struct sql_printer *p) {
    size_t length;
    out_clear(&p->held);
    p->nr_cells = 0;
    p->is_streaming = false;
    p->widths = mem_zeroed(&p->to->memory, p->columns, sizeof *p->widths);
    p->right = mem_zeroed(&p->to->memory, p->columns, sizeof *p->right);
    if (!p->widths || !p->right)
        p->failed = PFR_ERR_MEMORY;
    for (unsigned i = 0; i < p->columns && p->failed >= 0; i++) {
        const char *name = printer_name(p, i, &length);
        hold(p, name, length, false);
    }
    if (p->failed < 0)
        free_widths(p);
}

static void hold_row(struct sql_printer *p, sqlite3_stmt *statement) {
    size_t length;
    for (unsigned i = 0; i < p->columns && p->failed >= 0; i++) {
        const int type = sqlite3_column_type(statement, (int)i);
        const char *text = printer_text(p, statement, i, &length);
        hold(p, text ? text : "", length, type == SQLITE_INTEGER || type == SQLITE_FLOAT);
    }
}

static void row(struct sql_printer *p, sqlite3_stmt *statement) {
    if (p->is_streaming) {
        p->nr_cells = 0;
        out_clear(&p->held);
    }
    hold_row(p, statement);
    if (p->failed < 0)
        return;
    if (p->is_streaming)
        put_row(p, p->cells);
    else if (p->rows + 1 >= ROWS_HELD || p->held.used > BYTES_HELD)
        release(p);
}

static void end(struct sql_printer *p) {
    if (!p->is_streaming && p->failed >= 0)
        release(p);
    if (p->format == PFR_SQL_BOX)
        put_line(p, &box_end);
    free_widths(p);
}

const struct sql_form sql_aligned_form = {begin, row, end};
