/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_LINE_H
#define PFR_VIEW_REPORT_LINE_H
/* Interface of report_line.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* The key that identifies threads; nr_keys if the report has no such key. */
unsigned lines_thread_key(const struct report *r);

/* The first event's row; every line has at least one row. */
uint32_t line_first_row(const struct lines *lines, uint32_t line);

/* The value of a key of the report in this line. */
uint64_t line_cell(const struct report *r, const struct lines *lines, uint32_t line, unsigned key);

/* The row of one event of the line; an empty row if the event has none. */
const struct row *line_row(const struct report *r, const struct lines *lines, uint32_t line, uint32_t member);

/* Prefetches a line. */
void line_fetch(const struct report *r, const struct lines *lines, uint32_t line);

/* The cells of the line's first row; the other rows have the same. */
void line_cells(const struct report *r, const struct lines *lines, uint32_t line, struct row_cells *cells);

#endif
