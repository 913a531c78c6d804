/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_RESULT_H
#define PFR_SQL_RESULT_H
/* Interface of sql_result.c; that file describes how it works. */
#include "sql/sql_parts.h"

/* The source that is named by the arguments of a module; NULL: there is no such source, as *message says. */
struct sql_source *source_of_arguments(pfr_sql *sql, int count, const char *const *arguments, char **message);

/* Keeps the failure for pfr_sql_print, and passes its text to SQLite. Returns SQLITE_ERROR. */
int sql_table_failed(sqlite3_vtab *table, const pfr_error *err);
void sql_result_text(sqlite3_context *to, const pfr_sql *sql, const char *at, size_t length);
void sql_result_bytes(sqlite3_context *to, const void *at, size_t length);

#endif
