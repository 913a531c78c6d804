/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_SCHEMA_H
#define PFR_SQL_SCHEMA_H
/* Interface of sql_schema.c; that file describes how it works. */
#include "sql/sql_parts.h"

/* sql_schema.c */
pfr_status schema_create(struct sql_source *source, pfr_error *err);
const char *schema_view(void); /* SQL of the view sample_text, from " AS" on */

#endif
