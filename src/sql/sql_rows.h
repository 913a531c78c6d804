/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_ROWS_H
#define PFR_SQL_ROWS_H
/*
 * Rows of a statement on their way to a reader: sql_query.c calls, a printer of sql_format.c is called.
 *
 * A printer is a form: begin once for each statement that has columns, row for each row, end.
 */
#include "base/text/public_output.h"
#include "sql/sql_parts.h"

/* A cell that is held back until the widths of its column are known. */
struct held_cell {
    size_t from, length; /* in printer.held */
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
    uint64_t rows;         /* of this statement */
    struct output scratch; /* an escaped text */
    /* of the forms with aligned columns */
    struct output held;
    struct held_cell *cells; /* the header row, then rows */
    size_t nr_cells, cells_room;
    uint32_t *widths;
    bool *right;
    bool is_streaming; /* widths are fixed, nothing is held back any more */
    pfr_status failed;
};

extern const struct sql_form sql_aligned_form, sql_csv_form, sql_json_form;

/* The value as text that may be shown, valid until the next call; NULL: the value is NULL. */
const char *printer_text(struct sql_printer *p, sqlite3_stmt *statement, unsigned column, size_t *length);
/* The same of a column's name. */
const char *printer_name(struct sql_printer *p, unsigned column, size_t *length);
/* Whether any character must not be shown as it is. */
bool is_hostile_text(const char *at, size_t length);

#endif
