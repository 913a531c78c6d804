/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_GUARD_H
#define PFR_SQL_GUARD_H
/* What other files use of sql_guard.c, which says how it works. */
#include "sql/sql_parts.h"

/* sql_guard.c */
void sql_guard(pfr_sql *sql);

#endif
