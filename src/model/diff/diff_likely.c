/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of functions that each exist on only one side but may be the same: they have the same name in different
 * objects, or the same object, similar names and similar weights. The pairs are reported, not merged.
 */
#include "model/diff/diff_likely.h"

#include <math.h>

#define LOOKED_AT 64u /* maximum number of rows compared per side: those that the other side lacks */

static bool is_only_on(const pfr_diff_row *row, enum diff_side_name side) {
    return side == DIFF_BASE ? row->base_samples && !row->new_samples : row->new_samples && !row->base_samples;
}

static uint32_t list_rows(const pfr_diff *d, enum diff_side_name side, uint32_t list[LOOKED_AT]) {
    uint32_t count = 0;
    for (uint32_t i = 1; i < d->nr_rows && count < LOOKED_AT; i++)
        if (is_only_on(&d->rows[i], side) && strcmp(d->rows[i].symbol, "[unknown]") != 0)
            list[count++] = i;
    return count;
}

/* The number of letters that two names have in common at both ends, divided by the length of the longer name. */
static double likeness(const char *a, const char *b) {
    const size_t la = strlen(a), lb = strlen(b), shorter = la < lb ? la : lb, longer = la < lb ? lb : la;
    size_t front = 0, back = 0;
    while (front < shorter && a[front] == b[front])
        front++;
    while (back < shorter - front && a[la - 1 - back] == b[lb - 1 - back])
        back++;
    return longer ? (double)(front + back) / (double)longer : 0;
}

/* How likely two rows are the same function, from 0 to 1; *why is the reason. */
static double score(const pfr_diff *d, const pfr_diff_row *gone, const pfr_diff_row *added, const char **why) {
    const double a = gone->self.base, b = added->self.changed;
    const double weights = fmax(a, b) > 0 ? fmin(a, b) / fmax(a, b) : 0;
    const bool same_object = strcmp(gone->object, added->object) == 0;
    const double alike = likeness(gone->symbol, added->symbol);
    if (strcmp(gone->symbol, added->symbol) == 0) {
        *why = "moved";
        return 1 + weights;
    }
    *why = "renamed";
    (void)d;
    return same_object && weights > 0.5 ? (weights + alike) / 2 : 0;
}

#define SCORE_LEAST 0.6

static void offer(pfr_diff_row *row, const pfr_diff_row *other, const char *why) {
    row->likely = other->symbol;
    row->likely_object = other->object;
    row->likely_why = why;
}

static void match(pfr_diff *d, uint32_t gone, const uint32_t *added, uint32_t count) {
    double best = SCORE_LEAST;
    const char *why = NULL, *reason;
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double points = score(d, &d->rows[gone], &d->rows[added[i]], &reason);
        if (points <= best || d->rows[added[i]].likely)
            continue;
        best = points;
        why = reason;
        chosen = added[i];
    }
    if (!chosen)
        return;
    offer(&d->rows[gone], &d->rows[chosen], why);
    offer(&d->rows[chosen], &d->rows[gone], why);
}

pfr_status diff_likely_find(pfr_diff *d, pfr_error *err) {
    uint32_t gone[LOOKED_AT], added[LOOKED_AT];
    (void)err;
    if (d->options.by != PFR_DIFF_BY_SYMBOL)
        return PFR_OK;
    const uint32_t nr_gone = list_rows(d, DIFF_BASE, gone), nr_added = list_rows(d, DIFF_NEW, added);
    for (uint32_t i = 0; i < nr_gone; i++)
        match(d, gone[i], added, nr_added);
    return PFR_OK;
}
