/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the statements of a text one after the other: compiles each, binds its parameters, and passes on its rows. */
#include "sql/sql_rows.h"
#include "sql/sql_fail.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Receiver of rows. begin and end may be NULL. */
struct row_taker {
    pfr_status (*begin)(void *context, sqlite3_stmt *statement, pfr_error *err);
    pfr_status (*row)(void *context, sqlite3_stmt *statement, pfr_error *err); /* PFR_END: no more rows are wanted */
    pfr_status (*end)(void *context, pfr_error *err);
    void *context;
};

/* --- Parameters. */

static const struct sql_parameter *parameter_of(const pfr_sql *sql, const char *name) {
    for (const struct sql_parameter *p = sql->parameters; p; p = p->next)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

static int bind_value(sqlite3_stmt *statement, int index, const char *value) {
    char *end;
    errno = 0;
    const long long integer = strtoll(value, &end, 10);
    if (*value && !*end && !errno && !strchr(" \t\n\v\f\r", *value))
        return sqlite3_bind_int64(statement, index, integer);
    const double real = strtod(value, &end);
    if (*value && !*end && isfinite(real) && strspn(value, "+-0123456789.eE") == strlen(value))
        return sqlite3_bind_double(statement, index, real);
    return sqlite3_bind_text(statement, index, value, -1, SQLITE_STATIC);
}

static pfr_status bind_all(pfr_sql *sql, sqlite3_stmt *statement, pfr_error *err) {
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
        const char *name = sqlite3_bind_parameter_name(statement, i);
        if (!name || *name == '?')
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sql",
                            "parameters must have names: write :NAME, not ?");
        const struct sql_parameter *parameter = parameter_of(sql, name + 1);
        if (!parameter)
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sql", "parameter %.60s has no value", name);
        if (bind_value(statement, i, parameter->value) != SQLITE_OK)
            return sql_fail(sql, sqlite3_errcode(sql->db), err);
    }
    return PFR_OK;
}

/* --- Running. */

static pfr_status step_all(pfr_sql *sql, sqlite3_stmt *statement, const struct row_taker *taker, pfr_error *err) {
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const pfr_status st = taker->row(taker->context, statement, err);
        if (st != PFR_OK)
            return st;
    }
    if (code == SQLITE_INTERRUPT || (code != SQLITE_DONE && sql->interrupted))
        return pfr_fail(err, PFR_END, PFR_NO_OFFSET, 0, "sql", "interrupted");
    return code == SQLITE_DONE ? PFR_OK : sql_fail(sql, code, err);
}

static pfr_status run_statement(pfr_sql *sql, sqlite3_stmt *statement, const struct row_taker *taker, pfr_error *err) {
    PFR_TRY(bind_all(sql, statement, err));
    if (sqlite3_column_count(statement) == 0 || !sqlite3_stmt_readonly(statement))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sql",
                        "recordings are read-only: SELECT, WITH, VALUES and EXPLAIN are run");
    if (taker->begin)
        PFR_TRY(taker->begin(taker->context, statement, err));
    const pfr_status st = step_all(sql, statement, taker, err);
    const pfr_status ended = taker->end && st >= 0 ? taker->end(taker->context, err) : PFR_OK;
    return ended < 0 ? ended : st;
}

static pfr_status run_all(pfr_sql *sql, const char *text, const struct row_taker *taker, pfr_error *err) {
    sql->interrupted = 0;
    sql->failure = (pfr_error){.status = PFR_OK, .offset = PFR_NO_OFFSET, .where = ""};
    while (*text) {
        sqlite3_stmt *statement;
        const int code = sqlite3_prepare_v2(sql->db, text, -1, &statement, &text);
        if (code != SQLITE_OK)
            return sql_fail(sql, code, err);
        if (!statement) /* only a comment or blanks */
            continue;
        const pfr_status st = run_statement(sql, statement, taker, err);
        sqlite3_finalize(statement);
        if (st != PFR_OK)
            return st;
    }
    return PFR_OK;
}

/* --- Rows to a function. */

struct function_taker {
    pfr_sql *sql;
    pfr_sql_row *row;
    void *context;
    const char **names, **values; /* in one block, `room` elements each */
    unsigned room;
    bool has_enough;
};

static pfr_status make_room(void *context, sqlite3_stmt *statement, pfr_error *err) {
    struct function_taker *t = context;
    const unsigned columns = (unsigned)sqlite3_column_count(statement);
    if (columns > t->room) {
        const char **grown = arena_zeroed(&t->sql->arena, (size_t)columns * 2, sizeof *grown);
        if (!grown)
            return mem_fail(&t->sql->memory, err, "sql");
        t->names = grown;
        t->values = grown + columns;
        t->room = columns;
    }
    for (unsigned i = 0; i < columns; i++)
        t->names[i] = sqlite3_column_name(statement, (int)i);
    return PFR_OK;
}

static pfr_status give_row(void *context, sqlite3_stmt *statement, pfr_error *err) {
    struct function_taker *t = context;
    const unsigned columns = (unsigned)sqlite3_column_count(statement);
    (void)err;
    for (unsigned i = 0; i < columns; i++)
        t->values[i] = (const char *)sqlite3_column_text(statement, (int)i);
    t->has_enough = !t->row(t->context, columns, t->names, t->values);
    return t->has_enough ? PFR_END : PFR_OK;
}

pfr_status pfr_sql_each(pfr_sql *sql, const char *text, pfr_sql_row *row, void *context, pfr_error *err) {
    struct function_taker t = {.sql = sql, .row = row, .context = context};
    const pfr_status st = run_all(sql, text, &(struct row_taker){make_room, give_row, NULL, &t}, err);
    return st == PFR_END && t.has_enough ? PFR_OK : st;
}

/* --- Rows to text. */

static pfr_status begin_printing(void *context, sqlite3_stmt *statement, pfr_error *err) {
    struct sql_printer *p = context;
    (void)err;
    p->statement = statement;
    p->columns = (unsigned)sqlite3_column_count(statement);
    p->rows = 0;
    p->form->begin(p);
    return p->failed;
}

static pfr_status printer_status(const struct sql_printer *p, pfr_error *err) {
    if (p->failed < 0 || p->scratch.status < 0 || p->held.status < 0)
        return mem_fail(&p->to->memory, err, "sql");
    if (pfr_output_failed(p->to))
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "sql", "the output cannot be written");
    return PFR_OK;
}

static pfr_status print_row(void *context, sqlite3_stmt *statement, pfr_error *err) {
    struct sql_printer *p = context;
    p->form->row(p, statement);
    p->rows++;
    return printer_status(p, err);
}

static pfr_status end_printing(void *context, pfr_error *err) {
    struct sql_printer *p = context;
    p->form->end(p);
    return printer_status(p, err);
}

pfr_status pfr_sql_print(pfr_sql *sql, const char *text, pfr_sql_format format, pfr_output *out, pfr_error *err) {
    static const struct sql_form *const forms[] = {
        [PFR_SQL_TABLE] = &sql_aligned_form,   [PFR_SQL_BOX] = &sql_aligned_form,
        [PFR_SQL_CSV] = &sql_csv_form,         [PFR_SQL_JSON] = &sql_json_form,
        [PFR_SQL_JSON_LINES] = &sql_json_form, [PFR_SQL_MARKDOWN] = &sql_aligned_form};
    if ((unsigned)format >= sizeof forms / sizeof *forms)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "format", "there is no such format");
    struct sql_printer p = {.form = forms[format], .to = out, .out = &out->out, .format = format};
    out_open_memory(&p.scratch, &out->memory);
    out_open_memory(&p.held, &out->memory);
    const struct row_taker taker = {begin_printing, print_row, end_printing, &p};
    pfr_status st = run_all(sql, text, &taker, err);
    out_close(&p.scratch, NULL);
    out_close(&p.held, NULL);
    mem_free(&out->memory, p.cells, p.cells_room, sizeof *p.cells);
    return st;
}
