/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_SAMPLES_H
#define PFR_SQL_SAMPLES_H
/* Interface of sql_samples.c; that file describes how it works. */
#include "sql/sql_parts.h"

int sql_samples_register(pfr_sql *sql);

#endif
