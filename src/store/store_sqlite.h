/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_STORE_SQLITE_H
#define PFR_STORE_STORE_SQLITE_H
/*
 * A store in a SQLite file: one file, no server, for one machine.
 *
 *     store_sqlite.c            opening, tables, pushes, removing
 *     store_sqlite_query.c      the queries of the engine interface, and SQL statements of the user
 *     store_sqlite_statement.c  prepared statements; conversion of SQLite's errors to pfr_error
 *
 * A push is one transaction from `begin` to `complete`. If the process is killed, SQLite rolls the transaction back
 * when the file is opened next. With WAL, queries can run at the same time.
 */
#include "base/memory/fail.h"
#include "store/store_engine.h"

#include <sqlite3.h>

struct store_handle {
    sqlite3 *db;
    struct memory *memory;
    sqlite3_stmt *inserts[STORE_TABLES]; /* made when first needed */
    bool in_push;
};

/* Fills *err with SQLite's message; `what` is the operation that failed. */
pfr_status sqlite_failed(struct store_handle *h, const char *what, pfr_error *err);
pfr_status sqlite_prepare(struct store_handle *h, const char *sql, sqlite3_stmt **statement, pfr_error *err);
/* Runs a statement that returns no rows. */
pfr_status sqlite_run(struct store_handle *h, const char *sql, pfr_error *err);

pfr_status sqlite_query(struct store_handle *h, enum store_query query, const struct store_params *params,
                        store_rows *rows, void *context, pfr_error *err);
pfr_status sqlite_user_query(struct store_handle *h, const char *sql, store_sql_row *row, void *context,
                             pfr_error *err);

#endif
