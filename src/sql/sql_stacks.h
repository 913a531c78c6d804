/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_STACKS_H
#define PFR_SQL_STACKS_H
/* Interface of sql_stacks.c; that file describes how it works. */
#include "sql/sql_parts.h"

int sql_stacks_register(pfr_sql *sql);

#endif
