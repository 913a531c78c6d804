/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_MODEL_H
#define PFR_SQL_MODEL_H
/* Interface of sql_model.c; that file describes how it works. */
#include "sql/sql_parts.h"

int sql_model_register(pfr_sql *sql);

#endif
