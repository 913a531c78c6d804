/* SPDX-License-Identifier: Apache-2.0 */
/* Combines rows into sorted lines: by the fields of the sort list, weights in descending order, names alphabetically.
 * In a group of events, the leader's weight is compared first, then the weights of the other members. */
#include "view/report/fields/report_common.h"
#include "view/report/fields/report_filter.h"
#include "view/report/rows/report_line.h"
#include "view/report/rows/report_lines.h"
#include "view/report/rows/report_order.h"
#include "view/report/rows/report_rows.h"
#include "view/report/rows/report_ties.h"
#include "view/report/fields/report_groups.h"

#include "base/memory/fail.h"

#include <stdlib.h>

/* --- order --- */

struct comparison {
    const struct report *r;
    const struct lines *lines;
    uint32_t a, b;
    const uint8_t *x, *y; /* interned cells of a and b: not copied, because most comparisons need only one or two */
};

static bool is_same_thread(const struct comparison *c) {
    const unsigned key = lines_thread_key(c->r);
    return key == c->r->chosen.nr_keys || row_cell(c->x, key) == row_cell(c->y, key);
}

static int by_rank(const struct comparison *c, const struct report_field *f) {
    const uint32_t members = f->breaks_ties ? 1 : c->lines->members;
    for (uint32_t m = 0; m < members; m++) {
        const uint64_t p = f->rank(c->r, line_row(c->r, c->lines, c->a, m)),
                       q = f->rank(c->r, line_row(c->r, c->lines, c->b, m));
        if (p != q)
            return p > q ? -1 : 1;
    }
    if (!f->breaks_ties || !c->r->chain.mode || !is_same_thread(c))
        return 0;
    const uint32_t p = line_row(c->r, c->lines, c->a, 0)->depth, q = line_row(c->r, c->lines, c->b, 0)->depth;
    return p == q ? 0 : (p > q) == c->r->chain.caller ? -1 : 1;
}

static int collate(const struct comparison *c, unsigned key, bool in_order) {
    const struct report_field *f = c->r->chosen.keys[key];
    const uint64_t p = row_cell(c->x, key), q = row_cell(c->y, key);
    if (in_order && f->order)
        return f->order(c->r, p, q);
    return f->collate ? f->collate(c->r, p, q) : (p > q) - (p < q);
}

static int by_fields(const struct comparison *c) {
    unsigned key = 0;
    for (unsigned i = 0; i < c->r->chosen.nr_sort; i++) {
        const struct report_field *f = c->r->chosen.sort[i];
        const int order = f->rank ? by_rank(c, f) : collate(c, key++, true);
        if (order)
            return order;
    }
    return 0;
}

static struct comparison compare_lines(const struct comparison *all, uint32_t a, uint32_t b) {
    const struct intern_table *cells = &all->r->rows.cells;
    return (struct comparison){.r = all->r,
                               .lines = all->lines,
                               .a = a,
                               .b = b,
                               .x = intern_get(cells, line_first_row(all->lines, a)).bytes,
                               .y = intern_get(cells, line_first_row(all->lines, b)).bytes};
}

/* Compares only cells. */
static int by_cells(const void *a, const void *b, void *context) {
    const struct comparison c = compare_lines(context, *(const uint32_t *)a, *(const uint32_t *)b);
    int order = 0;
    for (unsigned key = 0; key < c.r->chosen.nr_keys && !order; key++)
        order = collate(&c, key, false);
    return order;
}

/* Equal lines keep the order of `places`. */
static int by_order(const void *a, const void *b, void *context) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct comparison c = compare_lines(context, x, y);
    const int order = by_fields(&c);
    return order ? order : (c.lines->places[x] > c.lines->places[y]) - (c.lines->places[x] < c.lines->places[y]);
}

/* --- lines --- */

static pfr_status add_line(struct report *r, struct lines *lines, pfr_error *err) {
    const size_t size = lines->members * sizeof *lines->rows;
    uint32_t *grown = mem_grow(r->memory, lines->rows, lines->count, &lines->room, 256, size);
    if (!grown)
        return mem_fail(r->memory, err, "lines");
    lines->rows = grown;
    memset(grown + (size_t)lines->count++ * lines->members, 0xff, size);
    return PFR_OK;
}

/* If there is a single event, each row is a line. */
static pfr_status put_row(struct report *r, struct lines *lines, struct intern_table *cells, uint32_t row,
                          pfr_error *err) {
    struct row_cells of;
    uint32_t line = lines->count;
    if (lines->members > 1) {
        rows_cells(r, row, &of);
        PFR_TRY(intern_put(cells, of.of, r->chosen.nr_keys * sizeof *of.of, &line, err));
    }
    if (line == lines->count)
        PFR_TRY(add_line(r, lines, err));
    lines->rows[(size_t)line * lines->members + r->rows.at[row].event - lines->leader] = row;
    return PFR_OK;
}

/* Fills `leaders`: for each event, the event whose table contains its rows. Samples without an event have no table;
 * they use the last index. */
static void learn_leaders(const struct report *r, uint32_t *leaders, uint32_t events) {
    uint32_t last = 0;
    for (uint32_t event = 0; event < events; event++) {
        last = report_members_of(r, event) ? event : last;
        leaders[event] = last;
    }
    leaders[events] = events;
}

struct leaders {
    const struct row *rows;
    uint32_t *of; /* by event: the event whose table contains its rows */
};

static uint32_t leader_of(const void *context, uint32_t row) {
    const struct leaders *leaders = context;
    return leaders->of[leaders->rows[row].event];
}

pfr_status lines_prepare(struct report *r, pfr_error *err) {
    const uint32_t events = r->profile->nr_events;
    if (events < 2 || report_members_of(r, 0) == events)
        return PFR_OK;
    const struct leaders leaders = {r->rows.at, mem_alloc(r->memory, (size_t)events + 1, sizeof *leaders.of)};
    if (!leaders.of)
        return mem_fail(r->memory, err, "report");
    learn_leaders(r, leaders.of, events);
    const pfr_status st = number_lists_make(&r->events.rows, r->memory, r->rows.cells.count, (size_t)events + 1,
                                            leader_of, &leaders, err);
    mem_free(r->memory, leaders.of, (size_t)events + 1, sizeof *leaders.of);
    return st;
}

static pfr_status put_rows(struct report *r, struct lines *lines, pfr_error *err) {
    const struct number_lists *all = &r->events.rows;
    const uint32_t from = all->starts ? all->starts[lines->leader] : 0;
    const uint32_t to = all->starts ? all->starts[lines->leader + 1] : r->rows.cells.count;
    struct intern_table cells;
    pfr_status st = PFR_OK;
    intern_init(&cells, r->memory);
    for (uint32_t i = from; i < to && st >= 0; i++) {
        const uint32_t row = all->starts ? all->at[i] : i, event = r->rows.at[row].event;
        if (event >= lines->leader && event - lines->leader < lines->members && filter_keeps_row(r, &r->rows.at[row]))
            st = put_row(r, lines, &cells, row, err);
    }
    intern_free(&cells);
    return st;
}

/* Whether the line reaches --percent-limit. Always true for a hierarchy, which also sums the rows below the limit. */
static bool is_shown(const struct report *r, const struct lines *lines, uint32_t line) {
    const struct row *row = line_row(r, lines, line, 0);
    const uint64_t weight = r->children ? row->total.weight : row->self.weight;
    return r->options->hierarchy || report_percent(r, lines->leader, weight) >= r->options->percent_limit;
}

/* breaks_ties is not a strict weak order (a < b < c < a is possible), so the result depends on the initial order.
 * Sorting by cells first makes that order independent of how the recording was read. */
static pfr_status sort_by_comparing(struct report *r, struct lines *lines, bool ranked, pfr_error *err) {
    struct comparison c = {.r = r, .lines = lines};
    if (ranked)
        PFR_TRY(lines_rank(r, lines, r->chosen.nr_sort, NULL, err));
    lines->places = mem_alloc(r->memory, lines->orders, sizeof *lines->places);
    if (!lines->places)
        return mem_fail(r->memory, err, "lines");
    if (!ranked)
        qsort_r(lines->order, lines->shown, sizeof *lines->order, by_cells, &c);
    for (uint32_t i = 0; i < lines->shown; i++)
        lines->places[lines->order[i]] = i;
    qsort_r(lines->order, lines->shown, sizeof *lines->order, by_order, &c);
    return PFR_OK;
}

/* The sort field with breaks_ties; nr_sort if there is no such field, or no chains. */
static unsigned find_tied_field(const struct report *r) {
    unsigned i = 0;
    while (i < r->chosen.nr_sort && !(r->chain.mode && r->chosen.sort[i]->breaks_ties))
        i++;
    return i;
}

/* Without a tie-breaking field, no comparisons between lines are needed. If the tie-breaking field is the first field,
 * as is usual, the order by all later fields is computed as a rank. */
static pfr_status sort_lines(struct report *r, struct lines *lines, pfr_error *err) {
    const bool ranked = lines_can_be_ranked(r);
    const unsigned tied = find_tied_field(r);
    if (ranked && tied == r->chosen.nr_sort)
        return lines_rank(r, lines, 0, NULL, err);
    return ranked && tied == 0 ? lines_sort_tied(r, lines, err) : sort_by_comparing(r, lines, ranked, err);
}

static pfr_status put_in_order(struct report *r, struct lines *lines, pfr_error *err) {
    lines->orders = lines->count;
    lines->order = mem_alloc(r->memory, lines->orders, sizeof *lines->order);
    if (!lines->order)
        return mem_fail(r->memory, err, "lines");
    for (uint32_t i = 0; i < lines->count; i++)
        if (is_shown(r, lines, i))
            lines->order[lines->shown++] = i;
    return lines->shown < 2 ? PFR_OK : sort_lines(r, lines, err);
}

pfr_status lines_make(struct report *r, uint32_t leader, uint32_t members, struct lines *lines, pfr_error *err) {
    *lines = (struct lines){.leader = leader, .members = members};
    PFR_TRY(put_rows(r, lines, err));
    return put_in_order(r, lines, err);
}

void lines_free(struct report *r, struct lines *lines) {
    mem_free(r->memory, lines->rows, lines->room, lines->members * sizeof *lines->rows);
    mem_free(r->memory, lines->order, lines->orders, sizeof *lines->order);
    mem_free(r->memory, lines->places, lines->orders, sizeof *lines->places);
}
