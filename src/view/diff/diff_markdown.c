/* SPDX-License-Identifier: Apache-2.0 */
/* Output for a pull request: a headline, a table of the changes, and folded details. */
#include "view/diff/diff_view.h"

#include "base/text/escape.h"

/* Writes a name into a cell as code. Markdown characters become numeric entities, and HTML in names becomes text. */
static void out_cell(struct output *to, struct memory *memory, const char *name) {
    struct output escaped;
    size_t length;
    out_open_memory(&escaped, memory);
    out_markup(&escaped, name, strlen(name));
    const char *at = out_bytes(&escaped, &length);
    out_text(to, "<code>");
    for (size_t i = 0; i < length; i++) {
        if (strchr("|`*_[]\\~", at[i])) { /* as numeric entities, which Markdown does not interpret */
            out_text(to, "&#");
            out_u64(to, (unsigned char)at[i]);
            out_char(to, ';');
        } else {
            out_char(to, at[i]);
        }
    }
    out_text(to, "</code>");
    out_close(&escaped, NULL);
}

static void put_row(const struct diff_print *print, const pfr_diff_row *row) {
    struct output *to = print->to;
    const unsigned decimals = diff_decimals(print->d);
    const double by = diff_unit_of_rows(print->d).by;
    out_text(to, "| ");
    out_text(to, pfr_diff_verdict_name(row->self.verdict));
    out_text(to, " | ");
    out_fixed(to, row->self.base * by, decimals, 0);
    out_text(to, " | ");
    out_fixed(to, row->self.changed * by, decimals, 0);
    out_text(to, " | ");
    out_signed(to, row->self.delta * by, decimals, 0);
    out_text(to, " | ");
    out_signed(to, row->self.low * by, decimals, 0);
    out_text(to, " to ");
    out_signed(to, row->self.high * by, decimals, 0);
    out_text(to, " | ");
    out_probability(to, row->self.q, 0);
    out_text(to, " | ");
    out_cell(to, print->memory, row->symbol);
    out_text(to, " | ");
    out_cell(to, print->memory, *row->object ? row->object : "-");
    out_text(to, " |\n");
}

static void put_titles(struct output *to) {
    out_text(to, "| verdict | base | new | delta | 95 % interval | q | symbol | object |\n"
                 "| --- | ---: | ---: | ---: | :---: | ---: | --- | --- |\n");
}

static uint32_t put_table(const struct diff_print *print, bool of_noise) {
    const uint32_t most = print->o.rows ? print->o.rows : of_noise ? 20 : 40;
    uint32_t shown = 0, left_out = 0;
    for (uint32_t i = 1; i < print->d->nr_rows; i++) {
        if ((print->d->rows[i].self.verdict == PFR_DIFF_NOISE) != of_noise)
            continue;
        if (shown >= most) {
            left_out++;
            continue;
        }
        if (!shown++)
            put_titles(print->to);
        put_row(print, &print->d->rows[i]);
    }
    if (left_out) {
        out_text(print->to, "\n");
        out_u64(print->to, left_out);
        out_text(print->to, " more rows are not shown.\n");
    }
    return shown;
}

static void put_details(const struct diff_print *print) {
    struct output *to = print->to;
    for (unsigned side = 0; side < 2; side++) {
        struct output line;
        size_t length;
        out_open_memory(&line, print->memory);
        diff_side_line(print->d, side ? DIFF_NEW : DIFF_BASE, &line);
        const char *at = out_bytes(&line, &length);
        out_text(to, side ? "- new: " : "- base: ");
        out_markup(to, at, length);
        out_text(to, "\n");
        out_close(&line, NULL);
    }
    out_text(to, "- values: ");
    out_text(to, diff_per_words(print->d->options.per));
    out_unit(print->d, to);
    out_text(to, "\n");
    for (size_t i = 0; i < print->d->nr_remarks; i++) {
        out_text(to, "- ");
        out_markup(to, print->d->remarks[i], strlen(print->d->remarks[i]));
        out_text(to, "\n");
    }
}

pfr_status diff_print_markdown(const struct diff_print *print, pfr_error *err) {
    struct output *to = print->to;
    (void)err;
    out_text(to, "### Performance: total ");
    diff_total_line(print->d, to);
    out_text(to, "\n\n");
    diff_counts_line(print->d, to);
    out_text(to, "\n\n");
    if (!put_table(print, false))
        out_text(to, "No change of a row is more than noise.\n");
    out_text(to, "\n<details><summary>Noise</summary>\n\n");
    put_table(print, true);
    out_text(to, "\n</details>\n\n<details><summary>How this was measured</summary>\n\n");
    put_details(print);
    out_text(to, "\n</details>\n");
    return PFR_OK;
}
