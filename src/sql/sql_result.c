/* SPDX-License-Identifier: Apache-2.0 */
/* Passes values, failures and arguments between the tables and SQLite. */
#include "sql/sql_result.h"

#include "base/memory/escape_bytes.h"
#include "base/text/text.h"

#include <string.h>

struct sql_source *source_of_arguments(pfr_sql *sql, int count, const char *const *arguments, char **message) {
    uint64_t index;
    if (count > 3 && parse_u64(arguments[3], &index) && index < sql->nr_sources)
        return sql->sources[index];
    *message = sqlite3_mprintf("no recording is attached for this table");
    return NULL;
}

int sql_table_failed(sqlite3_vtab *table, const pfr_error *err) {
    pfr_sql *const sql = ((struct sql_table *)table)->source->sql;
    sql->failure = *err;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", err->text);
    return SQLITE_ERROR;
}

static bool is_utf8(const uint8_t *at, size_t length) {
    uint32_t code;
    for (size_t i = 0; i < length;) {
        const size_t run = escape_plain_run(at + i, length - i);
        const size_t one = run ? run : utf8_take(at + i, length - i, &code);
        if (!one || (!run && !code))
            return false;
        i += one;
    }
    return true;
}

/* Returns a text with NUL and bytes that are not UTF-8 as \xNN, because readers in other languages refuse such
   texts. */
static void result_escaped(sqlite3_context *to, const char *at, size_t length) {
    if (length > (size_t)INT32_MAX / ESCAPE_UNIT) {
        sqlite3_result_error_toobig(to);
        return;
    }
    const size_t room = length * ESCAPE_UNIT + 1;
    char *text = sqlite3_malloc64(room);
    if (text)
        sqlite3_result_text64(to, text, escape_into(text, room, at, length), sqlite3_free, SQLITE_UTF8);
    else
        sqlite3_result_error_nomem(to);
}

void sql_result_text(sqlite3_context *to, const pfr_sql *sql, const char *at, size_t length) {
    if (sql->portable && !is_utf8((const uint8_t *)at, length))
        result_escaped(to, at, length);
    else
        sqlite3_result_text64(to, at ? at : "", length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

void sql_result_bytes(sqlite3_context *to, const void *at, size_t length) {
    sqlite3_result_blob64(to, at ? at : "", length, SQLITE_TRANSIENT);
}
