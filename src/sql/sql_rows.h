/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_ROWS_H
#define PFR_SQL_ROWS_H
/*
 * Printers of a statement's rows: sql_query.c calls them, sql_format.c and sql_format_text.c implement them.
 *
 * Each output form is a printer. For each statement that has columns, `begin` is called once, then `row` for each row,
 * and finally `end`.
 */
#include "base/text/public_output.h"
#include "sql/sql_parts.h"

/* A cell that is held back until the widths of its column are known. */
struct held_cell {
    size_t from, length; /* range in printer.held */
    uint32_t width;      /* characters */
    bool is_number;
};

struct sql_printer;

struct sql_form {
    void (*begin)(struct sql_printer *p);
    void (*row)(struct sql_printer *p, sqlite3_stmt *statement);
    void (*end)(struct sql_printer *p);
};

struct sql_printer {
    const struct sql_form *form;
    struct pfr_output *to;
    struct output *out;
    pfr_sql_format format;
    sqlite3_stmt *statement;
    unsigned columns;
    uint64_t rows;         /* rows of this statement */
    struct output scratch; /* buffer for an escaped text */
    /* used by the forms with aligned columns */
    struct output held;
    struct held_cell *cells; /* cells of the header row, then of the rows */
    size_t nr_cells, cells_room;
    uint32_t *widths;
    bool *right;
    bool is_streaming; /* the widths are fixed, and rows are no longer held back */
    pfr_status failed;
};

extern const struct sql_form sql_aligned_form, sql_csv_form, sql_json_form;

/* Returns a column of the current row as printable text, valid until the next call; NULL: the value is NULL. */
const char *printer_text(struct sql_printer *p, sqlite3_stmt *statement, unsigned column, size_t *length);
/* As printer_text, for a column's name. */
const char *printer_name(struct sql_printer *p, unsigned column, size_t *length);
/* Whether the text contains characters that must not be printed as they are. */
bool is_hostile_text(const char *at, size_t length);

#endif
