/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines in order without comparing any two of them: what a field says of each becomes a number, its rank among all that
 * is said, and lines are sorted by these numbers, from the last field to the first one. Only the different things that
 * a field says are compared, which are far fewer than lines.
 *
 * That takes fields whose orders are such in the strict sense. Places that are no sampled symbols have none, nor have
 * equal lines of chains, where the longer one comes first: report_lines.c compares those.
 */
#include "base/fail.h"
#include "base/radix.h"
#include "view/report_cells.h"

#include <stdlib.h>

struct ranking {
    const struct report *r;
    const struct lines *lines;
    struct radix_item *items, *spare; /* a line each */
    report_collate *compare;
};

static bool is_strict(const struct report_field *f) {
    return f->strict || (f->collate != collate_symbols && f->collate != collate_code);
}

bool lines_can_be_ranked(const struct report *r) {
    for (unsigned i = 0; i < r->nr_keys; i++)
        if (!is_strict(r->keys[i]))
            return false;
    return true;
}

/* --- ranks --- */

static int compare_values(const void *a, const void *b, void *context) {
    const struct radix_item *x = a, *y = b;
    const struct ranking *k = context;
    if (k->compare)
        return k->compare(k->r, x->key, y->key);
    return (x->key > y->key) - (x->key < y->key);
}

/* Items are in the order of values: the different ones, and where each begins, into `spare`. */
static uint32_t find_values(const struct radix_item *items, uint32_t count, struct radix_item *spare) {
    uint32_t values = 0;
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || items[i].key != items[i - 1].key)
            spare[values++] = (struct radix_item){items[i].key, i};
    return values;
}

/* Puts the rank of what a field says of each line in the place of that. */
static void put_ranks(struct ranking *k, const uint64_t *said, uint64_t *ranks) {
    const uint32_t count = k->lines->shown;
    for (uint32_t i = 0; i < count; i++)
        k->items[i] = (struct radix_item){said[k->lines->order[i]], k->lines->order[i]};
    struct radix_item *const items = radix_sort(k->items, k->spare, count);
    struct radix_item *const values = items == k->items ? k->spare : k->items;
    const uint32_t nr_values = find_values(items, count, values);
    uint64_t rank = 0;
    qsort_r(values, nr_values, sizeof *values, compare_values, k);
    for (uint32_t v = 0; v < nr_values; v++) {
        const uint64_t value = values[v].key;
        rank += v > 0 && compare_values(&values[v - 1], &values[v], k) != 0;
        for (uint32_t i = values[v].value; i < count && items[i].key == value; i++)
            ranks[items[i].value] = rank;
    }
}

/* --- order --- */

static void sort_lines(struct ranking *k, const uint64_t *numbers) {
    uint32_t *const order = k->lines->order;
    const uint32_t count = k->lines->shown;
    for (uint32_t i = 0; i < count; i++)
        k->items[i] = (struct radix_item){numbers[order[i]], order[i]};
    const struct radix_item *sorted = radix_sort(k->items, k->spare, count);
    for (uint32_t i = 0; i < count; i++)
        order[i] = sorted[i].value;
}

static void sort_by_key(struct ranking *k, unsigned key, report_collate *compare, uint64_t *numbers) {
    for (uint32_t i = 0; i < k->lines->shown; i++) {
        const uint32_t line = k->lines->order[i];
        numbers[line] = line_cell(k->r, k->lines, line, key);
    }
    k->compare = compare;
    put_ranks(k, numbers, numbers);
    sort_lines(k, numbers);
}

/* The most first; in a group of events the leader's comes before the others'. */
static void sort_by_weight(struct ranking *k, const struct report_field *f, uint64_t *numbers) {
    for (uint32_t m = f->breaks_ties ? 1 : k->lines->members; m-- > 0;) {
        for (uint32_t i = 0; i < k->lines->shown; i++) {
            const uint32_t line = k->lines->order[i];
            numbers[line] = ~f->rank(line_row(k->r, k->lines, line, m));
        }
        sort_lines(k, numbers);
    }
}

/* Those of equal cells stay as they were. */
static void sort_by_cells(struct ranking *k, uint64_t *numbers) {
    for (unsigned i = k->r->nr_keys; i-- > 0;)
        sort_by_key(k, i, k->r->keys[i]->strict ? k->r->keys[i]->strict : k->r->keys[i]->collate, numbers);
}

static void sort_by_fields(struct ranking *k, uint64_t *numbers) {
    unsigned key = k->r->nr_keys;
    for (unsigned i = k->r->nr_sort; i-- > 0;) {
        const struct report_field *f = k->r->sort[i];
        if (f->rank)
            sort_by_weight(k, f, numbers);
        else
            sort_by_key(k, --key, f->order ? f->order : f->collate, numbers);
    }
}

pfr_status lines_rank(const struct report *r, struct lines *lines, pfr_error *err) {
    const size_t count = lines->shown;
    uint64_t *numbers = mem_alloc(r->memory, lines->count, sizeof *numbers);
    struct radix_item *items = mem_alloc(r->memory, 2 * count, sizeof *items);
    const bool good = numbers && items;
    if (good) {
        struct ranking k = {.r = r, .lines = lines, .items = items, .spare = items + count};
        sort_by_cells(&k, numbers);
        if (r->chain.mode == CHAIN_NONE)
            sort_by_fields(&k, numbers);
    }
    mem_free(r->memory, numbers, lines->count, sizeof *numbers);
    mem_free(r->memory, items, 2 * count, sizeof *items);
    return good ? PFR_OK : mem_fail(r->memory, err, "lines");
}
