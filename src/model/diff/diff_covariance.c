/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variance of a row's value over the rounds, without a pass over the rounds for each row. The value of a round is
 *
 *     value = sum over the slots i of w[i] u[i],   u[i] = times that the round has slot i / norm of the round
 *
 * so its variance over the rounds is the sum over i and j of w[i] w[j] C[i][j], where C is the covariance of u[i] and
 * u[j] over the rounds. C is the same for all rows. A row with k slots then costs k * k / 2 steps instead of k steps in
 * each of a thousand rounds.
 *
 * u is multiplied by the norm of the recording and w divided by its maximum, so that floats are precise enough. (The
 * error relative to the variance of independent slots is about 1e-6.)
 */
#include "model/diff/diff_covariance.h"

#include <assert.h>
#include <math.h>

#define AT_ONCE 8u /* elements of a row in one step */
#define ROWS_AT_ONCE 4u
#define CELLS_PART 4u /* C takes slots * slots / 2 steps in each round, a row at most two for each of its cells */
#define DENSE_PART 8u /* from an eighth of the slots on, steps over all slots are faster than over the used ones */

static_assert(DIFF_SLOTS_MOST % AT_ONCE == 0, "scaled sums have room for padding");

static uint32_t padded(uint32_t count) {
    return (count + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
}

/* --- u, with the mean of each slot subtracted: then a covariance is a mean of products. */

/* The factors of the rounds; 0: the round has no norm and is left out. Returns the number of other rounds. */
static uint32_t factors_of(const pfr_diff *d, const struct diff_series *s, double *factors) {
    uint32_t count = 0;
    for (uint32_t r = 0; r < d->options.rounds; r++) {
        const bool divided = d->options.per != PFR_DIFF_PER_RUN;
        factors[r] = !divided ? 1 : s->drawn_norm[r] > 0 ? s->norm / (double)s->drawn_norm[r] : 0;
        count += factors[r] > 0;
    }
    return count;
}

static void center(const float *times, const double *factors, uint32_t rounds, uint32_t count, float *u) {
    double sum = 0;
    for (uint32_t r = 0; r < rounds; r++)
        sum += (double)times[r] * factors[r];
    for (uint32_t r = 0; r < rounds; r++)
        u[r] = factors[r] > 0 ? (float)((double)times[r] * factors[r] - sum / count) : 0;
}

/* --- C: only the lower triangle is stored. Its diagonal is halved, and sums over the triangle are doubled. */

/* Vectors as long as the registers of all machines; compilers keep sums of longer ones in memory. */
typedef float lanes __attribute__((vector_size(AT_ONCE / 2 * sizeof(float)), aligned(sizeof(float)), may_alias));

struct pair {
    lanes low, high;
};

static inline struct pair pair_at(const float *at) {
    return (struct pair){*(const lanes *)at, *(const lanes *)(at + AT_ONCE / 2)};
}

static inline struct pair plus_product(struct pair sum, struct pair a, struct pair b) {
    return (struct pair){sum.low + a.low * b.low, sum.high + a.high * b.high};
}

static float sum_of(struct pair p) {
    return ((p.low[0] + p.low[1]) + (p.low[2] + p.low[3])) + ((p.high[0] + p.high[1]) + (p.high[2] + p.high[3]));
}

/* Four rows of a matrix times `other`, of which `length` elements are used, a multiple of AT_ONCE. The sums have
   names of their own, so that they stay in registers. */
static void multiply(const float *rows, size_t stride, uint32_t length, const float *other, float sums[ROWS_AT_ONCE]) {
    struct pair first = {0}, second = {0}, third = {0}, fourth = {0};
    for (const float *const end = other + length; other < end; other += AT_ONCE, rows += AT_ONCE) {
        const struct pair with = pair_at(other);
        first = plus_product(first, pair_at(rows), with);
        second = plus_product(second, pair_at(rows + stride), with);
        third = plus_product(third, pair_at(rows + 2 * stride), with);
        fourth = plus_product(fourth, pair_at(rows + 3 * stride), with);
    }
    sums[0] = sum_of(first);
    sums[1] = sum_of(second);
    sums[2] = sum_of(third);
    sums[3] = sum_of(fourth);
}

/* u has rows of zeros after the last slot, so that ROWS_AT_ONCE divides their number. */
static void fill(struct diff_series *s, const float *u, uint32_t length, uint32_t count) {
    const uint32_t stride = padded(s->slots);
    float sums[ROWS_AT_ONCE];
    for (uint32_t i = 0; i < stride; i += ROWS_AT_ONCE)
        for (uint32_t j = 0; j < i + ROWS_AT_ONCE; j++) {
            multiply(u + (size_t)i * length, length, length, u + (size_t)j * length, sums);
            for (uint32_t k = 0; k < ROWS_AT_ONCE; k++)
                if (j <= i + k)
                    s->covariance[(size_t)(i + k) * stride + j] = sums[k] / (float)(count - 1) / (j == i + k ? 2 : 1);
        }
}

static pfr_status make(pfr_diff *d, struct diff_series *s, double *factors, float *u, pfr_error *err) {
    const uint32_t rounds = d->options.rounds, length = padded(rounds), stride = padded(s->slots);
    const uint32_t count = factors_of(d, s, factors);
    if (count < 2)
        return PFR_OK;
    s->covariance = mem_zeroed(&d->memory, (size_t)stride * stride, sizeof *s->covariance);
    if (!s->covariance)
        return mem_fail(&d->memory, err, "rounds");
    for (uint32_t i = 0; i < s->slots; i++)
        center(s->draws + (size_t)i * rounds, factors, rounds, count, u + (size_t)i * length);
    fill(s, u, length, count);
    return PFR_OK;
}

pfr_status diff_covariance_make(pfr_diff *d, struct diff_series *s, pfr_error *err) {
    const uint32_t rounds = d->options.rounds, length = padded(rounds), stride = padded(s->slots);
    if (!s->has_interval || s->nr_cells < (size_t)s->slots * s->slots / CELLS_PART)
        return PFR_OK;
    double *factors = mem_alloc(&d->memory, rounds, sizeof *factors);
    float *u = mem_zeroed(&d->memory, (size_t)stride * length, sizeof *u);
    const pfr_status st = factors && u ? make(d, s, factors, u, err) : mem_fail(&d->memory, err, "rounds");
    mem_free(&d->memory, factors, rounds, sizeof *factors);
    mem_free(&d->memory, u, (size_t)stride * length, sizeof *u);
    return st;
}

void diff_covariance_free(pfr_diff *d, struct diff_series *s) {
    const uint32_t stride = padded(s->slots);
    mem_free(&d->memory, s->covariance, (size_t)stride * stride, sizeof *s->covariance);
    s->covariance = NULL;
}

/* --- The sum over i and j. */

static double sum_dense(const struct diff_series *s, const float *w) {
    const uint32_t stride = padded(s->slots);
    float sums[ROWS_AT_ONCE];
    double sum = 0;
    for (uint32_t i = 0; i < stride; i += ROWS_AT_ONCE) {
        multiply(s->covariance + (size_t)i * stride, stride, padded(i + ROWS_AT_ONCE), w, sums);
        for (uint32_t k = 0; k < ROWS_AT_ONCE; k++)
            sum += (double)w[i + k] * (double)sums[k];
    }
    return 2 * sum;
}

static double sum_sparse(const struct diff_series *s, const float *w, const uint16_t *used, uint32_t count) {
    const uint32_t stride = padded(s->slots);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        const float *row = s->covariance + (size_t)used[i] * stride;
        float of_row = 0;
        for (uint32_t j = 0; j <= i; j++)
            of_row += row[used[j]] * w[used[j]];
        sum += (double)w[used[i]] * (double)of_row;
    }
    return 2 * sum;
}

double diff_covariance_value(const struct diff_series *s, const double *slots, float *scaled) {
    uint16_t used[DIFF_SLOTS_MOST];
    uint32_t count = 0;
    double most = 0;
    for (uint32_t i = 0; i < s->slots; i++) {
        most = fmax(most, fabs(slots[i]));
        if (slots[i] != 0)
            used[count++] = (uint16_t)i;
    }
    if (count == 0)
        return 0;
    for (uint32_t i = 0; i < padded(s->slots); i++)
        scaled[i] = i < s->slots ? (float)(slots[i] / most) : 0;
    const double sum = count < s->slots / DENSE_PART ? sum_sparse(s, scaled, used, count) : sum_dense(s, scaled);
    return fmax(0, sum * most * most);
}
