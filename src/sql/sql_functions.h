/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_FUNCTIONS_H
#define PFR_SQL_FUNCTIONS_H
/* Interface of sql_functions.c; that file describes how it works. */
#include "sql/sql_parts.h"

/* sql_functions.c */
int sql_functions_register(sqlite3 *db);

#endif
