/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_CALLS_H
#define PFR_SQL_CALLS_H
/* Interface of sql_calls.c; that file describes how it works. */
#include "sql/sql_parts.h"

/* sql_calls.c */
pfr_status source_need_calls(struct sql_source *source, pfr_error *err);

/* Sets *call to the id of the innermost call of the thread that was open at `time`; 0: no call was open, or the model
   has no calls. */
pfr_status source_call_at(struct sql_source *source, uint32_t thread, uint64_t time, uint64_t *call, pfr_error *err);
int sql_calls_register(pfr_sql *sql);

#endif
