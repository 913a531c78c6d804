/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the compared lines as text: see annotate_diff.h. */
#include "view/annotate/annotate_diff.h"

#include "view/annotate/annotate_source.h"

#include <math.h>
#include <string.h>

static void put_name(const struct line_diff *diff, const char *text) {
    print_name(diff->sides[IN_NEW]->out, text, strlen(text));
}

/* Prints two decimals in eight columns, with a sign if the value is a change. */
static void put_share(struct output *out, double value, bool is_change) {
    const double size = fabs(value);
    const size_t digits = size < 9.995 ? 4 : size < 99.995 ? 5 : 6;
    out_pad(out, 8 - digits - is_change);
    if (is_change)
        out_char(out, size < 0.005 ? ' ' : value < 0 ? '-' : '+');
    out_f64(out, size, 2);
}

static void put_count_change(struct output *out, uint64_t base, uint64_t changed) {
    const uint64_t size = changed > base ? changed - base : base - changed;
    size_t digits = 1;
    for (uint64_t rest = size; rest >= 10; rest /= 10)
        digits++;
    out_pad(out, digits < 7 ? 7 - digits : 0);
    out_char(out, changed > base ? '+' : changed < base ? '-' : ' ');
    out_u64(out, size);
}

static void put_shares(const struct line_diff *diff, const struct annotate_sum self[IN_BOTH]) {
    struct output *out = &diff->sides[IN_NEW]->out->out;
    const double base = diff_share(self[IN_BASE].weight, diff->all[IN_BASE]);
    const double changed = diff_share(self[IN_NEW].weight, diff->all[IN_NEW]);
    put_share(out, base, false);
    put_share(out, changed, false);
    put_share(out, changed - base, true);
}

static void put_counts(const struct line_diff *diff, const struct annotate_sum self[IN_BOTH]) {
    struct output *out = &diff->sides[IN_NEW]->out->out;
    out_u64_wide(out, self[IN_BASE].samples, 8);
    out_u64_wide(out, self[IN_NEW].samples, 8);
    put_count_change(out, self[IN_BASE].samples, self[IN_NEW].samples);
}

static void put_sums(const struct line_diff *diff, const struct annotate_sum self[IN_BOTH]) {
    if (diff->sides[IN_NEW]->options->counts)
        put_counts(diff, self);
    else
        put_shares(diff, self);
}

static void put_number(struct output *out, uint32_t line) {
    if (line)
        out_u64_wide(out, line, 8);
    else
        out_text(out, "       -");
}

static void put_line(struct line_diff *diff, const struct diff_line *line) {
    struct output *out = &diff->sides[IN_NEW]->out->out;
    put_sums(diff, line->self);
    if (line->inlined) {
        out_text(out, "                 |     > ");
        put_name(diff, line->inlined);
    } else {
        char shown[SOURCE_SHOWN_ROOM];
        const char *text = diff_line_source(diff, line);
        put_number(out, line->line[IN_BASE]);
        put_number(out, line->line[IN_NEW]);
        out_text(out, " | ");
        put_name(diff, text ? source_shown(text, shown) : "");
    }
    out_char(out, '\n');
}

static bool is_same(const char *x, const char *y) {
    return x == y || (x && y && strcmp(x, y) == 0);
}

static bool is_same_files(const struct diff_line *x, const struct diff_line *y) {
    return is_same(x->file[IN_BASE], y->file[IN_BASE]) && is_same(x->file[IN_NEW], y->file[IN_NEW]);
}

static void put_files(const struct line_diff *diff, const struct diff_line *line) {
    struct output *out = &diff->sides[IN_NEW]->out->out;
    if (!is_same(line->file[IN_BASE], line->file[IN_NEW])) {
        put_name(diff, line->file[IN_BASE]);
        out_text(out, " -> ");
    }
    put_name(diff, line->file[IN_NEW] ? line->file[IN_NEW] : "[no line information]");
    out_text(out, line->matched == MATCHED_NUMBER && line->file[IN_NEW] ? " (lines compared by number):\n" : ":\n");
}

static void put_head(const struct line_diff *diff) {
    const struct annotate *a = diff->sides[IN_NEW];
    struct output *out = &a->out->out;
    put_name(diff, diff->function);
    out_text(out, ": ");
    put_name(diff, a->nr_events ? pfr_model_get_event(a->model, a->events[0])->name : "");
    out_text(out, "; 100 % is the whole recording\n");
    out_text(out, a->options->counts ? " samples samples samples    line    line |\n"
                                     : "   self%   self%  points    line    line |\n");
    out_text(out, "    base     new   delta    base     new | source\n");
    put_sums(diff, diff->self);
    out_text(out, "                 | all lines\n");
}

void diff_text(struct line_diff *diff) {
    struct output *out = &diff->sides[IN_NEW]->out->out;
    put_head(diff);
    for (size_t i = 0; i < diff->count; i++) {
        if (!i || !is_same_files(&diff->at[i - 1], &diff->at[i]))
            put_files(diff, &diff->at[i]);
        put_line(diff, &diff->at[i]);
    }
    out_char(out, '\n');
}
