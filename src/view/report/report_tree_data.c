/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call trees for programs, where -g asks for them.
 *
 * JSON: a list of frames, each with the place in the list of the frame that it hangs on, so that no depth of calls is a
 * depth of the document:
 *
 *     "tree": [{"frame": "main", "percent": 60.0, "weight": 600, "samples": 6, "self": {...}},
 *              {"parent": 0, "frame": "sieve", ...}]
 *
 * CSV: a line for each chain that ends in a sample, with what it weighs by itself; frames with `;` between, a `;` in a
 * name is \x3b.
 */
#include "view/report/report_print.h"

#include "base/text/escape.h"
#include "base/memory/fail.h"

#include <string.h>

pfr_status tree_of_row(struct report *r, uint32_t row, bool *shown, pfr_error *err) {
    const struct row *at = &r->rows.at[row];
    const uint64_t least = (uint64_t)((double)r->before[at->event].weight * (r->chain.least / 100));
    *shown = row_has_tree(r, row);
    return *shown ? tree_make(r, &r->tree, row, least, err) : PFR_OK;
}

static double share_of_all(const struct report *r, uint32_t event, uint64_t weight) {
    const uint64_t all = r->all[event].weight;
    return all ? 100.0 * (double)weight / (double)all : 0;
}

static void put_frame(struct report *r, uint32_t frame) {
    out_clear(&r->cell.out);
    tree_write_frame(r, frame, &r->cell);
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

static void write_twig(struct report *r, uint32_t event, const struct twig *twig, struct json *j) {
    size_t length;
    put_frame(r, twig->frame);
    const char *text = out_bytes(&r->cell.out, &length);
    json_begin_object(j);
    if (twig->parent != 0) {
        json_key(j, "parent");
        json_u64(j, twig->parent - 1);
    }
    json_key(j, "frame");
    json_string(j, text ? text : "", length);
    write_weight(r, event, twig->total, j);
    if (twig->own.samples) {
        json_key(j, "self");
        json_begin_object(j);
        write_weight(r, event, twig->own, j);
        json_end_object(j);
    }
    json_end_object(j);
}

pfr_status tree_write_json(struct report *r, uint32_t row, struct json *j, pfr_error *err) {
    bool shown;
    if (row == NO_ROW || !r->asks_trees)
        return PFR_OK;
    PFR_TRY(tree_of_row(r, row, &shown, err));
    json_key(j, "tree");
    json_begin_array(j);
    for (size_t i = 1; shown && i < r->tree.count; i++)
        write_twig(r, r->rows.at[row].event, &r->tree.twigs[i], j);
    json_end_array(j);
    return PFR_OK;
}

/* --- CSV --- */

static pfr_status push_frame(struct report *r, size_t count, uint32_t twig, pfr_error *err) {
    struct tree *t = &r->tree;
    void *grown = mem_grow(r->memory, t->ends, count, &t->ends_room, 64, sizeof *t->ends);
    if (!grown)
        return mem_fail(r->memory, err, "tree");
    t->ends = grown;
    t->ends[count] = twig;
    return PFR_OK;
}

/* A frame in its escaped form, with what separates frames escaped too. */
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

/* From the outermost frame of the tree to the twig. */
static pfr_status write_chain(struct report *r, uint32_t twig, struct output *to, pfr_error *err) {
    const struct twig *twigs = r->tree.twigs;
    struct output chain;
    size_t count = 0, length;
    for (uint32_t at = twig; at != 0; at = twigs[at].parent)
        PFR_TRY(push_frame(r, count++, at, err));
    out_open_memory(&chain, r->memory);
    while (count-- > 0) {
        add_frame(r, twigs[r->tree.ends[count]].frame, &chain);
        out_text(&chain, count ? ";" : "");
    }
    const char *text = out_bytes(&chain, &length);
    out_csv_escaped(to, text ? text : "", length);
    const pfr_status st = chain.status < 0 ? mem_fail(r->memory, err, "tree") : PFR_OK;
    out_close(&chain, NULL);
    return st;
}

static pfr_status write_end(struct report *r, const char *cells, size_t length, uint32_t twig, struct output *to,
                            pfr_error *err) {
    const struct profile_weight own = r->tree.twigs[twig].own;
    out_write(to, cells, length);
    out_char(to, ',');
    out_u64(to, profile_amount(r->profile, own.weight));
    out_char(to, ',');
    out_u64(to, own.samples);
    out_char(to, ',');
    PFR_TRY(write_chain(r, twig, to, err));
    out_char(to, '\n');
    return PFR_OK;
}

pfr_status tree_write_csv(struct report *r, uint32_t row, const char *cells, size_t length, struct output *to,
                          pfr_error *err) {
    bool shown = false, any = false;
    if (row != NO_ROW)
        PFR_TRY(tree_of_row(r, row, &shown, err));
    for (uint32_t i = 1; shown && i < r->tree.count; i++) {
        if (!r->tree.twigs[i].own.samples)
            continue;
        any = true;
        PFR_TRY(write_end(r, cells, length, i, to, err));
    }
    if (!any) {
        out_write(to, cells, length);
        out_text(to, ",0,0,\"\"\n");
    }
    return PFR_OK;
}
