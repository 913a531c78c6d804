/* SPDX-License-Identifier: Apache-2.0 */
/* Text output: head, total, rows, durations of calls. */
#include "view/diff/diff_view.h"

#include "base/memory/fail.h"
#include "base/text/text.h"

#include <stdio.h>

static const char *const by_titles[] = {"symbol", "object", "line", "thread", "event"};

static void write_least_change(const pfr_diff *d, struct output *to) {
    char text[64];
    if (d->options.least_change == 0)
        return;
    snprintf(text, sizeof text, "changes from %g %% of the total, ", d->options.least_change);
    out_text(to, text);
}

static void put_head(const pfr_diff *d, struct output *to) {
    out_text(to, "# base: ");
    diff_side_line(d, DIFF_BASE, to);
    out_text(to, "\n# new: ");
    diff_side_line(d, DIFF_NEW, to);
    out_text(to, "\n# values: ");
    out_text(to, diff_per_words(d->options.per));
    if (d->options.per >= PFR_DIFF_PER_EVENT) {
        out_char(to, ' ');
        out_name(to, d->options.per_name);
    }
    out_unit(d, to);
    out_text(to, "\n# intervals: 95 %; verdicts: ");
    write_least_change(d, to);
    out_text(to, "false discovery rate 5 %; seed ");
    out_u64(to, d->options.seed);
    out_text(to, ", ");
    out_u64(to, d->options.rounds);
    out_text(to, " rounds\n");
    for (size_t i = 0; i < d->nr_remarks; i++) {
        out_text(to, "# note: ");
        out_text(to, d->remarks[i]); /* already escaped */
        out_char(to, '\n');
    }
}

static void put_row(const struct diff_print *print, const struct diff_widths *w, const pfr_diff_row *row) {
    const pfr_diff *d = print->d;
    struct output *to = print->to;
    const unsigned decimals = diff_decimals(d), width = w->number;
    const double by = diff_unit_of_rows(d).by;
    out_fixed(to, row->self.base * by, decimals, width);
    if (w->hidden < DIFF_HIDES_NEW) {
        out_char(to, ' ');
        out_fixed(to, row->self.changed * by, decimals, width);
    }
    out_char(to, ' ');
    out_signed(to, row->self.delta * by, decimals, width);
    out_text(to, "  [");
    out_signed(to, row->self.low * by, decimals, width);
    out_char(to, ',');
    out_signed(to, row->self.high * by, decimals, width);
    out_char(to, ']');
    if (w->hidden < DIFF_HIDES_Q) {
        out_char(to, ' ');
        out_probability(to, row->self.q, 7);
    }
    out_text(to, "  ");
    const char *verdict = pfr_diff_verdict_name(row->self.verdict);
    out_text(to, verdict);
    out_pad(to, 7 - strlen(verdict));
    if (w->hidden < DIFF_HIDES_CALLEES)
        out_signed(to, row->total.delta * by, decimals, width);
    out_text(to, "  ");
}

static void put_likely(const struct diff_print *print, const struct diff_widths *w, const pfr_diff_row *row) {
    struct output *to = print->to;
    const size_t room = w->names ? print->columns / 3 + 1 : 0; /* 0: names are not cut */
    out_text(to, w->names ? "\n    (likely " : "  (likely ");
    out_text(to, row->likely_why);
    out_text(to, row->self.base > 0 ? " to " : " from ");
    diff_name_within(print, row->likely_object, (room + 1) / 2);
    out_char(to, ' ');
    diff_name_within(print, row->likely, room);
    out_char(to, ')');
}

/* The object gets at most a third of the room for both names. */
static void put_names(const struct diff_print *print, const struct diff_widths *w, const pfr_diff_row *row) {
    size_t used = 0;
    if (*row->object && strcmp(row->object, row->symbol) != 0) {
        used = diff_name_within(print, row->object, w->names / 3) + 2;
        out_text(print->to, "  ");
    }
    diff_name_within(print, row->symbol, w->names ? w->names - used : 0);
    if (row->likely)
        put_likely(print, w, row);
}

static void put_titles(const struct diff_print *print, const struct diff_widths *w) {
    const unsigned width = w->number;
    struct output *to = print->to;
    out_text(to, "#");
    out_text_wide(to, "base", 4, width - 1);
    if (w->hidden < DIFF_HIDES_NEW)
        out_text_wide(to, "new", 3, width + 1);
    out_text_wide(to, "delta", 5, width + 1);
    out_text_wide(to, "95 % interval", 13, 2 * width + 5);
    if (w->hidden < DIFF_HIDES_Q)
        out_text_wide(to, "q", 1, 7);
    out_text(to, "  verdict");
    if (w->hidden < DIFF_HIDES_CALLEES)
        out_text_wide(to, "callees", 7, width);
    out_text(to, "  object  ");
    out_text(to, by_titles[print->d->options.by]);
    out_char(to, '\n');
}

static void put_hidden(const struct diff_print *print, const struct diff_widths *w) {
    static const char *const lists[] = {
        [DIFF_HIDES_Q] = "q", [DIFF_HIDES_CALLEES] = "q, callees", [DIFF_HIDES_NEW] = "q, callees, new"};
    if (!w->hidden)
        return;
    out_text(print->to, "# columns omitted: ");
    out_text(print->to, lists[w->hidden]);
    out_text(print->to, "; --format=csv prints all\n");
}

static void put_rows(const struct diff_print *print) {
    struct output *to = print->to;
    const struct diff_widths widths = diff_widths_of(print);
    uint32_t shown = 0, noise = 0;
    put_titles(print, &widths);
    for (uint32_t i = 1; i < print->d->nr_rows; i++) {
        if (!diff_is_shown(print, i, &shown, &noise))
            continue;
        const bool is_grey = print->o.color && print->d->rows[i].self.verdict == PFR_DIFF_NOISE;
        out_text(to, is_grey ? "\033[90m" : "");
        put_row(print, &widths, &print->d->rows[i]);
        put_names(print, &widths, &print->d->rows[i]);
        out_text(to, is_grey ? "\033[0m\n" : "\n");
    }
    if (shown + 1 < print->d->nr_rows) {
        out_text(to, "# ");
        out_u64(to, print->d->nr_rows - 1 - shown);
        out_text(to, " more rows; --rows COUNT shows them, --format=csv has all\n");
    }
    put_hidden(print, &widths);
}

/* --- Calls. */

static void put_duration(struct output *to, const pfr_diff *d, uint64_t value) {
    char text[TEXT_TIME_SIZE];
    if (value == UINT64_MAX)
        snprintf(text, sizeof text, "?");
    else if (pfr_model_ticks(d->sides[0].runs[0].run.model))
        snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    else
        format_duration(text, value);
    out_text(to, text);
}

static void put_quantile(struct output *to, const pfr_diff *d, const pfr_diff_latency *l, unsigned k) {
    for (unsigned side = 0; side < 2; side++) {
        out_text(to, side ? " -> " : " ");
        if (!l->count[side]) {
            out_text(to, "-");
            continue;
        }
        put_duration(to, d, l->quantile[side][k]);
        out_text(to, " [");
        put_duration(to, d, l->low[side][k]);
        out_text(to, ", ");
        put_duration(to, d, l->high[side][k]);
        out_char(to, ']');
    }
}

static void put_histogram(struct output *to, const uint32_t *counts) {
    static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    uint32_t most = 1;
    for (unsigned b = 0; b < 64; b++)
        most = counts[b] > most ? counts[b] : most;
    for (unsigned b = 4; b < 36; b++)
        out_text(to, bars[(counts[b] * (uint64_t)8 + most - 1) / most]);
}

static void put_latency(const struct diff_print *print, const pfr_diff_latency *l) {
    static const char *const names[] = {"p50  ", "p90  ", "p99  ", "p99.9"};
    struct output *to = print->to;
    diff_name_within(print, l->symbol, print->columns);
    out_text(to, "\n    count ");
    out_u64(to, l->count[0]);
    out_text(to, " -> ");
    out_u64(to, l->count[1]);
    out_text(to, ", sum ");
    put_duration(to, print->d, l->sum[0]);
    out_text(to, " -> ");
    put_duration(to, print->d, l->sum[1]);
    for (unsigned k = 0; k < PFR_DIFF_QUANTILES; k++) {
        out_text(to, "\n    ");
        out_text(to, names[k]);
        put_quantile(to, print->d, l, k);
    }
    out_text(to, "\n    base |");
    put_histogram(to, l->histogram[0]);
    out_text(to, "|  16 ns to 69 s, by powers of two\n    new  |");
    put_histogram(to, l->histogram[1]);
    out_text(to, "|\n");
}

static void put_latencies(const struct diff_print *print) {
    const uint32_t most = print->o.rows ? print->o.rows : 10;
    if (print->d->nr_latencies)
        out_text(print->to, "\n# durations of calls, with callees; 95 % intervals by order statistics\n");
    for (uint32_t i = 0; i < print->d->nr_latencies && i < most; i++)
        put_latency(print, &print->d->latencies[i]);
}

static void put_lines(const pfr_diff *d, struct output *to) {
    put_head(d, to);
    out_text(to, "#\ntotal: ");
    diff_total_line(d, to);
    out_text(to, "\nrows: ");
    diff_counts_line(d, to);
    out_text(to, "\n\n");
}

/* Formats the lines above the table in memory, so that they can be wrapped. */
static pfr_status put_wrapped_lines(const struct diff_print *print, pfr_error *err) {
    struct output lines;
    size_t length;
    out_open_memory(&lines, print->memory);
    put_lines(print->d, &lines);
    const bool good = lines.status >= 0;
    const char *const text = out_bytes(&lines, &length);
    if (good)
        diff_write_wrapped(print, text, length);
    out_close(&lines, NULL);
    return good ? PFR_OK : mem_fail(print->memory, err, "diff");
}

pfr_status diff_print_text(const struct diff_print *print, pfr_error *err) {
    if (print->columns)
        PFR_TRY(put_wrapped_lines(print, err));
    else
        put_lines(print->d, print->to);
    put_rows(print);
    put_latencies(print);
    return print->o.tree ? diff_call_tree_print(print, err) : PFR_OK;
}
