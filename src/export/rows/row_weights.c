/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the selected samples, or calls, by stack. */
#include "export/rows/rows.h"

#include "base/memory/capped_sum.h"
#include "base/memory/fail.h"

struct weighing {
    struct row_weights *to;
    uint32_t event;
    int64_t *self; /* self times of calls */
};

pfr_status rows_weights_make(struct rows *r, struct row_weights *to, pfr_error *err) {
    const size_t count = (size_t)pfr_model_count(r->model, PFR_TABLE_STACK) + 1;
    *to = (struct row_weights){mem_zeroed(r->memory, count, sizeof *to->samples),
                               mem_zeroed(r->memory, count, sizeof *to->weight), count};
    return to->samples && to->weight ? PFR_OK : mem_fail(r->memory, err, "export");
}

void rows_weigh_sample(struct row_weights *to, const pfr_sample *s) {
    to->samples[s->stack]++;
    to->weight[s->stack] = capped_sum(to->weight[s->stack], s->weight);
}

static pfr_status add_sample(struct rows *r, const pfr_sample *s, pfr_error *err) {
    const struct weighing *w = r->walking;
    (void)err;
    if (!w->event || w->event == s->event)
        rows_weigh_sample(w->to, s);
    return PFR_OK;
}

/* --- Calls. If a clock went back, a sum of self times may be negative; such a sum counts as 0. */

static pfr_status add_call(struct rows *r, const pfr_call *call, pfr_error *err) {
    const struct weighing *w = r->walking;
    (void)err;
    w->to->samples[call->stack]++;
    w->self[call->stack] = (int64_t)((uint64_t)w->self[call->stack] + (uint64_t)call->self);
    return PFR_OK;
}

/* Without conditions, uses the model's own sums, which are exact: the model adds ticks and rounds only once. */
static pfr_status sum_calls(struct rows *r, struct weighing *w, pfr_error *err) {
    const struct row_visit visit = {.call = add_call};
    r->walking = w;
    PFR_TRY(rows_walk(r, &visit, err));
    if (choice_is_everything(&r->choice))
        PFR_TRY(pfr_model_weights(r->model, r->traced_event, (uint64_t *)w->self, NULL, err));
    for (size_t i = 0; i < w->to->count; i++)
        if (w->self[i] > 0)
            w->to->weight[i] = capped_sum(w->to->weight[i], (uint64_t)w->self[i]);
    return PFR_OK;
}

pfr_status rows_weigh_calls(struct rows *r, struct row_weights *to, pfr_error *err) {
    struct weighing w = {.to = to};
    if (!r->is_traced)
        return PFR_OK;
    w.self = mem_zeroed(r->memory, to->count, sizeof *w.self);
    const pfr_status st = w.self ? sum_calls(r, &w, err) : mem_fail(r->memory, err, "export");
    mem_free(r->memory, w.self, w.self ? to->count : 0, sizeof *w.self);
    return st;
}

pfr_status rows_weigh(struct rows *r, struct row_weights *to, uint32_t event, pfr_error *err) {
    const struct row_visit visit = {.sample = add_sample};
    struct weighing w = {.to = to, .event = event};
    PFR_TRY(rows_weights_make(r, to, err));
    r->walking = &w;
    PFR_TRY(rows_walk(r, &visit, err));
    return event && event != r->traced_event ? PFR_OK : rows_weigh_calls(r, to, err);
}

void rows_weights_free(struct rows *r, struct row_weights *weights) {
    mem_free(r->memory, weights->samples, weights->samples ? weights->count : 0, sizeof *weights->samples);
    mem_free(r->memory, weights->weight, weights->weight ? weights->count : 0, sizeof *weights->weight);
    *weights = (struct row_weights){0};
}
