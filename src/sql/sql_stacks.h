/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_STACKS_H
#define PFR_SQL_STACKS_H
/* What other files use of sql_stacks.c, which says how it works. */
#include "sql/sql_parts.h"

int sql_stacks_register(pfr_sql *sql);

#endif
