/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_STATISTICS_H
#define PFR_MODEL_DIFF_STATISTICS_H
/* Statistical functions for comparisons. All are pure. */
#include <stddef.h>
#include <stdint.h>

/* Probability of |T| >= |t| under Student's distribution with `freedom` > 0 degrees of freedom. */
double student_tail(double t, double freedom);
/* The t with student_tail(t) = tail, 0 < tail < 1. */
double student_quantile(double tail, double freedom);

/*
 * Fits the distribution of true variances, scale * freedom / chi-squared, to `count` estimates with the same `freedom`
 * degrees of freedom each, by the mean and variance of their logarithms (Smyth 2004). `ratios` are the estimates
 * relative to the expected variances; they are modified. The prior's freedom is INFINITY if the estimates differ no
 * more than by chance. `count` >= 2; ratios > 0.
 */
struct variance_prior {
    double scale, freedom;
};
struct variance_prior fit_variance_prior(double *ratios, size_t count, double freedom);

/* q[i]: the smallest false discovery rate at which p[i] is a discovery (Benjamini and Hochberg 1995). `order` is room
   for `count` items. Values of p above 1 are not part of the family: their q is 1. */
struct ranked {
    double p;
    uint32_t index;
};
void benjamini_hochberg(const double *p, double *q, struct ranked *order, size_t count);

/* Ranks from 1 of the order statistics of `count` values that enclose the quantile `part` with a probability of at
   least 95 %, 2.5 % on each side. *high is count + 1 if no value is large enough, *low is 0 if no value is small
   enough. */
void quantile_ranks(uint64_t count, double part, uint64_t *low, uint64_t *high);

/* Block length, in slots, for a circular block bootstrap of a stationary series (Politis and White 2004, corrected
   2009). At least 1, not limited above. `series` is modified: its mean is subtracted. */
double block_length(double *series, uint32_t count);

/* Random numbers that are the same on all machines (xoshiro256++, seeded by splitmix64). */
struct draws {
    uint64_t s[4];
};
struct draws draws_seeded(uint64_t seed);
/* From 0 to below - 1. */
uint32_t draw_below(struct draws *random, uint32_t below);

#endif
