/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second weight of --latency. The groups of the profile have the number of running threads among their keys. The
 * rows are summed twice: first with the weights as recorded, which are stored by row; then, after the profile's weights
 * have been divided, as the weights that all other steps of the report use. The second pass finds each row by its
 * cells, so rows keep their numbers. A report without --latency has one weight and needs no memory for a second one.
 */
#include "view/report/rows/report_overheads.h"
#include "view/report/fields/report_common.h"
#include "view/report/fields/report_filter.h"
#include "view/report/rows/report_call_trees.h"
#include "view/report/rows/report_path_segments.h"
#include "view/report/rows/report_traversal.h"

#include "base/memory/fail.h"
#include "model/profile/result/profile_divide.h"

#include <string.h>

static size_t nr_totals(const struct report *r) {
    return (size_t)r->profile->nr_events + 1;
}

/* Moves the weights of all rows to r->overheads: the weights in the rows become 0. */
static pfr_status take_rows(struct report *r, pfr_error *err) {
    struct overheads *o = &r->overheads;
    o->count = r->rows.cells.count;
    o->at = mem_alloc(r->memory, (size_t)o->count + 1, sizeof *o->at);
    o->totals = mem_alloc(r->memory, nr_totals(r), sizeof *o->totals);
    if (!o->at || !o->totals)
        return mem_fail(r->memory, err, "rows");
    for (uint32_t i = 0; i < o->count; i++) {
        struct row *row = &r->rows.at[i];
        o->at[i] = (struct row_overhead){row->self.weight, row->total.weight, row->system, row->user};
        row->self = row->total = (struct profile_weight){0, 0};
        row->system = row->user = 0;
    }
    for (size_t i = 0; i < nr_totals(r); i++)
        o->totals[i] = r->events.sums.totals[i].weight;
    return PFR_OK;
}

static void free_trees(struct report *r) {
    walk_free(r);
    path_segments_free(r);
    call_trees_free(r);
}

pfr_status overheads_learn(struct report *r, pfr_error *err) {
    if (!r->options->latency)
        return PFR_OK;
    PFR_TRY(call_trees_make(r, err));
    PFR_TRY(walk_make(r, err));
    filter_totals(r);
    PFR_TRY(take_rows(r, err));
    free_trees(r);
    PFR_TRY(profile_divide(r->profile, err));
    memcpy(r->events.sums.totals, r->profile->totals, nr_totals(r) * sizeof *r->events.sums.totals);
    memcpy(r->events.sums.all, r->profile->totals, nr_totals(r) * sizeof *r->events.sums.all);
    return PFR_OK;
}

void overheads_free(struct report *r) {
    struct overheads *o = &r->overheads;
    mem_free(r->memory, o->at, o->at ? (size_t)o->count + 1 : 0, sizeof *o->at);
    mem_free(r->memory, o->totals, o->totals ? nr_totals(r) : 0, sizeof *o->totals);
    *o = (struct overheads){.at = NULL};
}
