/* SPDX-License-Identifier: Apache-2.0 */
/* Latencies of a model's calls: see model_latencies.h. */
#include "model/open/model_latencies.h"
#include "model/open/calls_spill.h"

#include "base/memory/fail.h"

#include <perfray/spans.h>

struct row_sums {
    unsigned __int128 sum; /* ticks */
    __int128 self;
};

struct latency_collector {
    const uint32_t *row_of;
    struct row_sums *sums; /* by row */
    struct distributions latencies;
};

static pfr_status add(struct latency_collector *a, uint32_t symbol, uint32_t flags, uint64_t latency, int64_t self,
                      pfr_error *err) {
    const uint32_t row = a->row_of[symbol];
    if (flags & PFR_CALL_OPEN)
        return PFR_OK;
    a->sums[row].sum += latency;
    a->sums[row].self += self;
    return distributions_add(&a->latencies, row, latency, err);
}

static pfr_status add_thread(struct latency_collector *a, const struct model_calls *calls, const struct call_thread *t,
                             pfr_error *err) {
    struct call_reader reader = {0};
    for (size_t i = 0; i < t->count; i++) {
        const struct call_row *row;
        PFR_TRY(call_row_get(&reader, calls, t, i, &row, err));
        PFR_TRY(add(a, calls->paths[row->path].symbol, row->flags, row->latency, row->self, err));
    }
    return PFR_OK;
}

/* The calls of a trace are in ticks; those of a model that was built have no trace. */
static pfr_status add_all(struct latency_collector *a, const struct pfr_model *m, pfr_error *err) {
    const struct model_calls *traced = m->traced;
    for (size_t i = 0; traced && i < traced->nr_threads; i++)
        PFR_TRY(add_thread(a, traced, &traced->threads[i], err));
    for (size_t i = 1; !traced && i <= m->calls.count; i++) {
        const pfr_call *call = (const pfr_call *)m->calls.at + i;
        PFR_TRY(add(a, call->symbol, call->flags, call->duration, call->self, err));
    }
    return PFR_OK;
}

static pfr_status write_row(const struct latency_collector *a, uint32_t row, uint64_t frequency,
                            struct model_latency *to, pfr_error *err) {
    const struct distribution *d = &a->latencies.at[row];
    *to = (struct model_latency){.count = d->count,
                                 .sum = calls_sum_ns(a->sums[row].sum, frequency),
                                 .self = calls_self_ns(a->sums[row].self, frequency),
                                 .is_exact = distribution_is_exact(d)};
    if (!d->count)
        return PFR_OK;
    to->low = calls_ns(d->low, frequency);
    to->high = calls_ns(d->high, frequency);
    PFR_TRY(distribution_ranks(&a->latencies, row, latency_thousandths, LATENCY_RANKS, to->rank, err));
    for (unsigned i = 0; i < LATENCY_RANKS; i++)
        to->rank[i] = calls_ns(to->rank[i], frequency);
    return PFR_OK;
}

static pfr_status make(struct latency_collector *a, const struct pfr_model *m, uint32_t rows, struct model_latency *to,
                       pfr_error *err) {
    for (uint32_t i = 0; i < rows; i++)
        PFR_TRY(distributions_new(&a->latencies, err));
    PFR_TRY(add_all(a, m, err));
    for (uint32_t i = 0; i < rows; i++)
        PFR_TRY(write_row(a, i, m->traced ? m->traced->clock.frequency : 0, &to[i], err));
    return PFR_OK;
}

pfr_status model_latencies(const pfr_model *m, const uint32_t *row_of, uint32_t rows, struct model_latency *to,
                           pfr_error *err) {
    struct latency_collector a = {.row_of = row_of, .sums = mem_zeroed(m->memory, (size_t)rows + 1, sizeof *a.sums)};
    if (!a.sums)
        return mem_fail(m->memory, err, "latencies");
    distributions_init(&a.latencies, m->memory);
    const pfr_status st = make(&a, m, rows, to, err);
    distributions_free(&a.latencies);
    mem_free(m->memory, a.sums, (size_t)rows + 1, sizeof *a.sums);
    return st;
}
