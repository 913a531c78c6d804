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
    *to = (struct row_weights){.sum_of = mem_zeroed(r->memory, count, sizeof *to->sum_of), .nr_stacks = count};
    return to->sum_of ? PFR_OK : mem_fail(r->memory, err, "export");
}

static pfr_status find_sum(struct rows *r, struct row_weights *to, uint32_t stack, struct row_weight **sum,
                           pfr_error *err) {
    if (!to->sum_of[stack]) {
        void *grown = mem_grow(r->memory, to->at, to->count, &to->room, 1024, sizeof *to->at);
        if (!grown)
            return mem_fail(r->memory, err, "export");
        to->at = grown;
        to->at[to->count++] = (struct row_weight){.stack = stack};
        to->sum_of[stack] = (uint32_t)to->count;
    }
    *sum = &to->at[to->sum_of[stack] - 1];
    return PFR_OK;
}

pfr_status rows_weigh_sample(struct rows *r, struct row_weights *to, const pfr_sample *s, pfr_error *err) {
    struct row_weight *sum;
    PFR_TRY(find_sum(r, to, s->stack, &sum, err));
    sum->samples++;
    sum->weight = capped_sum(sum->weight, s->weight);
    return PFR_OK;
}

static pfr_status add_sample(struct rows *r, const pfr_sample *s, pfr_error *err) {
    const struct weighing *w = r->walking;
    return !w->event || w->event == s->event ? rows_weigh_sample(r, w->to, s, err) : PFR_OK;
}

/* --- Calls. If a clock went back, a sum of self times may be negative; such a sum counts as 0. */

static pfr_status add_call(struct rows *r, const pfr_call *call, pfr_error *err) {
    const struct weighing *w = r->walking;
    struct row_weight *sum;
    PFR_TRY(find_sum(r, w->to, call->stack, &sum, err));
    sum->samples++;
    w->self[call->stack] = (int64_t)((uint64_t)w->self[call->stack] + (uint64_t)call->self);
    return PFR_OK;
}

/* Without conditions, uses the model's own sums, which are exact: the model adds ticks and rounds only once. */
static pfr_status sum_calls(struct rows *r, struct weighing *w, pfr_error *err) {
    const struct row_visit visit = {.call = add_call};
    struct row_weight *sum;
    r->walking = w;
    PFR_TRY(rows_walk(r, &visit, err));
    if (choice_is_everything(&r->choice))
        PFR_TRY(pfr_model_weights(r->model, r->traced_event, (uint64_t *)w->self, NULL, err));
    for (size_t i = 0; i < w->to->nr_stacks; i++)
        if (w->self[i] > 0) {
            PFR_TRY(find_sum(r, w->to, (uint32_t)i, &sum, err));
            sum->weight = capped_sum(sum->weight, (uint64_t)w->self[i]);
        }
    return PFR_OK;
}

pfr_status rows_weigh_calls(struct rows *r, struct row_weights *to, pfr_error *err) {
    struct weighing w = {.to = to};
    if (!r->is_traced)
        return PFR_OK;
    w.self = mem_zeroed(r->memory, to->nr_stacks, sizeof *w.self);
    const pfr_status st = w.self ? sum_calls(r, &w, err) : mem_fail(r->memory, err, "export");
    mem_free(r->memory, w.self, w.self ? to->nr_stacks : 0, sizeof *w.self);
    return st;
}

static void drop_sum_of(struct rows *r, struct row_weights *weights) {
    mem_free(r->memory, weights->sum_of, weights->sum_of ? weights->nr_stacks : 0, sizeof *weights->sum_of);
    weights->sum_of = NULL;
}

pfr_status rows_weights_settle(struct rows *r, struct row_weights *weights, pfr_error *err) {
    struct row_weight *sorted = mem_alloc(r->memory, weights->count, sizeof *sorted);
    size_t count = 0;
    if (!sorted)
        return mem_fail(r->memory, err, "export");
    for (size_t stack = 0; stack < weights->nr_stacks; stack++)
        if (weights->sum_of[stack])
            sorted[count++] = weights->at[weights->sum_of[stack] - 1];
    mem_free(r->memory, weights->at, weights->room, sizeof *weights->at);
    weights->at = sorted;
    weights->room = count;
    drop_sum_of(r, weights);
    return PFR_OK;
}

pfr_status rows_weigh(struct rows *r, struct row_weights *to, uint32_t event, pfr_error *err) {
    const struct row_visit visit = {.sample = add_sample};
    struct weighing w = {.to = to, .event = event};
    PFR_TRY(rows_weights_make(r, to, err));
    r->walking = &w;
    PFR_TRY(rows_walk(r, &visit, err));
    if (!event || event == r->traced_event)
        PFR_TRY(rows_weigh_calls(r, to, err));
    return rows_weights_settle(r, to, err);
}

void rows_weights_free(struct rows *r, struct row_weights *weights) {
    drop_sum_of(r, weights);
    mem_free(r->memory, weights->at, weights->room, sizeof *weights->at);
    *weights = (struct row_weights){0};
}
