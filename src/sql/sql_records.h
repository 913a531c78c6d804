/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_RECORDS_H
#define PFR_SQL_RECORDS_H
/* Interface of sql_records.c; that file describes how it works. */
#include "sql/sql_parts.h"

/* Modules, registered with the handle as their data. */
int sql_records_register(pfr_sql *sql);

#endif
