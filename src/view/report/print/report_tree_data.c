/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call trees in CSV and JSON, written if -g asks for them.
 *
 * JSON: a tree is a list of frames; each frame has the index of its parent in the list, so deep call trees do not nest
 * the document deeply:
 *
 *     "tree": [{"frame": "main", "percent": 60.0, "weight": 600, "samples": 6, "self": {...}},
 *              {"parent": 0, "frame": "sieve", ...}]
 *
 * CSV: one line for each chain that ends in a sample, with the weight of that chain; `;` separates frames, and a `;` in
 * a name is written as \x3b.
 *
 * Rows repeat the chains that they share, so all trees together have one output limit (--limit trees=BYTES). A cut tree
 * states the part of the row's weight that the tree does not list; if no room is left, the tree is not made at all.
 */
#include "view/report/print/report_tree.h"
#include "view/report/rows/report_tree_roots.h"
#include "view/report/print/report_tree_data.h"
#include "view/report/print/report_tree_print.h"

#include "base/text/escape.h"
#include "base/memory/fail.h"

#include <string.h>

static pfr_status make_tree(struct report *r, uint32_t row, pfr_error *err) {
    const struct row *at = &r->rows.at[row];
    const uint64_t least = (uint64_t)((double)r->events.sums.before[at->event].weight * (r->chain.least / 100));
    return tree_make(r, &r->trees.whole, row, least, err);
}

static struct profile_weight take_away(struct profile_weight from, struct profile_weight part) {
    return (struct profile_weight){from.weight > part.weight ? from.weight - part.weight : 0,
                                   from.samples > part.samples ? from.samples - part.samples : 0};
}

/* Counts a cut tree, and returns the part of the row's weight that the tree does not list. */
static struct profile_weight cut_here(struct report *r, uint32_t row, struct profile_weight listed) {
    const struct row *at = &r->rows.at[row];
    r->trees.budget.left = 0;
    r->trees.budget.cut++;
    return take_away(r->children ? at->total : at->self, listed);
}

static void add_own(struct profile_weight *to, const struct subtree *subtree) {
    to->weight += subtree->own.weight;
    to->samples += subtree->own.samples;
}

static double share_of_all(const struct report *r, uint32_t event, uint64_t weight) {
    const uint64_t all = r->events.sums.all[event].weight;
    return all ? 100.0 * (double)weight / (double)all : 0;
}

static void put_frame(struct report *r, uint32_t frame) {
    out_clear(&r->cell.out);
    tree_write_frame(r, frame, 0, &r->cell);
}

/* --- JSON --- */

static void write_weight(const struct report *r, uint32_t event, struct profile_weight weight, struct json *j) {
    json_key(j, "percent");
    json_f64(j, share_of_all(r, event, weight.weight));
    json_key(j, "weight");
    json_u64(j, profile_amount(r->profile, weight.weight));
    json_key(j, "samples");
    json_u64(j, weight.samples);
}

static void write_subtree(struct report *r, uint32_t event, const struct subtree *subtree, struct json *j) {
    size_t length;
    put_frame(r, subtree->frame);
    const char *text = out_bytes(&r->cell.out, &length);
    json_begin_object(j);
    if (subtree->parent != 0) {
        json_key(j, "parent");
        json_u64(j, subtree->parent - 1);
    }
    json_key(j, "frame");
    json_string(j, text ? text : "", length);
    write_weight(r, event, subtree->total, j);
    if (subtree->own.samples) {
        json_key(j, "self");
        json_begin_object(j);
        write_weight(r, event, subtree->own, j);
        json_end_object(j);
    }
    json_end_object(j);
}

static void write_limit(struct report *r, uint32_t row, struct profile_weight listed, struct json *j) {
    const struct profile_weight rest = cut_here(r, row, listed);
    json_key(j, "tree_limit");
    json_begin_object(j);
    write_weight(r, r->rows.at[row].event, rest, j);
    json_end_object(j);
}

/* Writes subtrees up to the limit. Returns whether all of them were written. */
static bool write_subtrees(struct report *r, uint32_t event, struct profile_weight *listed, struct json *j) {
    for (size_t i = 1; i < r->trees.whole.count; i++) {
        const struct subtree *const subtree = &r->trees.whole.subtrees[i];
        const uint64_t before = out_written(j->out);
        if (!r->trees.budget.left)
            return false;
        write_subtree(r, event, subtree, j);
        tree_text_take(r, out_written(j->out) - before);
        add_own(listed, subtree);
    }
    return true;
}

pfr_status tree_write_json(struct report *r, uint32_t row, struct json *j, pfr_error *err) {
    struct profile_weight listed = {0, 0};
    if (row == NO_ROW || !r->trees.is_asked)
        return PFR_OK;
    const bool shown = row_has_tree(r, row);
    bool whole = !shown || r->trees.budget.left;
    if (shown && whole)
        PFR_TRY(make_tree(r, row, err));
    json_key(j, "tree");
    json_begin_array(j);
    if (shown && whole)
        whole = write_subtrees(r, r->rows.at[row].event, &listed, j);
    json_end_array(j);
    if (!whole)
        write_limit(r, row, listed, j);
    return PFR_OK;
}

/* --- CSV --- */

static pfr_status push_frame(struct report *r, size_t count, uint32_t subtree, pfr_error *err) {
    struct report_tree *t = &r->trees.whole;
    void *grown = mem_grow(r->memory, t->ends, count, &t->ends_room, 64, sizeof *t->ends);
    if (!grown)
        return mem_fail(r->memory, err, "tree");
    t->ends = grown;
    t->ends[count] = subtree;
    return PFR_OK;
}

/* Appends a frame in its escaped form; the separator of frames is escaped, too. */
static void add_frame(struct report *r, uint32_t frame, struct output *chain) {
    size_t length;
    put_frame(r, frame);
    const char *text = out_bytes(&r->cell.out, &length);
    if (!length)
        return;
    for (const char *end = text + length; text < end;) {
        const char *mark = memchr(text, ';', (size_t)(end - text));
        const char *stop = mark ? mark : end;
        out_escaped(chain, text, (size_t)(stop - text));
        out_text(chain, mark ? "\\x3b" : "");
        text = stop + (mark != NULL);
    }
}

/* Makes the chain from the outermost frame of the tree to this subtree. */
static pfr_status make_chain(struct report *r, uint32_t subtree, struct output *chain, pfr_error *err) {
    const struct subtree *subtrees = r->trees.whole.subtrees;
    size_t count = 0;
    for (uint32_t at = subtree; at != 0; at = subtrees[at].parent)
        PFR_TRY(push_frame(r, count++, at, err));
    while (count-- > 0) {
        add_frame(r, subtrees[r->trees.whole.ends[count]].frame, chain);
        out_text(chain, count ? ";" : "");
    }
    return chain->status < 0 ? mem_fail(r->memory, err, "tree") : PFR_OK;
}

struct csv_row {
    const char *cells;
    size_t length;
    struct output *to;
    struct profile_weight listed;
    bool any;
};

static void write_end(const struct report *r, const struct csv_row *of, struct profile_weight own, const char *chain,
                      size_t length) {
    out_write(of->to, of->cells, of->length);
    out_char(of->to, ',');
    out_u64(of->to, profile_amount(r->profile, own.weight));
    out_char(of->to, ',');
    out_u64(of->to, own.samples);
    out_char(of->to, ',');
    out_csv_escaped(of->to, chain, length);
    out_char(of->to, '\n');
}

/* Sets *whole to false if the limit leaves no room for the chain. */
static pfr_status write_chain(struct report *r, uint32_t subtree, struct csv_row *of, bool *whole, pfr_error *err) {
    struct output chain;
    size_t length;
    out_open_memory(&chain, r->memory);
    const pfr_status st = make_chain(r, subtree, &chain, err);
    const char *text = out_bytes(&chain, &length);
    *whole = length + of->length <= r->trees.budget.left;
    if (st >= 0 && *whole) {
        write_end(r, of, r->trees.whole.subtrees[subtree].own, text ? text : "", length);
        tree_text_take(r, length + of->length);
        add_own(&of->listed, &r->trees.whole.subtrees[subtree]);
    }
    of->any = true;
    out_close(&chain, NULL);
    return st;
}

static pfr_status write_chains(struct report *r, struct csv_row *of, bool *whole, pfr_error *err) {
    for (uint32_t i = 1; *whole && i < r->trees.whole.count; i++)
        if (r->trees.whole.subtrees[i].own.samples)
            PFR_TRY(write_chain(r, i, of, whole, err));
    return PFR_OK;
}

pfr_status tree_write_csv(struct report *r, uint32_t row, const char *cells, size_t length, struct output *to,
                          pfr_error *err) {
    static const char limit[] = "[limit]";
    struct csv_row of = {.cells = cells, .length = length, .to = to};
    const bool shown = row != NO_ROW && row_has_tree(r, row);
    bool whole = !shown || r->trees.budget.left;
    if (shown && whole) {
        PFR_TRY(make_tree(r, row, err));
        PFR_TRY(write_chains(r, &of, &whole, err));
    }
    if (!whole) {
        write_end(r, &of, cut_here(r, row, of.listed), limit, sizeof limit - 1);
    } else if (!of.any) {
        out_write(to, cells, length);
        out_text(to, ",0,0,\"\"\n");
    }
    return PFR_OK;
}
