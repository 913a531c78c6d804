/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_LINES_H
#define PFR_VIEW_ANNOTATE_LINES_H
/* The lines of a source function as rows. */
#include "view/annotate/annotate_parts.h"

/* A line of the source function. `self` is the weight of samples at the line, including those in functions inlined
 * there. `total` also includes everything called from the line. If `inlined` is not NULL, the row has only that part of
 * the line's weights that is in this inlined function. */
struct listed_line {
    const char *file, *inlined;
    uint32_t line;
    uint64_t self, total, samples; /* samples: number of samples in `self` */
};

struct line_rows {
    const char *function;
    struct listed_line *at; /* sorted by file, line, inlined (NULL first) */
    size_t count, room;
    uint64_t self, total, samples; /* sums of the whole function */
    struct symbol_texts texts;     /* names of inlined functions */
};

/* Returns the innermost frame of a sample with this stack. If functions were inlined at the sampled address, the stack
 * contains the address twice. The inlined functions then begin at the second frame. */
uint32_t line_innermost(const struct annotate *a, uint32_t stack);
/* Makes the rows of all functions with the symbol's name, wherever they were inlined. Errors: MEMORY, LIMIT. */
pfr_status line_rows_make(struct annotate *a, uint32_t symbol, struct line_rows *lines, pfr_error *err);
void line_rows_free(struct annotate *a, struct line_rows *lines);

#endif
