/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_GUARD_H
#define PFR_SQL_GUARD_H
/* Interface of sql_guard.c; that file describes how it works. */
#include "sql/sql_parts.h"

/* sql_guard.c */
void sql_guard(pfr_sql *sql);

#endif
