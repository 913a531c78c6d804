/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_SOURCE_H
#define PFR_SQL_SOURCE_H
/* Interface of sql_source.c; that file describes how it works. */
#include "sql/sql_parts.h"

/* Opens another reader of the recording. PFR_ERR_CHANGED: the file is not the one that the first reader opened. */
pfr_reader *source_open_reader(struct sql_source *source, pfr_error *err);
pfr_status source_need_clock(struct sql_source *source, pfr_error *err);
pfr_status source_need_model(struct sql_source *source, pfr_error *err);
pfr_status source_open(struct sql_source *source, pfr_error *err);
void source_close(struct sql_source *source);

#endif
