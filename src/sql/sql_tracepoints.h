/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_TRACEPOINTS_H
#define PFR_SQL_TRACEPOINTS_H
/* Interface of sql_tracepoints.c; that file describes how it works. */
#include "sql/sql_parts.h"

int sql_tracepoints_register(pfr_sql *sql);
pfr_status tracepoints_find(struct sql_source *source, pfr_error *err);
const char *tracepoint_name(const struct sql_source *source, unsigned index);

#endif
