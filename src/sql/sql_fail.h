/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_FAIL_H
#define PFR_SQL_FAIL_H
/* Interface of sql_fail.c; that file describes how it works. */
#include "sql/sql_parts.h"

/* Converts SQLite's error `code`; if a table failed, returns the error of that table. */
pfr_status sql_fail(pfr_sql *sql, int code, pfr_error *err);

#endif
