/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by stack of the samples, or calls, that the selection lets through. */
#include "export/rows/rows.h"

#include "base/memory/capped_sum.h"
#include "base/memory/fail.h"

struct weighing {
    struct row_weights *to;
    uint32_t event;
};

static pfr_status add(const struct weighing *w, uint32_t stack, uint64_t weight) {
    w->to->samples[stack]++;
    w->to->weight[stack] = capped_sum(w->to->weight[stack], weight);
    return PFR_OK;
}

static pfr_status add_sample(struct rows *r, const pfr_sample *s, pfr_error *err) {
    const struct weighing *w = r->walking;
    (void)err;
    return w->event && w->event != s->event ? PFR_OK : add(w, s->stack, s->weight);
}

static pfr_status add_one_call(struct rows *r, const pfr_call *call, pfr_error *err) {
    (void)err;
    const struct weighing *w = r->walking;
    w->to->samples[call->stack]++;
    w->to->weight[call->stack] += (uint64_t)call->self; /* may be below 0 where clocks stepped back */
    return PFR_OK;
}

/* Sums below 0 count as 0. Without conditions the model's own sums are exact: it adds ticks, and rounds once. */
static pfr_status finish_calls(struct rows *r, struct row_weights *to, pfr_error *err) {
    for (size_t i = 0; i < to->count; i++)
        if ((int64_t)to->weight[i] < 0)
            to->weight[i] = 0;
    return choice_is_everything(&r->choice) ? pfr_model_weights(r->model, r->traced_event, to->weight, NULL, err)
                                            : PFR_OK;
}

pfr_status rows_weigh(struct rows *r, struct row_weights *to, uint32_t event, pfr_error *err) {
    const struct row_visit visit = {.sample = add_sample, .call = add_one_call};
    const size_t count = (size_t)pfr_model_count(r->model, PFR_TABLE_STACK) + 1;
    *to = (struct row_weights){mem_zeroed(r->memory, count, sizeof *to->samples),
                               mem_zeroed(r->memory, count, sizeof *to->weight), count};
    if (!to->samples || !to->weight)
        return mem_fail(r->memory, err, "export");
    struct weighing w = {to, event};
    r->walking = &w;
    PFR_TRY(rows_walk(r, &visit, err));
    return r->is_traced ? finish_calls(r, to, err) : PFR_OK;
}

void rows_weights_free(struct rows *r, struct row_weights *weights) {
    mem_free(r->memory, weights->samples, weights->count, sizeof *weights->samples);
    mem_free(r->memory, weights->weight, weights->count, sizeof *weights->weight);
}
