/* SPDX-License-Identifier: Apache-2.0 */
/* The variance from the covariance of slots is that of the values of the rounds. */
#include "test.h"

#include "model/diff/diff_blocks.h"
#include "model/diff/diff_covariance.h"

#include <math.h>

#define SLOTS_MOST 512u
#define ROUNDS_MOST 1003u

/* A recording that has only what the rounds need. */
struct made_series {
    pfr_diff diff;
    struct diff_series series;
    float draws[SLOTS_MOST * ROUNDS_MOST], norms[ROUNDS_MOST];
    double slots[SLOTS_MOST];
    float scaled[DIFF_SLOTS_MOST];
};

static struct made_series *make_series(uint32_t slots, uint32_t rounds, pfr_diff_per per, struct draws *random) {
    struct made_series *m = calloc(1, sizeof *m);
    assert_non_null(m);
    memory_init(&m->diff.memory, NULL, 0);
    m->diff.options.rounds = rounds;
    m->diff.options.per = per;
    m->series = (struct diff_series){.slots = slots,
                                     .has_interval = true,
                                     .nr_cells = (size_t)slots * slots,
                                     .draws = m->draws,
                                     .drawn_norm = m->norms};
    for (uint32_t r = 0; r < rounds; r++)
        for (uint32_t i = 0; i < slots; i++)
            m->draws[(size_t)draw_below(random, slots) * rounds + r] += 1;
    for (uint32_t i = 0; i < slots; i++) {
        const double norm = 1e9 * (1 + draw_below(random, 100));
        m->series.norm += norm;
        for (uint32_t r = 0; r < rounds; r++)
            m->norms[r] += (float)norm * m->draws[(size_t)i * rounds + r];
    }
    return m;
}

/* Computes the variance by its definition. *scale: the variance if slots were independent. */
static double variance_of(const struct made_series *m, double *scale) {
    const uint32_t rounds = m->diff.options.rounds;
    double values[ROUNDS_MOST], sum = 0, squares = 0;
    uint32_t count = 0;
    *scale = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        if (m->diff.options.per != PFR_DIFF_PER_RUN && m->norms[r] <= 0)
            continue;
        values[count] = 0;
        for (uint32_t i = 0; i < m->series.slots; i++)
            values[count] += m->slots[i] * (double)m->draws[(size_t)i * rounds + r];
        if (m->diff.options.per != PFR_DIFF_PER_RUN)
            values[count] *= m->series.norm / (double)m->norms[r];
        sum += values[count++];
    }
    for (uint32_t r = 0; r < count; r++)
        squares += (values[r] - sum / count) * (values[r] - sum / count);
    for (uint32_t i = 0; i < m->series.slots; i++)
        *scale += m->slots[i] * m->slots[i];
    return squares / (count - 1);
}

static void expect_variance(struct made_series *m) {
    double scale;
    const double wanted = variance_of(m, &scale), got = diff_covariance_value(&m->series, m->slots, m->scaled);
    if (!(fabs(got - wanted) <= 1e-4 * scale))
        fail_msg("the variance is %g, not %g (scale %g)", got, wanted, scale);
}

static void expect_variances(uint32_t slots, uint32_t rounds, pfr_diff_per per) {
    struct draws random = draws_seeded(slots + rounds);
    struct made_series *m = make_series(slots, rounds, per, &random);
    pfr_error err;
    m->norms[rounds / 2] = 0; /* without a norm, the round is left out */
    ASSERT_OK(diff_covariance_make(&m->diff, &m->series, &err), err);
    assert_non_null(m->series.covariance);
    for (uint32_t part = 1; part <= slots; part *= 3) {
        for (uint32_t i = 0; i < slots; i++)
            m->slots[i] = draw_below(&random, part) == 0 ? 1e9 * draw_below(&random, 1000) : 0;
        expect_variance(m);
    }
    memset(m->slots, 0, sizeof m->slots);
    expect_variance(m);
    m->slots[slots - 1] = 1e-3;
    expect_variance(m);
    diff_covariance_free(&m->diff, &m->series);
    free(m);
}

TEST(diff_covariance_gives_the_variance_of_the_rounds) {
    static const uint32_t slots[] = {8, 9, 15, 100, 511, 512}, rounds[] = {100, 1003};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        for (size_t k = 0; k < sizeof rounds / sizeof *rounds; k++) {
            expect_variances(slots[i], rounds[k], PFR_DIFF_PER_TOTAL);
            expect_variances(slots[i], rounds[k], PFR_DIFF_PER_RUN);
        }
}

/* Few cells: the rows need fewer steps than the covariance. */
TEST(diff_covariance_is_made_for_many_cells_only) {
    struct draws random = draws_seeded(1);
    struct made_series *m = make_series(100, 100, PFR_DIFF_PER_TOTAL, &random);
    pfr_error err;
    m->series.nr_cells = 1000;
    ASSERT_OK(diff_covariance_make(&m->diff, &m->series, &err), err);
    assert_null(m->series.covariance);
    free(m);
}
