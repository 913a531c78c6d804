/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TREE_DATA_H
#define PFR_VIEW_REPORT_TREE_DATA_H
/* Interface of report_tree_data.c; that file describes how it works. */
#include "view/report/print/report_print.h"

/* Writes the tree of a row if trees were requested. CSV: repeats the line of the row for each chain. */
pfr_status tree_write_json(struct report *r, uint32_t row, struct json *json, pfr_error *err);
pfr_status tree_write_csv(struct report *r, uint32_t row, const char *cells, size_t length, struct output *to,
                          pfr_error *err);

#endif
