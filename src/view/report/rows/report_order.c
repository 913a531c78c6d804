/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts lines without comparing them pairwise. Each field's value becomes a rank among all its values. Lines are
 * radix-sorted by these ranks, from the last field to the first; each pass uses as many ranks as fit into 64 bits.
 * Comparisons are few: there are far fewer distinct values than lines, and only distinct values with equal coarse
 * numbers (struct report_field) are compared.
 *
 * The fields must have strict weak orders. Two orders are not strict weak orders: symbols compared by collate_symbols,
 * and the rule that orders equal lines by the length of their chains. report_lines.c compares such lines.
 */
#include "view/report/rows/report_line.h"
#include "view/report/rows/report_order.h"
#include "base/memory/fail.h"
#include "base/tables/radix.h"
#include "view/report/fields/report_cells.h"

#include <stdlib.h>
#include <string.h>

struct ranking {
    const struct report *r;
    const struct lines *lines;
    uint32_t *ascending;              /* the shown lines in ascending order of number */
    uint64_t *numbers, *packed;       /* by line: one field's values or ranks; sort keys of the next pass, packed */
    unsigned bits;                    /* used in `packed` */
    struct radix_item *items, *spare; /* one element per line; `spare` is scratch memory */
    report_collate *compare;
    report_coarse *coarse;
};

static bool is_strict(const struct report_field *f) {
    return f->strict || (f->collate != collate_symbols && f->collate != collate_code);
}

bool lines_can_be_ranked(const struct report *r) {
    for (unsigned i = 0; i < r->chosen.nr_keys; i++)
        if (!is_strict(r->chosen.keys[i]))
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

/* Copies the distinct values of the sorted items, and the index where each begins, to `spare`. */
static uint32_t find_values(const struct radix_item *items, uint32_t count, struct radix_item *spare) {
    uint32_t values = 0;
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || items[i].key != items[i - 1].key)
            spare[values++] = (struct radix_item){items[i].key, i};
    return values;
}

static void sort_values(struct ranking *k, struct radix_item *values, uint32_t count) {
    uint32_t i = 1;
    while (i < count && compare_values(&values[i - 1], &values[i], k) <= 0)
        i++;
    if (i < count)
        qsort_r(values, count, sizeof *values, compare_values, k);
}

/* Replaces values that have the same coarse number by their ranks, starting at `rank`. Returns the next rank. */
static uint64_t rank_run(struct ranking *k, struct radix_item *run, struct radix_item *spare, uint32_t count,
                         uint64_t rank) {
    for (uint32_t i = 0; i < count; i++)
        run[i].key = k->numbers[run[i].value];
    struct radix_item *const items = radix_sort(run, spare, count);
    struct radix_item *const values = items == run ? spare : run;
    const uint32_t nr_values = find_values(items, count, values);
    sort_values(k, values, nr_values);
    for (uint32_t v = 0; v < nr_values; v++) {
        const uint64_t value = values[v].key;
        rank += v > 0 && compare_values(&values[v - 1], &values[v], k) != 0;
        for (uint32_t i = values[v].value; i < count && items[i].key == value; i++)
            k->numbers[items[i].value] = rank;
    }
    return rank + 1;
}

static uint32_t run_length(const struct radix_item *items, uint32_t count) {
    uint32_t length = 1;
    while (length < count && items[length].key == items->key)
        length++;
    return length;
}

/* Replaces each line's value by its rank. Returns the number of ranks. */
static uint64_t put_ranks(struct ranking *k) {
    const uint32_t count = k->lines->shown;
    uint64_t rank = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t line = k->ascending[i];
        k->items[i] = (struct radix_item){k->coarse ? k->coarse(k->r, k->numbers[line]) : 0, line};
    }
    struct radix_item *const items = radix_sort(k->items, k->spare, count);
    struct radix_item *const spare = items == k->items ? k->spare : k->items;
    for (uint32_t i = 0, length; i < count; i += length) {
        length = run_length(items + i, count - i);
        rank = rank_run(k, items + i, spare + i, length, rank);
    }
    return rank;
}

/* --- order --- */

static void sort_by_packed(struct ranking *k) {
    uint32_t *const order = k->lines->order;
    const uint32_t count = k->lines->shown;
    for (uint32_t i = 0; i < count; i++)
        k->items[i] = (struct radix_item){k->packed[order[i]], order[i]};
    const struct radix_item *sorted = radix_sort(k->items, k->spare, count);
    for (uint32_t i = 0; i < count; i++) {
        order[i] = sorted[i].value;
        k->packed[order[i]] = 0;
    }
    k->bits = 0;
}

/* Adds a sort criterion that takes precedence over all earlier ones; no number exceeds `most`. */
static void sort_by_numbers(struct ranking *k, uint64_t most) {
    const unsigned bits = most ? 64 - (unsigned)__builtin_clzll(most) : 0;
    if (!bits)
        return;
    if (k->bits + bits > 64)
        sort_by_packed(k);
    for (uint32_t i = 0; i < k->lines->shown; i++)
        k->packed[k->ascending[i]] |= k->numbers[k->ascending[i]] << k->bits;
    k->bits += bits;
}

static void sort_by_key(struct ranking *k, unsigned key, report_collate *compare, report_coarse *coarse) {
    for (uint32_t i = 0; i < k->lines->shown; i++)
        k->numbers[k->ascending[i]] = line_cell(k->r, k->lines, k->ascending[i], key);
    k->compare = compare;
    k->coarse = coarse;
    sort_by_numbers(k, put_ranks(k) - 1);
}

static uint64_t put_weights(struct ranking *k, const struct report_field *f, uint32_t member) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < k->lines->shown; i++) {
        const uint64_t weight = f->rank(k->r, line_row(k->r, k->lines, k->ascending[i], member));
        k->numbers[k->ascending[i]] = weight;
        most = weight > most ? weight : most;
    }
    return most;
}

/* Descending; in a group of events the leader's weight takes precedence. */
static void sort_by_weight(struct ranking *k, const struct report_field *f) {
    for (uint32_t m = f->breaks_ties ? 1 : k->lines->members; m-- > 0;) {
        const uint64_t most = put_weights(k, f, m);
        for (uint32_t i = 0; i < k->lines->shown; i++)
            k->numbers[k->ascending[i]] = most - k->numbers[k->ascending[i]];
        sort_by_numbers(k, most);
    }
}

static report_collate *strict_of(const struct report_field *f) {
    return f->strict ? f->strict : f->collate;
}

static report_collate *order_of(const struct report_field *f) {
    return f->order ? f->order : f->collate;
}

/* Sorts by cells; the sort is stable. With fields_follow, skips keys that the later sort by fields puts into the same
 * order anyway. */
static void sort_by_cells(struct ranking *k, bool fields_follow) {
    for (unsigned i = k->r->chosen.nr_keys; i-- > 0;) {
        const struct report_field *f = k->r->chosen.keys[i];
        if (!fields_follow || strict_of(f) != order_of(f))
            sort_by_key(k, i, strict_of(f), f->strict ? f->strict_coarse : NULL);
    }
}

static void sort_by_fields(struct ranking *k, unsigned from) {
    unsigned key = k->r->chosen.nr_keys;
    for (unsigned i = k->r->chosen.nr_sort; i-- > from;) {
        const struct report_field *f = k->r->chosen.sort[i];
        if (f->rank)
            sort_by_weight(k, f);
        else
            sort_by_key(k, --key, order_of(f), f->order ? f->order_coarse : NULL);
    }
}

static void sort_all(struct ranking *k, unsigned from, uint32_t *cells) {
    memcpy(k->ascending, k->lines->order, k->lines->shown * sizeof *k->ascending);
    sort_by_cells(k, from < k->r->chosen.nr_sort && !cells);
    if (cells) {
        sort_by_packed(k);
        memcpy(cells, k->lines->order, k->lines->shown * sizeof *cells);
    }
    sort_by_fields(k, from);
    sort_by_packed(k);
}

pfr_status lines_rank(const struct report *r, struct lines *lines, unsigned from, uint32_t *cells, pfr_error *err) {
    const size_t shown = lines->shown, count = lines->count;
    uint32_t *ascending = mem_alloc(r->memory, shown, sizeof *ascending);
    uint64_t *numbers = mem_zeroed(r->memory, 2 * count, sizeof *numbers);
    struct radix_item *items = mem_alloc(r->memory, 2 * shown, sizeof *items);
    const bool good = ascending && numbers && items;
    if (good)
        sort_all(&(struct ranking){.r = r,
                                   .lines = lines,
                                   .ascending = ascending,
                                   .numbers = numbers,
                                   .packed = numbers + count,
                                   .items = items,
                                   .spare = items + shown},
                 from, cells);
    mem_free(r->memory, ascending, shown, sizeof *ascending);
    mem_free(r->memory, numbers, 2 * count, sizeof *numbers);
    mem_free(r->memory, items, 2 * shown, sizeof *items);
    return good ? PFR_OK : mem_fail(r->memory, err, "lines");
}
