/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TABLE_H
#define PFR_VIEW_REPORT_TABLE_H
/* A table of lines. Several threads measure the lines, and also write them if no call trees come between the lines. */
#include "view/report/print/report_text_cache.h"
#include "view/report/print/report_print.h"

/* Settings that are the same for all lines. */
struct table {
    struct report *r;
    const struct lines *lines;
    const char *separator;     /* -t; NULL: pad the columns with blanks */
    unsigned key[FIELDS_MOST]; /* key shown by each column; nr_keys: a weight */
    size_t width[FIELDS_MOST];
    bool cuts; /* shorten texts that are wider than their columns */
};

/* --- report_table_lines.c: one line, by its place in display order */

/* Raises each column's width to the width of its text in this line. */
void table_measure_line(const struct table *t, struct report_texts *texts, uint32_t place, size_t *width);
/* Writes one weight of a group of events. The weight of the first event is padded to the width of the column. Each
   further weight is one character narrower and has a blank before it. */
void table_write_weight(const struct table *t, struct report_texts *texts, unsigned c, uint32_t member,
                        const struct row *row, struct output *to);
/* Writes a text that must not contain the separator's first character. */
void table_write_without(struct output *out, const struct report_text *text, const char *separator);
void table_write_line(const struct table *t, struct report_texts *texts, uint32_t place, struct output *to);

/* --- report_print.c: columns */

/* Initializes *t with the minimum widths of its columns. */
void table_begin(struct table *t, struct report *r, const struct lines *lines);
const char *table_heading(const struct report *r, const struct report_field *f);
/* The width of a column, for all events of a group together. */
size_t table_column_width(const struct table *t, unsigned c);

/* --- report_table_parallel.c */

struct table_hands;
/* The table must not move until table_hands_close. On errors *hands must be closed as well. */
pfr_status table_hands_open(struct table_hands **hands, const struct table *t, pfr_error *err);
void table_hands_close(struct table_hands *hands); /* NULL is fine */
/* The texts of the calling thread. If `cell` in these texts has failed, the measured and written lines are
   incomplete. */
struct report_texts *table_own_texts(struct table_hands *hands);
/* Like table_measure_line, for all lines. */
void table_measure(struct table_hands *hands, size_t *width);
/* Writes lines in parallel, starting with the first. Returns the number of lines written; the caller writes the
 * remaining lines. */
uint32_t table_write_ahead(struct table_hands *hands, pfr_output *to);

#endif
