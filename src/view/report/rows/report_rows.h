/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_ROWS_H
#define PFR_VIEW_REPORT_ROWS_H
/* Interface of report_rows.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* Fills report.symbol_of; call it after the profile is loaded and before rows are made. */
pfr_status rows_number_symbols(struct report *r, pfr_error *err);

/* Finds the row for a cell key, or creates the row. */
pfr_status rows_find(struct report *r, const struct cell_key *spot, uint32_t *row, pfr_error *err);
void rows_cells(const struct report *r, uint32_t row, struct row_cells *cells);
void rows_free(struct report *r);

/* Adds the weight of a frame to *system or *user, according to its mode. */
void row_add_by_mode(const struct report *r, uint32_t frame, uint64_t weight, uint64_t *system, uint64_t *user);

#endif
