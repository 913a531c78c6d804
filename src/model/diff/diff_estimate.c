/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of a subject on one side, with its variance. For one recording, the variance is computed from the rounds of
 * the bootstrap; for several recordings, from their values. Unless the dispersion of all rows is known, the variance is
 * at least that of counting independent samples.
 */
#include "model/diff/diff_estimate.h"
#include "model/diff/diff_blocks.h"
#include "model/diff/diff_covariance.h"

#include <math.h>

pfr_status diff_scratch_make(struct diff_scratch *scratch, const pfr_diff *d, pfr_error *err) {
    struct memory *memory = scratch->memory;
    const uint32_t runs = d->sides[0].count > d->sides[1].count ? d->sides[0].count : d->sides[1].count;
    scratch->rounds = d->options.rounds;
    scratch->nr_values = runs;
    scratch->drawn = mem_alloc(memory, scratch->rounds, sizeof *scratch->drawn);
    scratch->slots = mem_alloc(memory, DIFF_SLOTS_MOST, sizeof *scratch->slots);
    scratch->scaled = mem_alloc(memory, DIFF_SLOTS_MOST, sizeof *scratch->scaled);
    scratch->values = mem_alloc(memory, runs, sizeof *scratch->values);
    if (scratch->drawn && scratch->slots && scratch->scaled && scratch->values)
        return PFR_OK;
    diff_scratch_free(scratch);
    return mem_fail(memory, err, "rounds");
}

void diff_scratch_free(struct diff_scratch *scratch) {
    mem_free(scratch->memory, scratch->drawn, scratch->rounds, sizeof *scratch->drawn);
    mem_free(scratch->memory, scratch->slots, DIFF_SLOTS_MOST, sizeof *scratch->slots);
    mem_free(scratch->memory, scratch->scaled, DIFF_SLOTS_MOST, sizeof *scratch->scaled);
    mem_free(scratch->memory, scratch->values, scratch->nr_values, sizeof *scratch->values);
    *scratch = (struct diff_scratch){.memory = scratch->memory};
}

/* --- One recording. */

/* The divisor of a value: the norm of the series, or 1 if the subject is a plain sum. */
static double norm_of(const struct diff_series *s, const struct diff_subject *subject) {
    return subject->per == PFR_DIFF_PER_RUN ? 1 : s->norm;
}

static struct diff_sums sums_of(const struct diff_series *s, const struct diff_subject *subject) {
    const unsigned part = subject->part;
    struct diff_sums sums = {.weight = {s->weight}, .squares = {s->squares}, .samples = {s->samples}};
    if (!subject->rows)
        return sums;
    sums = (struct diff_sums){0};
    for (uint32_t i = 0; i < subject->count; i++) {
        sums.weight[0] += s->sums[subject->rows[i]].weight[part];
        sums.squares[0] += s->sums[subject->rows[i]].squares[part];
        sums.samples[0] += s->sums[subject->rows[i]].samples[part];
    }
    return sums;
}

static double value_in(const struct diff_series *s, const struct diff_subject *subject) {
    const double norm = norm_of(s, subject);
    return norm > 0 ? sums_of(s, subject).weight[0] / norm : 0;
}

/* The counting variance of a share p of a sum of independent samples: each sample adds w (1 - p) if it belongs to the
   row, and -w p if not. */
static double counting_variance(const struct diff_series *s, const struct diff_subject *subject) {
    const struct diff_sums sums = sums_of(s, subject);
    const double norm = norm_of(s, subject);
    if (norm <= 0)
        return 0;
    if (subject->per != PFR_DIFF_PER_TOTAL || s->weight <= 0)
        return sums.squares[0] / (norm * norm);
    const double p = sums.weight[0] / s->weight;
    const double inner = (1 - 2 * p) * sums.squares[0] + p * p * s->squares;
    return inner > 0 ? inner / (norm * norm) : 0;
}

/* --- The bootstrap. */

static void slots_of(const struct diff_series *s, const struct diff_subject *subject, double *slots) {
    if (!subject->rows) {
        memcpy(slots, s->weights, s->slots * sizeof *slots);
        return;
    }
    memset(slots, 0, s->slots * sizeof *slots);
    for (uint32_t i = 0; i < subject->count; i++)
        for (size_t c = s->first_cell[subject->rows[i]]; c < s->first_cell[subject->rows[i] + 1]; c++)
            slots[s->cells[c].slot] += s->cells[c].weight[subject->part];
}

/* Variance of drawn[i] / divisor[i]; if `divisor` is NULL, of drawn[i]. The first value is subtracted from all values,
   so that squares do not lose digits. */
static double variance_of_rounds(const float *drawn, const float *divisor, uint32_t rounds) {
    double sum = 0, squares = 0, origin = 0;
    uint32_t count = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        if (divisor && divisor[r] <= 0)
            continue;
        const double value = divisor ? (double)drawn[r] / (double)divisor[r] : (double)drawn[r];
        origin = count ? origin : value;
        sum += value - origin;
        squares += (value - origin) * (value - origin);
        count++;
    }
    return count > 1 ? fmax(0, (squares - sum * sum / count) / (count - 1)) : 0;
}

/* The variance of a value whose sums by slot are in scratch->slots. */
static double variance_drawn(const struct diff_series *s, const struct diff_subject *subject,
                             struct diff_scratch *scratch) {
    const bool divided = subject->per != PFR_DIFF_PER_RUN;
    const double norm = norm_of(s, subject);
    if (s->covariance && subject->rows)
        return norm > 0 ? diff_covariance_value(s, scratch->slots, scratch->scaled) / (norm * norm) : 0;
    diff_draw(s, scratch->slots, scratch->rounds, scratch->drawn);
    return variance_of_rounds(scratch->drawn, divided ? s->drawn_norm : NULL, scratch->rounds);
}

static struct estimate estimate_one(const struct diff_series *s, const struct diff_subject *subject,
                                    struct diff_scratch *scratch) {
    const double blocks = (double)s->slots / s->block;
    struct estimate e = {.value = value_in(s, subject), .variance = INFINITY, .freedom = blocks - 1};
    if (!s->has_interval)
        return e;
    slots_of(s, subject, scratch->slots);
    e.variance = variance_drawn(s, subject, scratch);
    e.variance *= blocks / (blocks - 1) * s->bias_correction;
    return e;
}

/* --- Several recordings. */

static struct estimate estimate_several(const struct diff_side *side, const struct diff_subject *subject,
                                        struct diff_scratch *scratch) {
    struct estimate e = {.freedom = side->count - 1};
    double squares = 0;
    for (uint32_t i = 0; i < side->count; i++)
        e.value += (scratch->values[i] = value_in(&side->runs[i], subject)) / side->count;
    for (uint32_t i = 0; i < side->count; i++)
        squares += (scratch->values[i] - e.value) * (scratch->values[i] - e.value);
    e.variance = e.between = squares / (side->count - 1) / side->count;
    return e;
}

struct estimate diff_estimate(const pfr_diff *d, enum diff_side_name name, const struct diff_subject *subject,
                              struct diff_scratch *scratch) {
    const struct diff_side *side = &d->sides[name];
    struct estimate e =
        side->count > 1 ? estimate_several(side, subject, scratch) : estimate_one(&side->runs[0], subject, scratch);
    for (uint32_t i = 0; i < side->count; i++) {
        e.counting += counting_variance(&side->runs[i], subject) / side->count / side->count;
        e.samples += sums_of(&side->runs[i], subject).samples[0];
    }
    e.variance = fmax(e.variance, e.counting);
    return e;
}

/* --- Several recordings on both sides: moderated dispersion. The dispersion of a row is the variance between runs
   divided by the variance of counting, taken over both sides (the quasi-likelihood of Lund et al. 2012). Estimated from
   only a few runs it is very uncertain: intervals would be wide or, where runs agree by chance, far too narrow. The
   distribution of dispersions is therefore estimated from all rows together. This prior adds `freedom` degrees of
   freedom (Smyth 2004), fewer than the number of rows to which it is fitted. */

#define RUNS_FOR_SHARED 4u /* runs of a side: from this number on, verdicts use the shared dispersion */
#define FITTED_ROWS_LEAST 3u
#define FITTED_SAMPLES 5u /* average samples of a row per run: with fewer, values are too discrete */
#define RATIO_LEAST 1e-4  /* replaces 0, the ratio of runs that agree exactly, because its logarithm is taken */

static bool has_runs(const pfr_diff *d) {
    return d->sides[0].count > 1 && d->sides[1].count > 1;
}

/* The dispersion of a row, estimated only from this row, with its degrees of freedom. *freedom 0: neither side has
   samples. */
static double dispersion_of(const pfr_diff *d, const struct estimate of[2], double *freedom) {
    double sum = 0;
    *freedom = 0;
    for (unsigned side = 0; side < 2; side++) {
        const double degrees = d->sides[side].count - 1;
        if (of[side].counting <= 0)
            continue;
        sum += degrees * of[side].between / of[side].counting;
        *freedom += degrees;
    }
    return *freedom > 0 ? sum / *freedom : 0;
}

static void moderate(const pfr_diff *d, const struct diff_dispersion *prior, struct estimate of[2]) {
    double freedom;
    const double own = dispersion_of(d, of, &freedom);
    if (freedom <= 0)
        return;
    const double moderated = isinf(prior->freedom)
                                 ? prior->scale
                                 : (prior->freedom * prior->scale + freedom * own) / (prior->freedom + freedom);
    for (unsigned side = 0; side < 2; side++) {
        of[side].variance = moderated * of[side].counting;
        of[side].shared_freedom = fmin(prior->freedom + freedom, prior->freedom_most);
    }
}

static uint32_t collect_ratios(const pfr_diff *d, enum diff_part part, struct diff_scratch *scratch, double *ratios) {
    const uint64_t runs = (uint64_t)d->sides[0].count + d->sides[1].count;
    uint32_t count = 0;
    for (uint32_t row = 0; row < d->nr_names; row++) {
        const struct diff_subject subject = {.rows = &row, .count = 1, .part = part, .per = d->options.per};
        const struct estimate of[2] = {diff_estimate(d, DIFF_BASE, &subject, scratch),
                                       diff_estimate(d, DIFF_NEW, &subject, scratch)};
        double freedom;
        const double ratio = dispersion_of(d, of, &freedom);
        if (freedom == (double)(runs - 2) && of[0].samples + of[1].samples >= FITTED_SAMPLES * runs)
            ratios[count++] = fmax(ratio, RATIO_LEAST);
    }
    return count;
}

pfr_status diff_dispersions_fit(pfr_diff *d, struct diff_scratch *scratch, pfr_error *err) {
    double *ratios = has_runs(d) ? mem_alloc(&d->memory, d->nr_names, sizeof *ratios) : NULL;
    if (!ratios)
        return has_runs(d) ? mem_fail(&d->memory, err, "rows") : PFR_OK;
    const double freedom = d->sides[0].count + d->sides[1].count - 2;
    for (unsigned part = 0; part < 2; part++) {
        const uint32_t count = collect_ratios(d, (enum diff_part)part, scratch, ratios);
        if (count < FITTED_ROWS_LEAST)
            continue;
        const struct variance_prior prior = fit_variance_prior(ratios, count, freedom);
        d->dispersion[part] = (struct diff_dispersion){
            .scale = prior.scale, .freedom = fmin(prior.freedom, count - 1), .freedom_most = freedom * count};
    }
    mem_free(&d->memory, ratios, d->nr_names, sizeof *ratios);
    return PFR_OK;
}

/* --- Two sides. */

/* Degrees of freedom of the difference of both sides, by Welch and Satterthwaite. */
static double freedom_of(const struct estimate *a, const struct estimate *b) {
    const double all = a->variance + b->variance;
    if (a->shared_freedom > 0)
        return a->shared_freedom;
    const double parts = a->variance * a->variance / a->freedom + b->variance * b->variance / b->freedom;
    return parts > 0 ? all * all / parts : INFINITY;
}

/* Sets all members except `verdict`. q is 1 until it is corrected for the number of rows. */
static pfr_diff_value value_of(const struct estimate *base, const struct estimate *changed) {
    const double error = sqrt(base->variance + changed->variance), freedom = freedom_of(base, changed);
    pfr_diff_value v = {.base = base->value,
                        .changed = changed->value,
                        .delta = changed->value - base->value,
                        .base_error = sqrt(base->variance),
                        .changed_error = sqrt(changed->variance),
                        .p = 1,
                        .q = 1};
    if (isinf(error)) { /* the error is not known */
        v.low = -INFINITY;
        v.high = INFINITY;
        return v;
    }
    const double reach = error > 0 ? student_quantile(DIFF_LEVEL, freedom) * error : 0;
    v.low = v.delta - reach;
    v.high = v.delta + reach;
    if (error > 0)
        v.p = student_tail(v.delta / error, freedom);
    return v;
}

static void scale(struct estimate *e, double by) {
    e->value *= by;
    e->variance *= by * by;
}

/* If the variance is estimated from few runs, a verdict must also hold with the variance of the row itself. */
static bool has_few_runs(const pfr_diff *d) {
    return d->sides[0].count < RUNS_FOR_SHARED || d->sides[1].count < RUNS_FOR_SHARED;
}

pfr_diff_value diff_measure(const pfr_diff *d, const struct diff_subject *subject, struct diff_scratch *scratch) {
    struct estimate of[2] = {diff_estimate(d, DIFF_BASE, subject, scratch),
                             diff_estimate(d, DIFF_NEW, subject, scratch)};
    const struct diff_dispersion *prior = &d->dispersion[subject->part];
    const double own = value_of(&of[0], &of[1]).p;
    if (subject->rows && prior->freedom > 0)
        moderate(d, prior, of);
    if (!subject->rows && d->options.per == PFR_DIFF_PER_TOTAL && of[0].value > 0) {
        const double by = 100 / of[0].value;
        scale(&of[0], by);
        scale(&of[1], by);
    }
    pfr_diff_value value = value_of(&of[0], &of[1]);
    if (has_few_runs(d))
        value.p = fmax(value.p, own);
    return value;
}
