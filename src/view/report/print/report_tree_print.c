/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a call tree like perf: frames in a chain without branches or own samples are listed below each other, and each
 * branch is indented by one step:
 *
 *             |
 *             ---_start
 *                main
 *                |
 *                |--60.00%--sieve
 *                |
 *                 --40.00%--scramble
 */
#include "view/report/fields/report_common.h"
#include "view/report/print/report_tree.h"
#include "view/report/print/report_tree_print.h"
#include "view/report/rows/report_tree_roots.h"
#include "view/report/fields/report_cells.h"
#include "view/report/print/report_table_lines.h"

#include "base/memory/fail.h"

#include <stdlib.h>
#include <string.h>

#define MARGIN 12u
#define STEP 10u

struct tree_printer {
    struct report *r;
    struct report_tree *t;
    pfr_output *to;
    struct output *out;
    const struct row *row;
    uint64_t whole; /* total weight of the row's chains */
    uint32_t margin;
    uint64_t end; /* output limit, as a position in `out`; no new line begins after it */
};

static bool is_over(const struct tree_printer *p) {
    return out_written(p->out) > p->end;
}

static bool goes_on(const struct report_tree *t, uint32_t subtree) {
    return t->subtrees[subtree].all == 1 && t->subtrees[subtree].count == 1 && !t->subtrees[subtree].own.samples;
}

void tree_write_frame(struct report *r, uint32_t frame, size_t before, pfr_output *to) {
    const struct profile_frame *f = report_frame(r, frame);
    if (f->text == NO_TEXT) {
        out_text(&to->out, f->ip ? "0x" : "");
        out_hex(&to->out, f->ip, 1);
        return;
    }
    report_write_function(r, f, before, to);
    if (!r->chain.by_address)
        return;
    out_text(&to->out, " +");
    out_u64(&to->out, f->address - f->start);
}

static void print_frame(const struct tree_printer *p, uint32_t frame, size_t before) {
    tree_write_frame(p->r, frame, before, p->to);
}

/* Returns the printed width in columns, not counting color sequences. */
static size_t print_value(const struct tree_printer *p, struct profile_weight weight, uint64_t total) {
    const uint64_t before = out_written(p->out);
    if (p->r->chain.value == CHAIN_COUNT) {
        out_u64(p->out, weight.samples);
        return (size_t)(out_written(p->out) - before);
    }
    if (p->r->chain.value == CHAIN_PERIOD) {
        out_u64(p->out, profile_amount(p->r->profile, weight.weight));
        return (size_t)(out_written(p->out) - before);
    }
    const double percent = total ? 100.0 * (double)weight.weight / (double)total : 0;
    const char *color = report_color(p->r, percent);
    out_text(p->out, color ? color : "");
    out_f64(p->out, percent, 2);
    out_char(p->out, '%');
    out_text(p->out, color ? REPORT_COLOR_ENDS : "");
    return (size_t)(out_written(p->out) - before) - (color ? strlen(color) + strlen(REPORT_COLOR_ENDS) : 0);
}

/* --- graph, fractal --- */

/* Prints the margin and the vertical lines of `depth` levels. Returns the width in columns. */
static size_t print_pipes(const struct tree_printer *p, size_t depth) {
    out_pad(p->out, p->margin);
    for (size_t i = 0; i < depth; i++) {
        out_char(p->out, p->t->levels[i].pipe ? '|' : ' ');
        if (i + 1 < depth)
            out_pad(p->out, STEP);
    }
    return p->margin + depth + (depth ? (depth - 1) * STEP : 0);
}

/* Prints a branch with its weight; returns the width printed before the name that follows. */
static size_t print_branch(const struct tree_printer *p, size_t depth, struct profile_weight weight, uint64_t total) {
    const size_t before = print_pipes(p, depth);
    out_write(p->out, "--", 2);
    const size_t width = print_value(p, weight, total);
    out_write(p->out, "--", 2);
    return before + width + 4;
}

/* Prints a subtree and its descendants up to the next branch; returns the last printed subtree. */
static uint32_t print_run(const struct tree_printer *p, size_t depth, uint32_t subtree, uint64_t total) {
    const size_t before = print_branch(p, depth, p->t->subtrees[subtree].total, total);
    print_frame(p, p->t->subtrees[subtree].frame, before);
    out_char(p->out, '\n');
    while (goes_on(p->t, subtree) && !is_over(p)) {
        subtree = p->t->subtrees[subtree].first;
        const size_t pipes = print_pipes(p, depth);
        out_pad(p->out, STEP);
        print_frame(p, p->t->subtrees[subtree].frame, pipes + STEP);
        out_char(p->out, '\n');
    }
    return subtree;
}

static pfr_status push_level(const struct tree_printer *p, size_t depth, struct tree_level level, pfr_error *err) {
    struct report_tree *t = p->t;
    if (depth >= t->levels_room) {
        void *grown = mem_grow(p->r->memory, t->levels, t->levels_room, &t->levels_room, 32, sizeof *t->levels);
        if (!grown)
            return mem_fail(p->r->memory, err, "tree");
        t->levels = grown;
    }
    t->levels[depth] = level;
    return PFR_OK;
}

static struct tree_level level_below(const struct report_tree *t, uint32_t subtree, uint64_t total) {
    const struct subtree *above = &t->subtrees[subtree];
    return (struct tree_level){.at = above->first,
                               .end = above->first + above->count,
                               .total = total,
                               .rest = total,
                               .rest_samples = above->total.samples - above->own.samples,
                               .pipe = true};
}

/* Mode fractal: prints "[...]" with the weight of the subtrees that this level does not list. */
static void print_rest(const struct tree_printer *p, size_t depth) {
    struct tree_level *level = &p->t->levels[depth - 1];
    if (is_over(p) || p->r->chain.mode != CHAIN_FRACTAL || level->rest == 0 || level->rest == level->total ||
        (p->r->chain.value == CHAIN_COUNT && level->rest_samples == 0))
        return;
    level->pipe = false;
    print_branch(p, depth, (struct profile_weight){level->rest, level->rest_samples}, level->total);
    out_text(p->out, "[...]\n");
}

/* Prints the next subtree of the innermost level; false at the end of the level. */
static bool print_next(const struct tree_printer *p, size_t depth, uint32_t *last) {
    struct tree_level *level = &p->t->levels[depth - 1];
    if (is_over(p) || level->at == level->end || (level->printed && level->printed == p->r->chain.most))
        return false;
    const struct subtree *subtree = &p->t->subtrees[level->at];
    level->rest -= subtree->total.weight;
    level->rest_samples -= subtree->total.samples;
    print_pipes(p, depth);
    out_pad(p->out, STEP);
    out_char(p->out, '\n');
    if (level->at + 1 == level->end && (p->r->chain.mode != CHAIN_FRACTAL || level->rest == 0))
        level->pipe = false;
    *last = print_run(p, depth, level->at, level->total);
    level->at++;
    level->printed++;
    return true;
}

static uint64_t total_below(const struct tree_printer *p, uint32_t subtree, uint64_t total) {
    const struct subtree *t = &p->t->subtrees[subtree];
    return p->r->chain.mode == CHAIN_FRACTAL ? t->total.weight - t->own.weight : total;
}

static pfr_status print_levels(const struct tree_printer *p, uint32_t top, uint64_t total, pfr_error *err) {
    size_t depth = 1;
    uint32_t last;
    PFR_TRY(push_level(p, 0, level_below(p->t, top, total), err));
    while (depth > 0) {
        if (print_next(p, depth, &last)) {
            const uint64_t below = total_below(p, last, p->t->levels[depth - 1].total);
            PFR_TRY(push_level(p, depth++, level_below(p->t, last, below), err));
        } else {
            print_rest(p, depth--);
        }
    }
    return PFR_OK;
}

/* Prints the frames common to all chains of the row; returns the last printed subtree. */
static uint32_t print_stem(struct tree_printer *p, bool *printed) {
    uint32_t subtree = p->t->subtrees[0].first, count = 0;
    bool skips = p->r->trees.skips_first;
    for (;; subtree = p->t->subtrees[subtree].first, skips = false) {
        if (!skips) {
            out_pad(p->out, MARGIN);
            out_text(p->out, count ? "   " : "|\n");
            if (!count) {
                out_pad(p->out, MARGIN);
                out_text(p->out, "---");
            }
            print_frame(p, p->t->subtrees[subtree].frame, MARGIN + 3);
            out_char(p->out, '\n');
            p->margin = MARGIN + 3;
            *printed = true;
            if (++count == p->r->chain.most)
                break;
        }
        if (!goes_on(p->t, subtree))
            break;
    }
    while (goes_on(p->t, subtree))
        subtree = p->t->subtrees[subtree].first;
    return subtree;
}

static pfr_status print_graph(struct tree_printer *p, uint64_t total, pfr_error *err) {
    const struct subtree *all = &p->t->subtrees[0];
    uint32_t top = 0;
    bool printed = false;
    if (all->count == 1 && p->t->subtrees[all->first].total.weight == p->whole)
        top = print_stem(p, &printed);
    if (p->r->chain.mode == CHAIN_FRACTAL)
        total = p->whole;
    PFR_TRY(print_levels(p, top, total, err));
    if (printed || p->t->subtrees[top].count)
        out_char(p->out, '\n');
    return PFR_OK;
}

/* --- flat, folded: one chain after another --- */

/* Heaviest first. Chains of equal weight stay in the order of traversal, which is stored in `items` once the tree has
   grown. */
static int by_own(const void *a, const void *b, void *context) {
    const struct report_tree *t = context;
    const struct subtree *x = &t->subtrees[*(const uint32_t *)a], *y = &t->subtrees[*(const uint32_t *)b];
    if (x->own.weight != y->own.weight)
        return x->own.weight > y->own.weight ? -1 : 1;
    return (x->items > y->items) - (x->items < y->items);
}

static pfr_status push_end(const struct tree_printer *p, size_t count, uint32_t subtree, pfr_error *err) {
    struct report_tree *t = p->t;
    void *grown = mem_grow(p->r->memory, t->ends, count, &t->ends_room, 64, sizeof *t->ends);
    if (!grown)
        return mem_fail(p->r->memory, err, "tree");
    t->ends = grown;
    t->ends[count] = subtree;
    return PFR_OK;
}

/* Prints the frames of a chain from the root of the tree down. Collects them in t->ends, after the list of ends. */
static pfr_status print_chain(const struct tree_printer *p, size_t behind, uint32_t subtree, pfr_error *err) {
    const bool folded = p->r->chain.mode == CHAIN_FOLDED; /* read by programs, so names are never cut */
    const char *separator = p->r->options->separator ? p->r->options->separator : ";";
    size_t count = behind;
    for (uint32_t at = subtree; at != 0; at = p->t->subtrees[at].parent)
        PFR_TRY(push_end(p, count++, at, err));
    for (size_t i = count; i-- > behind;) {
        if (!folded)
            out_pad(p->out, MARGIN + 4);
        print_frame(p, p->t->subtrees[p->t->ends[i]].frame, MARGIN + 4);
        out_text(p->out, !folded ? "\n" : i > behind ? separator : "");
    }
    out_char(p->out, '\n');
    return PFR_OK;
}

static pfr_status print_ends(const struct tree_printer *p, size_t count, uint64_t total, pfr_error *err) {
    const bool folded = p->r->chain.mode == CHAIN_FOLDED;
    const size_t most = p->r->chain.most && p->r->chain.most < count ? p->r->chain.most : count;
    for (size_t i = 0; i < most && !is_over(p); i++) {
        const uint32_t end = p->t->ends[i];
        const struct subtree *subtree = &p->t->subtrees[end];
        out_pad(p->out, folded ? 0 : MARGIN - 1);
        print_value(p, folded ? subtree->own : subtree->total, total);
        out_char(p->out, folded ? ' ' : '\n');
        PFR_TRY(print_chain(p, count, end, err));
    }
    return PFR_OK;
}

static uint32_t first_leaf(const struct report_tree *t, uint32_t subtree) {
    while (t->subtrees[subtree].count)
        subtree = t->subtrees[subtree].first;
    return subtree;
}

/* Returns the next subtree in postorder: the first leaf of the next sibling, or the parent after the last sibling. */
static uint32_t next_subtree(const struct report_tree *t, uint32_t subtree) {
    const uint32_t parent = t->subtrees[subtree].parent;
    const bool is_last = subtree + 1 == t->subtrees[parent].first + t->subtrees[parent].count;
    return is_last ? parent : first_leaf(t, subtree + 1);
}

static pfr_status print_flat(const struct tree_printer *p, uint64_t total, uint64_t least, pfr_error *err) {
    struct report_tree *t = p->t;
    uint32_t count = 0;
    for (uint32_t at = first_leaf(t, 0); at != 0; at = next_subtree(t, at)) {
        t->subtrees[at].items = count;
        if (t->subtrees[at].own.weight && t->subtrees[at].own.weight >= least)
            PFR_TRY(push_end(p, count++, at, err));
    }
    if (count > 1)
        qsort_r(t->ends, count, sizeof *t->ends, by_own, t);
    return print_ends(p, count, total, err);
}

pfr_status tree_print(struct report *r, struct report_tree *tree, uint32_t row, uint64_t most, pfr_output *to,
                      pfr_error *err) {
    const struct row *at = &r->rows.at[row];
    struct tree_printer p = {.r = r, .t = tree, .to = to, .out = &to->out, .row = at, .margin = MARGIN};
    p.end = out_written(p.out);
    p.end = p.end > UINT64_MAX - most ? UINT64_MAX : p.end + most;
    const uint64_t total = r->events.sums.all[at->event].weight;
    const uint64_t least = (uint64_t)((double)r->events.sums.before[at->event].weight * (r->chain.least / 100));
    p.whole = r->children ? at->total.weight : at->self.weight;
    if (!row_has_tree(r, row))
        return PFR_OK;
    PFR_TRY(tree_make(r, tree, row, least, err));
    if (r->chain.mode == CHAIN_GRAPH || r->chain.mode == CHAIN_FRACTAL)
        return print_graph(&p, total, err);
    return print_flat(&p, total, least, err);
}
