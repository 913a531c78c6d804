/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --tree: the call tree from the outermost functions down, with inclusive (children) and self weights:
 *
 *     #  Children      Self
 *     #
 *         100.00%     0.00%  ##########  main
 *          66.67%    16.67%  #######       twice
 *          50.00%    50.00%  #####           leaf
 *
 * Subtrees below the minimum share of -g are left out. Indentation makes the output of a deep tree grow with the square
 * of its depth; output beyond the limit (--limit trees=BYTES) is replaced by a line [limit].
 */
#include "view/report/fields/report_common.h"
#include "view/report/print/report_tree.h"
#include "view/report/print/report_bars.h"
#include "view/report/print/report_table_lines.h"

#include "base/memory/fail.h"

#include <stdio.h>

#define BAR 10u
#define PERCENT_WIDTH 9u
#define TEXT_PERCENT 32u
#define INDENT 2u

static void write_share(const struct report *r, struct output *out, double percent) {
    char digits[TEXT_PERCENT];
    const char *color = report_color(r, percent);
    const int length = snprintf(digits, sizeof digits, "%.2f%%", percent);
    out_text(out, color ? color : "");
    out_text_wide(out, digits, length > 0 ? (size_t)length : 0, PERCENT_WIDTH);
    out_text(out, color ? REPORT_COLOR_ENDS : "");
}

static void write_name(struct report *r, uint32_t frame, size_t before, pfr_output *to) {
    const struct profile_frame *f = report_frame(r, frame);
    if (f->text != NO_TEXT) {
        const struct intern_text text = intern_get(&r->profile->texts, f->text);
        print_name_within(to, text.bytes, text.length, before);
        return;
    }
    out_text(&to->out, "0x");
    out_hex(&to->out, f->ip, 1);
}

static void write_subtree(struct report *r, uint32_t event, const struct subtree *subtree, size_t depth,
                          pfr_output *to) {
    const double percent = report_percent(r, event, subtree->total.weight);
    const size_t filled = (size_t)(percent / 100 * BAR + 0.5);
    out_pad(&to->out, 2);
    write_share(r, &to->out, percent);
    write_share(r, &to->out, report_percent(r, event, subtree->own.weight));
    out_pad(&to->out, 2);
    out_fill(&to->out, '#', filled < BAR ? filled : BAR);
    out_pad(&to->out, filled < BAR ? BAR - filled : 0);
    out_pad(&to->out, 2 + INDENT * depth);
    write_name(r, subtree->frame, 2 + 2 * PERCENT_WIDTH + 2 + BAR + 2 + INDENT * depth, to);
    out_char(&to->out, '\n');
}

/* Returns false if the limit was reached before this line. */
static bool write_limited(struct report *r, uint32_t event, const struct subtree *subtree, size_t depth,
                          pfr_output *to) {
    const uint64_t before = out_written(&to->out);
    if (!r->trees.budget.left) {
        r->trees.budget.cut++;
        out_text(&to->out, "  [limit]\n");
        return false;
    }
    write_subtree(r, event, subtree, depth, to);
    tree_text_take(r, out_written(&to->out) - before);
    return true;
}

/* Depth-first, parents before children. */
static void write_subtrees(struct report *r, uint32_t event, pfr_output *to) {
    const struct report_tree *t = &r->trees.whole;
    uint32_t at = t->subtrees[0].first;
    size_t depth = 0;
    if (!t->subtrees[0].count)
        return;
    while (at != 0) {
        const struct subtree *subtree = &t->subtrees[at];
        if (!write_limited(r, event, subtree, depth, to))
            return;
        if (subtree->count) {
            at = subtree->first;
            depth++;
            continue;
        }
        for (; at != 0; at = t->subtrees[at].parent, depth--) {
            const struct subtree *above = &t->subtrees[t->subtrees[at].parent];
            if (at + 1 < above->first + above->count) {
                at++;
                break;
            }
        }
    }
}

pfr_status report_print_bars(struct report *r, const struct lines *lines, pfr_output *to, pfr_error *err) {
    report_write_totals(r, lines, to);
    out_text(&to->out, r->options->quiet ? "" : "#  Children      Self\n#\n");
    for (uint32_t m = 0; m < lines->members; m++) {
        const uint32_t event = lines->leader + m;
        const uint64_t least = (uint64_t)((double)r->events.sums.totals[event].weight * (r->chain.least / 100));
        PFR_TRY(tree_make_all(r, event, least ? least : 1, err));
        write_subtrees(r, event, to);
    }
    out_char(&to->out, '\n');
    return PFR_OK;
}
