/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TEXT_CACHE_H
#define PFR_VIEW_REPORT_TEXT_CACHE_H
/* Interface of report_text_cache.c; that file describes how it works. */
#include "view/report/print/report_print.h"

/* The texts of a table's columns. */
struct report_texts {
    const struct report *r;
    pfr_output cell;        /* the current text */
    struct kept_text *kept; /* cached texts of all columns */
};

struct report_text {
    const char *bytes;
    size_t length, width; /* length in bytes, width in characters */
};

/* On errors (status < 0), report_texts_close may still be called. */
pfr_status report_texts_open(struct report_texts *t, const struct report *r, pfr_error *err);
void report_texts_close(struct report_texts *t);

/* Returns the text of a cell, from the cache if possible; the text is valid until the next call. Threads with their own
   report_texts may call this concurrently. */
struct report_text report_text_of(struct report_texts *t, unsigned column, uint64_t id, const struct row *row);

/* Returns the key that a column shows; nr_keys: the column shows a weight. report_cell_of returns the value of that
   key, or 0 for a weight. */
unsigned report_key_shown(const struct report *r, const struct report_field *f);
uint64_t report_cell_of(const struct report *r, const struct report_field *f, const struct row_cells *cells);
const char *report_cell_text(struct report *r, const struct report_field *f, const struct row_cells *cells,
                             const struct row *row, size_t *length);

#endif
