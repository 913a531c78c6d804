/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of a subject on one side, with its variance: of one recording from the rounds of the bootstrap, of several
 * from their values. It is at least that of counting independent samples.
 */
#include "model/diff/diff_estimate.h"
#include "model/diff/diff_blocks.h"

#include <math.h>

pfr_status diff_scratch_make(struct diff_scratch *scratch, const pfr_diff *d, pfr_error *err) {
    struct memory *memory = scratch->memory;
    const uint32_t runs = d->sides[0].count > d->sides[1].count ? d->sides[0].count : d->sides[1].count;
    scratch->rounds = d->options.rounds;
    scratch->nr_values = runs;
    scratch->drawn = mem_alloc(memory, scratch->rounds, sizeof *scratch->drawn);
    scratch->slots = mem_alloc(memory, DIFF_SLOTS_MOST, sizeof *scratch->slots);
    scratch->values = mem_alloc(memory, runs, sizeof *scratch->values);
    if (scratch->drawn && scratch->slots && scratch->values)
        return PFR_OK;
    diff_scratch_free(scratch);
    return mem_fail(memory, err, "rounds");
}

void diff_scratch_free(struct diff_scratch *scratch) {
    mem_free(scratch->memory, scratch->drawn, scratch->rounds, sizeof *scratch->drawn);
    mem_free(scratch->memory, scratch->slots, DIFF_SLOTS_MOST, sizeof *scratch->slots);
    mem_free(scratch->memory, scratch->values, scratch->nr_values, sizeof *scratch->values);
    *scratch = (struct diff_scratch){.memory = scratch->memory};
}

/* --- One recording. */

/* The divisor of a value: the series' own norm, or 1 where the subject is a plain sum. */
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

/* Of a share p of a sum of independent samples: each adds w (1 - p) if it is the row's, and -w p if not. */
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

/* `divisor` NULL: 1. Values are taken from the first one on, so that squares keep their digits. */
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

static struct estimate estimate_one(const struct diff_series *s, const struct diff_subject *subject,
                                    struct diff_scratch *scratch) {
    const bool divided = subject->per != PFR_DIFF_PER_RUN;
    const double blocks = (double)s->slots / s->block;
    struct estimate e = {.value = value_in(s, subject), .variance = INFINITY, .freedom = blocks - 1};
    if (!s->has_interval)
        return e;
    slots_of(s, subject, scratch->slots);
    diff_draw(s, scratch->slots, scratch->rounds, scratch->drawn);
    e.variance = variance_of_rounds(scratch->drawn, divided ? s->drawn_norm : NULL, scratch->rounds);
    e.variance *= blocks / (blocks - 1) * s->bias_correction;
    return e;
}

/* --- Several. */

static struct estimate estimate_several(const struct diff_side *side, const struct diff_subject *subject,
                                        struct diff_scratch *scratch) {
    struct estimate e = {.freedom = side->count - 1};
    double squares = 0;
    for (uint32_t i = 0; i < side->count; i++)
        e.value += (scratch->values[i] = value_in(&side->runs[i], subject)) / side->count;
    for (uint32_t i = 0; i < side->count; i++)
        squares += (scratch->values[i] - e.value) * (scratch->values[i] - e.value);
    e.variance = squares / (side->count - 1) / side->count;
    return e;
}

struct estimate diff_estimate(const pfr_diff *d, enum diff_side_name name, const struct diff_subject *subject,
                              struct diff_scratch *scratch) {
    const struct diff_side *side = &d->sides[name];
    struct estimate e =
        side->count > 1 ? estimate_several(side, subject, scratch) : estimate_one(&side->runs[0], subject, scratch);
    double counting = 0;
    for (uint32_t i = 0; i < side->count; i++) {
        counting += counting_variance(&side->runs[i], subject) / side->count / side->count;
        e.samples += sums_of(&side->runs[i], subject).samples[0];
    }
    e.variance = fmax(e.variance, counting);
    return e;
}

/* --- Two sides. */

/* Welch and Satterthwaite. */
static double freedom_of(const struct estimate *a, const struct estimate *b) {
    const double all = a->variance + b->variance;
    const double parts = a->variance * a->variance / a->freedom + b->variance * b->variance / b->freedom;
    return parts > 0 ? all * all / parts : INFINITY;
}

pfr_diff_value diff_value_of(const struct estimate *base, const struct estimate *changed) {
    const double error = sqrt(base->variance + changed->variance), freedom = freedom_of(base, changed);
    pfr_diff_value v = {.base = base->value,
                        .changed = changed->value,
                        .delta = changed->value - base->value,
                        .base_error = sqrt(base->variance),
                        .changed_error = sqrt(changed->variance),
                        .p = 1,
                        .q = 1};
    if (isinf(error)) { /* it is not known */
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

pfr_diff_value diff_measure(const pfr_diff *d, const struct diff_subject *subject, struct diff_scratch *scratch) {
    struct estimate base = diff_estimate(d, DIFF_BASE, subject, scratch);
    struct estimate changed = diff_estimate(d, DIFF_NEW, subject, scratch);
    if (!subject->rows && d->options.per == PFR_DIFF_PER_TOTAL && base.value > 0) {
        const double by = 100 / base.value;
        scale(&base, by);
        scale(&changed, by);
    }
    return diff_value_of(&base, &changed);
}
