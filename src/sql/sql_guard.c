/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes queries read-only. SQLite compiles every statement through the authorizer below, which allows a short list of
 * actions and refuses all others, including those that later versions of SQLite may add. No file is written: tables are
 * in memory and have no functions that change them, and temporary tables are in memory.
 */
#include "sql/sql_guard.h"

#include <string.h>
#include <strings.h>

#define STEPS_BETWEEN_LOOKS 10000 /* instructions of SQLite's virtual machine: well below a millisecond */
#define TEXT_MOST (256 << 20)     /* bytes of one value */
#define PATTERN_MOST 1000         /* length of a pattern of LIKE or GLOB; matching time grows with its square */

/* PRAGMAs that describe the tables; the name of a table is their only argument. */
static bool is_harmless_pragma(const char *name) {
    static const char *const known[] = {"table_info",    "table_xinfo",      "table_list",  "index_list",
                                        "function_list", "compile_options",  "module_list", "collation_list",
                                        "pragma_list",   "foreign_key_list", "index_xinfo", "index_info"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(name, known[i]) == 0)
            return true;
    return false;
}

static bool is_harmless_function(const char *name) {
    static const char *const refused[] = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcasecmp(name, refused[i]) == 0)
            return false;
    return true;
}

/* When a query first uses a table-valued function of SQLite, SQLite compiles an update of its schema tables, but never
   runs this update. An update by the user is refused by SQLite itself (DEFENSIVE), and by pfr_sql_print because it is
   not a query. */
static bool is_schema_table(const char *name) {
    return strcmp(name, "sqlite_master") == 0 || strcmp(name, "sqlite_temp_master") == 0;
}

static int authorize(void *context, int action, const char *one, const char *two, const char *schema,
                     const char *trigger) {
    const pfr_sql *sql = context;
    (void)schema, (void)trigger;
    if (!sql->guarded)
        return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return is_harmless_function(two) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
        return is_harmless_pragma(one) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_UPDATE:
        return is_schema_table(one) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static int look(void *context) {
    const pfr_sql *sql = context;
    return sql->interrupted;
}

void sql_guard(pfr_sql *sql) {
    sqlite3 *db = sql->db;
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, TEXT_MOST);
    sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_MOST);
    sqlite3_set_authorizer(db, authorize, sql);
    sqlite3_progress_handler(db, STEPS_BETWEEN_LOOKS, look, sql);
    sql->guarded = true;
}
