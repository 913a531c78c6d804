/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_MODEL_H
#define PFR_SQL_MODEL_H
/* What other files use of sql_model.c, which says how it works. */
#include "sql/sql_parts.h"

int sql_model_register(pfr_sql *sql);

#endif
