/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_DIFF_VIEW_H
#define PFR_VIEW_DIFF_VIEW_H
/* The output forms of a comparison, one function each. */
#include "base/text/public_output.h"
#include "model/diff/diff_parts.h"

struct diff_print {
    const pfr_diff *d;
    pfr_diff_print_options o;
    struct output *to;
    struct memory *memory;
    unsigned columns; /* width of the terminal; 0: no limit, as in all forms except text */
};

typedef pfr_status diff_form(const struct diff_print *print, pfr_error *err);
diff_form diff_print_text, diff_print_csv, diff_print_json, diff_print_markdown, diff_print_perf, diff_print_folded;

/* --- diff_fit.c: a terminal's width */

/* Columns that diff_widths_of leaves out to fit the terminal, in this order. */
enum diff_hidden { DIFF_HIDES_Q = 1, DIFF_HIDES_CALLEES, DIFF_HIDES_NEW, DIFF_HIDDEN_MOST = DIFF_HIDES_NEW };

struct diff_widths {
    unsigned number; /* width of a value */
    unsigned hidden; /* enum diff_hidden: this column and all before it in the enum are left out */
    size_t names;    /* width of object and symbol together; 0: unlimited */
};

struct diff_widths diff_widths_of(const struct diff_print *print);
/* Writes the escaped name in at most `width` characters (0: unlimited). A longer name is cut in the middle. Returns the
   number of characters written. */
size_t diff_name_within(const struct diff_print *print, const char *name, size_t width);
/* Writes lines of text. Breaks a line between words if it is wider than the terminal. */
void diff_write_wrapped(const struct diff_print *print, const char *text, size_t length);

/* --- diff_words.c */

/* Describes the unit of values: "weight per sample". */
const char *diff_per_words(pfr_diff_per per);
/* How text and Markdown print values: times are multiplied by `by`, and `name` is their unit. For other values, `by` is
   1 and `name` is "". */
struct diff_unit {
    double by;
    const char *name;
};
/* The unit of the values of rows. */
struct diff_unit diff_unit_of_rows(const pfr_diff *d);
/* Writes ", in ms" for times. */
void out_unit(const pfr_diff *d, struct output *to);
/* Number of decimals of values. */
unsigned diff_decimals(const pfr_diff *d);
/* Whether the text forms print row `index`: at most options.rows rows, by default 40 with at most 10 rows of noise.
 * Updates the numbers of rows printed so far, *shown and *noise. */
bool diff_is_shown(const struct diff_print *print, uint32_t index, uint32_t *shown, uint32_t *noise);

/* Writes "+1.23" or "-0.04", in at least `width` columns. */
void out_signed(struct output *to, double value, unsigned decimals, unsigned width);
void out_fixed(struct output *to, double value, unsigned decimals, unsigned width);
/* Writes "<0.001" or "0.042". */
void out_probability(struct output *to, double q, unsigned width);
/* Writes "1.23 G". */
void out_amount(struct output *to, double value);
/* Writes a name, escaped. */
void out_name(struct output *to, const char *name);

/* Shows where in the call tree the change is (diff_call_tree.c). */
pfr_status diff_call_tree_print(const struct diff_print *print, pfr_error *err);

/* Writes one line about the total: "total +3.10 % [+1.20, +5.00], q 0.010: slower". */
void diff_total_line(const pfr_diff *d, struct output *to);
/* Writes "12 slower, 3 faster, 1 new, 0 gone". */
void diff_counts_line(const pfr_diff *d, struct output *to);
/* Writes how the recordings of a side were used: samples, seconds, blocks. */
void diff_side_line(const pfr_diff *d, enum diff_side_name side, struct output *to);

#endif
