/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_PRINT_H
#define PFR_VIEW_REPORT_PRINT_H
/* Lines of one event, or of a group side by side, in each format. */
#include "base/text/json.h"
#include "view/report/report_parts.h"

pfr_status report_print_table(struct report *r, const struct lines *lines, pfr_output *to, pfr_error *err);

/* report_counts.c: of a recording without samples, what its READ records counted. */
pfr_status report_print_counts(struct report *r, pfr_output *to, pfr_error *err);

/* The whole call tree instead of rows. */
pfr_status report_print_bars(struct report *r, const struct lines *lines, pfr_output *to, pfr_error *err);
/* What stands above a table: how many samples of which events. */
void report_write_totals(struct report *r, const struct lines *lines, pfr_output *to);

void report_write_csv_heading(struct report *r, pfr_output *to);
pfr_status report_write_csv(struct report *r, const struct lines *lines, pfr_output *to, pfr_error *err);

pfr_status report_write_json(struct report *r, const struct lines *lines, struct json *json, pfr_error *err);

/* report_tree_data.c: the tree of a row for programs, where one is asked for; CSV: the line of the row, with each chain
 */
pfr_status tree_write_json(struct report *r, uint32_t row, struct json *json, pfr_error *err);
pfr_status tree_write_csv(struct report *r, uint32_t row, const char *cells, size_t length, struct output *to,
                          pfr_error *err);
/* report_tree_parallel.c: trees of lines, in their order, and several threads that make them ahead. */
struct trees_ahead;
pfr_status trees_open(struct trees_ahead **trees, struct report *r, const struct lines *lines, const pfr_output *to,
                      pfr_error *err);
/* Of each line once, as they are shown: its tree, if it has one. */
pfr_status trees_print(struct trees_ahead *trees, uint32_t line, pfr_output *to, pfr_error *err);
void trees_close(struct trees_ahead *trees); /* NULL is fine */
/* A frame as trees call it, after `before` columns of its line. */
void tree_write_frame(struct report *r, uint32_t frame, size_t before, pfr_output *to);

/* What makes a share stand out on a terminal; NULL: nothing. */
const char *report_color(const struct report *r, double percent);
#define REPORT_COLOR_ENDS "\033[m"

/* The name of the group that this event leads, "anon group" where it has none; NULL: it leads none. */
const char *report_group_name(const struct report *r, uint32_t leader);

/* report_text_cache.c: the texts of a table's columns. */
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
