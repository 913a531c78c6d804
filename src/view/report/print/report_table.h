/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TABLE_H
#define PFR_VIEW_REPORT_TABLE_H
/* A table of lines, which several threads measure, and write where nothing stands between the lines. */
#include "view/report/print/report_text_cache.h"
#include "view/report/print/report_print.h"

/* What is the same for all lines. */
struct table {
    struct report *r;
    const struct lines *lines;
    const char *separator;     /* -t; NULL: columns */
    unsigned key[FIELDS_MOST]; /* that a column shows; nr_keys: a weight */
    size_t width[FIELDS_MOST];
    bool cuts; /* texts that are wider than their columns */
};

/* --- report_table_lines.c: the line that is shown at a place. */

/* Columns become as wide as its texts. */
void table_measure_line(const struct table *t, struct report_texts *texts, uint32_t place, size_t *width);
void table_write_line(const struct table *t, struct report_texts *texts, uint32_t place, struct output *to);

/* --- report_table_parallel.c */

struct table_hands;
/* The table must stay where it is. < 0: *hands may be closed all the same. */
pfr_status table_hands_open(struct table_hands **hands, const struct table *t, pfr_error *err);
void table_hands_close(struct table_hands *hands); /* NULL is fine */
/* The caller's. Where its cell has failed what was measured and written is not whole. */
struct report_texts *table_own_texts(struct table_hands *hands);
/* Of all lines, at least what is in `width`. */
void table_measure(struct table_hands *hands, size_t *width);
/* How many lines were written, from the first on: the caller writes the others. */
uint32_t table_write_ahead(struct table_hands *hands, pfr_output *to);

#endif
