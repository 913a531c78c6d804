/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_LINE_H
#define PFR_VIEW_REPORT_LINE_H
/* Interface of report_line.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* The key that identifies threads; nr_keys if the report has no such key. */
unsigned lines_thread_key(const struct report *r);

/* Returns the row of the first event that has one; every line has at least one row. */
uint32_t line_first_row(const struct lines *lines, uint32_t line);

/* Returns the line's value of one key of the report. */
uint64_t line_cell(const struct report *r, const struct lines *lines, uint32_t line, unsigned key);

/* Returns the line's row of one event; an empty row if the event has no row. */
const struct row *line_row(const struct report *r, const struct lines *lines, uint32_t line, uint32_t member);

/* Prefetches a line. */
void line_fetch(const struct report *r, const struct lines *lines, uint32_t line);

/* Returns the cells of the line's first row; the line's other rows have the same cells. */
void line_cells(const struct report *r, const struct lines *lines, uint32_t line, struct row_cells *cells);

#endif
