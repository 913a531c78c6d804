/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts lines whose first sort field is a weight with breaks_ties: among equal lines of one thread, a caller comes
 * before its callees. The caller is recognized by its chain (row.depth), which is longer than that of a callee if trees
 * are caller first, and shorter otherwise. Other equal lines are ordered by all further fields. The order by all
 * further fields is computed beforehand as a rank (report_order.c), so that comparing two lines needs only a few
 * adjacent words.
 */
#include "view/report/rows/report_ties.h"
#include "view/report/rows/report_line.h"
#include "view/report/rows/report_order.h"

#include "base/memory/fail.h"

#include <stdlib.h>

struct tied_line {
    uint64_t weight, thread;
    uint32_t depth, place, line;
};

struct ties {
    const struct report *r;
    struct lines *lines;
    struct tied_line *at;       /* in the order of cells before it is sorted */
    uint32_t *cells, *place_of; /* cells: lines in the order of their cells; place_of: rank of each line */
};

static int by_weight(const void *a, const void *b, void *caller) {
    const struct tied_line *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->thread == y->thread && x->depth != y->depth)
        return (x->depth > y->depth) == *(const bool *)caller ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static struct tied_line make_tied(const struct ties *t, uint32_t line) {
    const unsigned key = lines_thread_key(t->r);
    const struct row *row = line_row(t->r, t->lines, line, 0);
    return (struct tied_line){.weight = t->r->chosen.sort[0]->rank(t->r, row),
                              .thread = key < t->r->chosen.nr_keys ? line_cell(t->r, t->lines, line, key) : 0,
                              .depth = row->depth,
                              .place = t->place_of[line],
                              .line = line};
}

static pfr_status sort(struct ties *t, pfr_error *err) {
    uint32_t *const order = t->lines->order;
    const uint32_t shown = t->lines->shown;
    bool caller = t->r->chain.caller;
    PFR_TRY(lines_rank(t->r, t->lines, 1, t->cells, err));
    for (uint32_t i = 0; i < shown; i++)
        t->place_of[order[i]] = i;
    for (uint32_t i = 0; i < shown; i++)
        t->at[i] = make_tied(t, t->cells[i]);
    qsort_r(t->at, shown, sizeof *t->at, by_weight, &caller);
    for (uint32_t i = 0; i < shown; i++)
        order[i] = t->at[i].line;
    return PFR_OK;
}

pfr_status lines_sort_tied(const struct report *r, struct lines *lines, pfr_error *err) {
    struct memory *memory = r->memory;
    struct ties t = {.r = r, .lines = lines};
    t.at = mem_alloc(memory, lines->shown, sizeof *t.at);
    t.cells = mem_alloc(memory, lines->shown, sizeof *t.cells);
    t.place_of = mem_alloc(memory, lines->count, sizeof *t.place_of);
    const bool good = t.at && t.cells && t.place_of;
    const pfr_status st = good ? sort(&t, err) : mem_fail(memory, err, "lines");
    mem_free(memory, t.at, lines->shown, sizeof *t.at);
    mem_free(memory, t.cells, lines->shown, sizeof *t.cells);
    mem_free(memory, t.place_of, lines->count, sizeof *t.place_of);
    return st;
}
