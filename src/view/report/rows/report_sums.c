/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes rows from sums in the profile, for reports without call trees. The weight of a row is the weight of all stacks
 * that contain the row; each stack is counted once. The profile computes these sums from the words that sums_likeness
 * returns for each frame.
 */
#include "view/report/rows/report_rows.h"
#include "view/report/rows/report_sums.h"
#include "view/report/rows/report_traversal.h"
#include "base/memory/fail.h"
#include "view/report/fields/report_cells.h"

/* Keys whose value is known as soon as a frame is created. */
static bool is_known_early(const struct report_field *f) {
    return !(f->needs & NEEDS_FRAMES) || f->identity == identity_of_dso || f->identity == identity_of_symbol ||
           f->identity == identity_of_symbol_size;
}

bool sums_can_be(const struct report *r) {
    for (unsigned i = 0; i < r->chosen.nr_keys; i++)
        if (!is_known_early(r->chosen.keys[i]))
            return false;
    return true;
}

static bool has_key(const struct report *r, report_identity *identity) {
    for (unsigned i = 0; i < r->chosen.nr_keys; i++)
        if (r->chosen.keys[i]->identity == identity)
            return true;
    return false;
}

unsigned sums_likeness(void *context, const struct profile *p, uint32_t frame, uint64_t *words) {
    const struct report *r = context;
    unsigned count = 0;
    if (has_key(r, identity_of_dso))
        words[count++] = frame_object_name(p, frame);
    if (has_key(r, identity_of_symbol_size))
        words[count++] = frame_symbol_size(p, frame);
    if (has_key(r, identity_of_symbol))
        count += frame_symbol_words(p, frame, words + count);
    return count;
}

static pfr_status add_sum(struct report *r, const struct profile_sum_key *key, uint32_t *row, pfr_error *err) {
    const struct profile *p = r->profile;
    const struct cell_key spot = {p->groups[key->group], key->frame, NO_PARENT};
    PFR_TRY(rows_find(r, &spot, row, err));
    const struct profile_weight *more = &p->sums.list[key->sum];
    struct profile_weight *total = &r->rows.at[*row].total;
    total->weight += more->weight;
    total->samples += more->samples;
    return PFR_OK;
}

static pfr_status add_sums(struct report *r, uint32_t *row_of, pfr_error *err) {
    const struct profile *p = r->profile;
    for (uint32_t i = 0; i < p->sums.nr_keys; i++) {
        const uint32_t key = p->sums.order ? p->sums.order[i] : i;
        PFR_TRY(add_sum(r, &p->sums.keys[key], &row_of[p->sums.keys[key].sum], err));
    }
    return PFR_OK;
}

static void add_selves(struct report *r, const uint32_t *row_of) {
    for (uint32_t i = 0; i < r->profile->nr_selves; i++) {
        const struct profile_self *self = &r->profile->selves[i];
        struct row *const row = &r->rows.at[row_of[self->sum]];
        weight_add(&row->self, &self->self);
        row_add_by_mode(r, self->frame, self->self.weight, &row->system, &row->user);
    }
}

pfr_status walk_sums(struct report *r, pfr_error *err) {
    const size_t count = r->profile->sums.count;
    if (!r->profile->sums.nr_keys)
        return PFR_OK;
    uint32_t *row_of = mem_alloc(r->memory, count, sizeof *row_of);
    const pfr_status st = row_of ? add_sums(r, row_of, err) : mem_fail(r->memory, err, "walk");
    if (st >= 0)
        add_selves(r, row_of);
    mem_free(r->memory, row_of, count, sizeof *row_of);
    return st;
}
