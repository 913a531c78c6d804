/* SPDX-License-Identifier: Apache-2.0 */
/* Fits the text form to the width of a terminal: long lines of the head are wrapped, columns that matter least are left
 * out, and names are cut in the middle. */
#include "view/diff/diff_view.h"

#include <stdio.h>
#include <string.h>

#define NAMES_LEAST 24u /* minimum width of object and symbol together */
#define WIDTH_OF_SHARES 8u
#define WIDTH_OF_AMOUNTS 16u
#define WIDTH_OF_Q 8u

/* --- columns --- */

static unsigned number_width(const pfr_diff *d, double value) {
    char text[400];
    const int length = snprintf(text, sizeof text, "%+.*f", (int)diff_decimals(d), value);
    return length > 0 ? (unsigned)length + 1 : 0;
}

static unsigned widest_number(const struct diff_print *print) {
    const double by = diff_unit_of_rows(print->d).by;
    unsigned widest = WIDTH_OF_SHARES;
    uint32_t shown = 0, noise = 0;
    for (uint32_t i = 1; i < print->d->nr_rows; i++) {
        const pfr_diff_row *row = &print->d->rows[i];
        const double values[] = {row->self.base, row->self.changed, row->self.delta,
                                 row->self.low,  row->self.high,    row->total.delta};
        if (!diff_is_shown(print, i, &shown, &noise))
            continue;
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            const unsigned width = number_width(print->d, values[v] * by);
            widest = width > widest ? width : widest;
        }
    }
    return widest;
}

/* Width of the part of a line before the names: six values, verdict and punctuation. */
static size_t before_names(const struct diff_widths *w) {
    return 6 * w->number + 26 - (w->hidden >= DIFF_HIDES_Q ? WIDTH_OF_Q : 0) -
           (w->hidden >= DIFF_HIDES_CALLEES ? w->number : 0) - (w->hidden >= DIFF_HIDES_NEW ? w->number + 1 : 0);
}

struct diff_widths diff_widths_of(const struct diff_print *print) {
    const bool is_share = print->d->options.per == PFR_DIFF_PER_TOTAL;
    struct diff_widths w = {.number = is_share ? WIDTH_OF_SHARES : WIDTH_OF_AMOUNTS};
    if (!print->columns)
        return w;
    w.number = widest_number(print);
    while (w.hidden < DIFF_HIDDEN_MOST && before_names(&w) + NAMES_LEAST > print->columns)
        w.hidden++;
    const size_t before = before_names(&w);
    w.names = print->columns > before + NAMES_LEAST ? print->columns - before : NAMES_LEAST;
    return w;
}

/* --- names --- */

size_t diff_name_within(const struct diff_print *print, const char *name, size_t width) {
    struct output escaped;
    size_t length, whole = 0;
    if (!width) {
        out_name(print->to, name);
        return 0;
    }
    out_open_memory(&escaped, print->memory);
    out_name(&escaped, name);
    const char *const text = out_bytes(&escaped, &length);
    if (escaped.status >= 0) {
        whole = text_width(text, length);
        out_text_within(print->to, text, length, width);
    } else {
        out_name(print->to, name);
    }
    out_close(&escaped, NULL);
    return whole < width ? whole : width;
}

/* --- lines --- */

static size_t word_length(const char *text, size_t length) {
    const char *const blank = memchr(text, ' ', length);
    return blank ? (size_t)(blank - text) : length;
}

/* Continuation lines of a comment also begin with #. */
static void wrap_line(const struct diff_print *print, const char *text, size_t length) {
    const char *const indent = *text == '#' ? "#   " : "    ";
    size_t at = 0;
    for (size_t word, gap = 0; length; text += word, length -= word) {
        word = word_length(text, length);
        const size_t width = text_width(text, word);
        if (at > strlen(indent) && at + gap + width > print->columns) {
            out_char(print->to, '\n');
            out_text(print->to, indent);
            at = strlen(indent);
            gap = 0;
        }
        out_pad(print->to, gap);
        out_write(print->to, text, word);
        at += gap + width;
        for (gap = 0; word < length && text[word] == ' '; word++)
            gap++;
    }
    out_char(print->to, '\n');
}

void diff_write_wrapped(const struct diff_print *print, const char *text, size_t length) {
    while (length) {
        const char *const end = memchr(text, '\n', length);
        const size_t line = end ? (size_t)(end - text) : length;
        if (print->columns && line)
            wrap_line(print, text, line);
        else
            out_write(print->to, text, line + (end ? 1 : 0));
        text += line + (end ? 1 : 0);
        length -= line + (end ? 1 : 0);
    }
}
