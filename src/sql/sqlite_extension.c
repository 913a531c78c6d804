/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loadable extension perfray_sqlite: the same tables inside a program that has SQLite.
 *
 *     .load ./perfray_sqlite
 *     SELECT perfray_open('perf.data');             -- tables in the schema temp
 *     SELECT perfray_open('new.data', 'new');       -- in a schema that is attached: ATTACH ':memory:' AS new
 *
 * Each call returns the name of the schema. Queries are not restricted here; the rules of the connection apply.
 */
#ifndef PFR_SQL_EXTENSION
#define PFR_SQL_EXTENSION /* all files of the extension are compiled with this macro */
#endif
#include "sql/sql_parts.h"

#include <string.h>

SQLITE_EXTENSION_INIT1

static void open_recording(sqlite3_context *to, int count, sqlite3_value **values) {
    pfr_sql *sql = sqlite3_user_data(to);
    const char *path = (const char *)sqlite3_value_text(values[0]);
    const char *schema = count > 1 ? (const char *)sqlite3_value_text(values[1]) : "temp";
    pfr_error err;
    if (!path || !schema)
        sqlite3_result_error(to, "perfray_open(FILE, [SCHEMA])", -1);
    else if (pfr_sql_attach(sql, path, schema, &err) < 0)
        sqlite3_result_error(to, err.text, -1);
    else
        sqlite3_result_text(to, schema, -1, SQLITE_TRANSIENT);
}

static void close_handle(void *sql) {
    pfr_sql_close(sql);
}

__attribute__((visibility("default"))) int sqlite3_extension_init(sqlite3 *db, char **message,
                                                                  const sqlite3_api_routines *api);
int sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
    pfr_error err;
    SQLITE_EXTENSION_INIT2(api);
    pfr_sql *sql = sql_open_on(db, NULL, &err);
    if (!sql) {
        *message = sqlite3_mprintf("%s", err.text);
        return SQLITE_ERROR;
    }
    sql->borrowed = sql->portable = true;
    const int how = SQLITE_UTF8 | SQLITE_DIRECTONLY;
    const int code = sqlite3_create_function_v2(db, "perfray_open", 1, how, sql, open_recording, NULL, NULL, NULL);
    if (code != SQLITE_OK) {
        pfr_sql_close(sql);
        return code;
    }
    return sqlite3_create_function_v2(db, "perfray_open", 2, how, sql, open_recording, NULL, NULL, close_handle);
}
