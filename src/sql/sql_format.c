/* SPDX-License-Identifier: Apache-2.0 */
/* Prints rows as CSV and JSON, and texts for all forms. */
#include "sql/sql_rows.h"

#include "base/text/escape.h"
#include "base/text/json.h"

#include <string.h>

/* Texts are escaped only if they contain characters that must not be printed, so that backslashes in queries are
   preserved. */
bool is_hostile_text(const char *at, size_t length) {
    const uint8_t *bytes = (const uint8_t *)at;
    for (size_t i = 0; i < length;) {
        uint32_t code;
        const size_t run = escape_plain_run(bytes + i, length - i);
        const size_t one = run ? run : utf8_take(bytes + i, length - i, &code);
        if (!one || (!run && is_hostile_character(code)))
            return true;
        i += one;
    }
    return false;
}

static const char *shown(struct sql_printer *p, const char *at, size_t *length) {
    if (p->to->raw_names || !is_hostile_text(at, *length))
        return at;
    out_clear(&p->scratch);
    out_escaped(&p->scratch, at, *length);
    return out_bytes(&p->scratch, length);
}

static const char *blob_text(struct sql_printer *p, sqlite3_stmt *statement, unsigned column, size_t *length) {
    const void *at = sqlite3_column_blob(statement, (int)column);
    out_clear(&p->scratch);
    out_hex_bytes(&p->scratch, at, (size_t)sqlite3_column_bytes(statement, (int)column));
    const char *text = out_bytes(&p->scratch, length);
    return text ? text : "";
}

const char *printer_text(struct sql_printer *p, sqlite3_stmt *statement, unsigned column, size_t *length) {
    switch (sqlite3_column_type(statement, (int)column)) {
    case SQLITE_NULL:
        *length = 0;
        return NULL;
    case SQLITE_BLOB:
        return blob_text(p, statement, column, length);
    default:
        break;
    }
    const char *text = (const char *)sqlite3_column_text(statement, (int)column);
    *length = text ? (size_t)sqlite3_column_bytes(statement, (int)column) : 0;
    p->failed = text ? p->failed : PFR_ERR_MEMORY;
    return shown(p, text ? text : "", length);
}

const char *printer_name(struct sql_printer *p, unsigned column, size_t *length) {
    const char *name = sqlite3_column_name(p->statement, (int)column);
    p->failed = name ? p->failed : PFR_ERR_MEMORY;
    *length = name ? strlen(name) : 0;
    return shown(p, name ? name : "", length);
}

static bool is_number(sqlite3_stmt *statement, unsigned column) {
    const int type = sqlite3_column_type(statement, (int)column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* --- CSV */

static void csv_begin(struct sql_printer *p) {
    size_t length;
    for (unsigned i = 0; i < p->columns; i++) {
        if (i)
            out_char(p->out, ',');
        const char *name = printer_name(p, i, &length);
        out_csv_escaped(p->out, name, length);
    }
    out_char(p->out, '\n');
}

static void csv_row(struct sql_printer *p, sqlite3_stmt *statement) {
    size_t length;
    for (unsigned i = 0; i < p->columns; i++) {
        const bool number = is_number(statement, i);
        const char *text = printer_text(p, statement, i, &length);
        if (i)
            out_char(p->out, ',');
        if (number)
            out_write(p->out, text, length);
        else if (text)
            out_csv_escaped(p->out, text, length);
    }
    out_char(p->out, '\n');
}

static void csv_end(struct sql_printer *p) {
    (void)p;
}

const struct sql_form sql_csv_form = {csv_begin, csv_row, csv_end};

/* --- JSON */

static void json_text_of(struct output *out, const char *at, size_t length) {
    out_char(out, '"');
    for (size_t from = 0; from < length;) {
        size_t end = from; /* the text need not end with NUL */
        while (end < length && at[end] != '"' && at[end] != '\\')
            end++;
        out_write(out, at + from, end - from);
        from = end;
        if (from == length)
            break;
        out_char(out, '\\');
        out_char(out, at[from++]);
    }
    out_char(out, '"');
}

/* Printed texts contain NUL only with raw names, where it ends the text. */
static void json_string_of(struct sql_printer *p, const char *at, size_t length) {
    if (p->to->raw_names && is_hostile_text(at, length))
        out_json_string(p->out, at, length);
    else
        json_text_of(p->out, at, length);
}

/* Members of an object must have distinct names: the second column of a name becomes NAME_2, unless that name is
 * taken. */
static unsigned same_before(struct sql_printer *p, unsigned column) {
    const char *name = sqlite3_column_name(p->statement, (int)column);
    unsigned same = 0;
    for (unsigned i = 0; name && i < column; i++) {
        const char *other = sqlite3_column_name(p->statement, (int)i);
        same += other && strcmp(name, other) == 0;
    }
    return same;
}

static void json_name(struct sql_printer *p, unsigned column) {
    size_t length;
    const char *name = printer_name(p, column, &length);
    const unsigned same = same_before(p, column);
    if (!same) {
        json_string_of(p, name, length);
        return;
    }
    struct output made;
    out_open_memory(&made, &p->to->memory);
    out_write(&made, name, length);
    out_char(&made, '_');
    out_u64(&made, same + 1);
    name = out_bytes(&made, &length);
    if (name)
        json_string_of(p, name, length);
    out_close(&made, NULL);
}

static void json_value(struct sql_printer *p, sqlite3_stmt *statement, unsigned column) {
    struct json json = json_on(p->out, JSON_LINE);
    size_t length;
    const int type = sqlite3_column_type(statement, (int)column);
    if (type == SQLITE_FLOAT) {
        json_f64(&json, sqlite3_column_double(statement, (int)column));
        return;
    }
    const char *text = printer_text(p, statement, column, &length);
    if (!text)
        out_text(p->out, "null");
    else if (type == SQLITE_INTEGER)
        out_write(p->out, text, length);
    else
        json_string_of(p, text, length);
}

static void json_begin(struct sql_printer *p) {
    if (p->format == PFR_SQL_JSON)
        out_char(p->out, '[');
}

static void json_row(struct sql_printer *p, sqlite3_stmt *statement) {
    if (p->format == PFR_SQL_JSON)
        out_text(p->out, p->rows ? ",\n" : "\n");
    out_char(p->out, '{');
    for (unsigned i = 0; i < p->columns; i++) {
        if (i)
            out_char(p->out, ',');
        json_name(p, i);
        out_char(p->out, ':');
        json_value(p, statement, i);
    }
    out_char(p->out, '}');
    if (p->format == PFR_SQL_JSON_LINES)
        out_char(p->out, '\n');
}

static void json_end(struct sql_printer *p) {
    if (p->format == PFR_SQL_JSON)
        out_text(p->out, "\n]\n");
}

const struct sql_form sql_json_form = {json_begin, json_row, json_end};
