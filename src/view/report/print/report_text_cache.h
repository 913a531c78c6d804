/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TEXT_CACHE_H
#define PFR_VIEW_REPORT_TEXT_CACHE_H
/* Interface of report_text_cache.c; that file describes how it works. */
#include "view/report/print/report_print.h"

/* The texts of a table's columns. */
struct report_texts {
    const struct report *r;
    pfr_output cell;        /* the text at hand */
    struct kept_text *kept; /* some of each column */
};

struct report_text {
    const char *bytes;
    size_t length, width; /* bytes, characters */
};

/* < 0: it may be closed all the same. */
pfr_status report_texts_open(struct report_texts *t, const struct report *r, pfr_error *err);
void report_texts_close(struct report_texts *t);

/* What a column shows of a row, by what its field says of that; valid until the next call. No other thread is in its
   way that has texts of its own. */
struct report_text report_text_of(struct report_texts *t, unsigned column, uint64_t id, const struct row *row);

/* The key that a column shows; nr_keys: it shows a weight. And the cell, 0 of a weight. */
unsigned report_key_shown(const struct report *r, const struct report_field *f);
uint64_t report_cell_of(const struct report *r, const struct report_field *f, const struct row_cells *cells);
const char *report_cell_text(struct report *r, const struct report_field *f, const struct row_cells *cells,
                             const struct row *row, size_t *length);

#endif
