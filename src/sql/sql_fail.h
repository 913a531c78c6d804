/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_FAIL_H
#define PFR_SQL_FAIL_H
/* Interface of sql_fail.c; that file describes how it works. */
#include "sql/sql_parts.h"

/* sql_fail.c: SQLite's own error as ours; that of a table where it was one */
pfr_status sql_fail(pfr_sql *sql, int code, pfr_error *err);

#endif
