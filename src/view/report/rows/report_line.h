/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_LINE_H
#define PFR_VIEW_REPORT_LINE_H
/* What other files use of report_line.c, which says how it works. */
#include "view/report/fields/report_parts.h"

/* The key that tells threads apart; nr_keys: there is none. */
unsigned lines_thread_key(const struct report *r);

/* The first row of a line; there is one. */
uint32_t line_first_row(const struct lines *lines, uint32_t line);

/* What a key of the report says of a line. */
uint64_t line_cell(const struct report *r, const struct lines *lines, uint32_t line, unsigned key);

/* The row of a line that an event has; an empty one where it has none. */
const struct row *line_row(const struct report *r, const struct lines *lines, uint32_t line, uint32_t member);

/* A line that will be looked at soon is fetched from memory. */
void line_fetch(const struct report *r, const struct lines *lines, uint32_t line);

/* The cells of a line: those of its first row. */
void line_cells(const struct report *r, const struct lines *lines, uint32_t line, struct row_cells *cells);

#endif
