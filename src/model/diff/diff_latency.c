/* SPDX-License-Identifier: Apache-2.0 */
/* Durations of traced calls by function, on both sides, with intervals of their quantiles by order statistics. */
#include "model/diff/diff_latency.h"

#include <stdlib.h>

#define BUCKETS 64u

static const double parts[PFR_DIFF_QUANTILES] = {0.5, 0.9, 0.99, 0.999};

/* Durations of the calls of one side, row after row; those of a row are sorted. */
struct durations {
    uint64_t *at;
    size_t *first; /* index of the first duration of each row; one more entry at the end */
    size_t count;
};

typedef void see_call(void *context, uint32_t row, uint64_t duration);

static pfr_status walk_calls(const struct diff_series *s, see_call *see, void *context, pfr_error *err) {
    const pfr_calls_options options = {.size = sizeof options};
    const pfr_call_batch *b;
    pfr_calls *cursor = pfr_calls_open(s->run.model, &options, err);
    pfr_status st = cursor ? PFR_OK : err->status;
    while (st == PFR_OK && (st = pfr_calls_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++)
            if (!(b->flags[i] & PFR_CALL_OPEN))
                see(context, s->row_of[b->symbol[i]], b->duration[i]);
    pfr_calls_close(cursor);
    return st < 0 ? st : PFR_OK;
}

static void count_call(void *context, uint32_t row, uint64_t duration) {
    struct durations *to = context;
    (void)duration;
    to->first[row + 2]++;
    to->count++;
}

static void keep_call(void *context, uint32_t row, uint64_t duration) {
    struct durations *to = context;
    to->at[to->first[row + 1]++] = duration;
}

static int by_size(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static pfr_status gather(pfr_diff *d, enum diff_side_name name, struct durations *to, pfr_error *err) {
    const struct diff_side *side = &d->sides[name];
    to->first = mem_zeroed(&d->memory, (size_t)d->nr_names + 2, sizeof *to->first);
    if (!to->first)
        return mem_fail(&d->memory, err, "durations");
    for (uint32_t i = 0; i < side->count; i++)
        PFR_TRY(walk_calls(&side->runs[i], count_call, to, err));
    for (uint32_t row = 1; row < d->nr_names + 2; row++)
        to->first[row] += to->first[row - 1];
    to->at = mem_alloc(&d->memory, to->count, sizeof *to->at);
    if (!to->at)
        return mem_fail(&d->memory, err, "durations");
    for (uint32_t i = 0; i < side->count; i++)
        PFR_TRY(walk_calls(&side->runs[i], keep_call, to, err));
    for (uint32_t row = 0; row < d->nr_names; row++)
        if (to->first[row + 1] > to->first[row])
            qsort(to->at + to->first[row], to->first[row + 1] - to->first[row], sizeof *to->at, by_size);
    return PFR_OK;
}

static unsigned bucket_of(uint64_t duration) {
    return duration ? 63 - (unsigned)__builtin_clzll(duration) : 0;
}

/* The quantile as in `perfray latency`: the value of the smallest rank that is at least `part` of the count. */
static uint64_t value_at(const uint64_t *sorted, uint64_t count, double part) {
    uint64_t rank = (uint64_t)(part * (double)count);
    if ((double)rank < part * (double)count)
        rank++;
    return sorted[rank ? rank - 1 : 0];
}

static void describe(const uint64_t *sorted, uint64_t count, unsigned side, uint32_t *buckets, pfr_diff_latency *to) {
    to->count[side] = count;
    to->histogram[side] = buckets;
    for (uint64_t i = 0; i < count; i++) {
        to->sum[side] += sorted[i];
        buckets[bucket_of(sorted[i])]++;
    }
    for (unsigned k = 0; k < PFR_DIFF_QUANTILES && count; k++) {
        uint64_t low, high;
        quantile_ranks(count, parts[k], &low, &high);
        to->quantile[side][k] = value_at(sorted, count, parts[k]);
        to->low[side][k] = low ? sorted[low - 1] : 0;
        to->high[side][k] = high > count ? UINT64_MAX : sorted[high - 1];
    }
}

static double sum_change(const pfr_diff_latency *l) {
    return l->sum[1] > l->sum[0] ? (double)(l->sum[1] - l->sum[0]) : (double)(l->sum[0] - l->sum[1]);
}

static int by_change(const void *a, const void *b) {
    const pfr_diff_latency *x = a, *y = b;
    const double p = sum_change(x), q = sum_change(y);
    if (p != q)
        return p > q ? -1 : 1;
    const int order = strcmp(x->symbol, y->symbol);
    return order ? order : strcmp(x->object, y->object);
}

static pfr_status put_row(pfr_diff *d, uint32_t row, const struct durations of[2], pfr_error *err) {
    pfr_diff_latency *to = &d->latencies[d->nr_latencies];
    uint32_t *buckets = arena_zeroed(&d->arena, (size_t)2 * BUCKETS, sizeof *buckets);
    if (!buckets)
        return mem_fail(&d->memory, err, "durations");
    *to = (pfr_diff_latency){.symbol = d->keys[row].symbol, .object = d->keys[row].object};
    for (unsigned side = 0; side < 2; side++)
        describe(of[side].at + of[side].first[row], of[side].first[row + 1] - of[side].first[row], side,
                 buckets + side * BUCKETS, to);
    d->nr_latencies += to->count[0] + to->count[1] > 0;
    return PFR_OK;
}

static pfr_status put_all(pfr_diff *d, const struct durations of[2], pfr_error *err) {
    d->latencies = mem_alloc(&d->memory, d->nr_names, sizeof *d->latencies);
    if (!d->latencies)
        return mem_fail(&d->memory, err, "durations");
    for (uint32_t row = 0; row < d->nr_names; row++)
        PFR_TRY(put_row(d, row, of, err));
    if (d->nr_latencies)
        qsort(d->latencies, d->nr_latencies, sizeof *d->latencies, by_change);
    return PFR_OK;
}

pfr_status diff_latencies_make(pfr_diff *d, pfr_error *err) {
    struct durations of[2] = {{0}};
    if (!d->is_traced || d->options.by != PFR_DIFF_BY_SYMBOL)
        return PFR_OK;
    pfr_status st = gather(d, DIFF_BASE, &of[0], err);
    if (st >= 0)
        st = gather(d, DIFF_NEW, &of[1], err);
    if (st >= 0)
        st = put_all(d, of, err);
    for (unsigned side = 0; side < 2; side++) {
        mem_free(&d->memory, of[side].at, of[side].count, sizeof *of[side].at);
        mem_free(&d->memory, of[side].first, (size_t)d->nr_names + 2, sizeof *of[side].first);
    }
    return st;
}
