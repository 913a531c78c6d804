/* SPDX-License-Identifier: Apache-2.0 */
#include "model/diff/statistics.h"

#include <math.h>
#include <stdlib.h>

/* --- Student's t: the incomplete beta function as a continued fraction (Abramowitz and Stegun 26.5.8, evaluated by
   Lentz's method). */

#define TINY 1e-300
#define TERMS 400

static double kept_from_zero(double x) {
    return fabs(x) < TINY ? TINY : x;
}

static double beta_fraction(double a, double b, double x) {
    double c = 1, d = 1 / kept_from_zero(1 - (a + b) * x / (a + 1)), h = d;
    for (int m = 1; m < TERMS; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / kept_from_zero(1 + even * d);
        c = kept_from_zero(1 + even / c);
        h *= d * c;
        d = 1 / kept_from_zero(1 + odd * d);
        c = kept_from_zero(1 + odd / c);
        h *= d * c;
        if (fabs(d * c - 1) < 1e-14)
            break;
    }
    return h;
}

/* lgamma writes the sign to a global variable, which is a race between threads. */
static double log_gamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

static double incomplete_beta(double a, double b, double x) {
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    const double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

#define QUANTILE_STEPS 200
#define NEARLY_NORMAL 1e6 /* degrees of freedom from which on the normal distribution is exact enough */

double student_tail(double t, double freedom) {
    if (freedom >= NEARLY_NORMAL)
        return erfc(fabs(t) / sqrt(2));
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/* The density at t without its constant factor, which is density_at_zero. */
static double density_factor(double t, double freedom) {
    return freedom >= NEARLY_NORMAL ? exp(-t * t / 2) : exp(-(freedom + 1) / 2 * log1p(t * t / freedom));
}

static double density_at_zero(double freedom) {
    const double pi = acos(-1);
    return freedom >= NEARLY_NORMAL ? 1 / sqrt(2 * pi)
                                    : exp(log_gamma((freedom + 1) / 2) - log_gamma(freedom / 2)) / sqrt(freedom * pi);
}

/* Newton's method from 0: the tail is convex there, so no step goes past the root. */
double student_quantile(double tail, double freedom) {
    const double scale = 2 * density_at_zero(freedom);
    double t = 0, step = 1;
    for (int i = 0; i < QUANTILE_STEPS && step > 1e-13 * t; i++) {
        step = (student_tail(t, freedom) - tail) / (scale * density_factor(t, freedom));
        t += step;
    }
    return t;
}

/* --- Prior of variances (Smyth: Linear models and empirical Bayes methods for assessing differential expression,
   2004). */

#define SERIES_FROM 6 /* argument from which on the asymptotic series of digamma and trigamma are exact enough */

/* Abramowitz and Stegun 6.3.18 and 6.3.5. */
static double digamma(double x) {
    double before = 0;
    for (; x < SERIES_FROM; x++)
        before -= 1 / x;
    const double inverse = 1 / (x * x);
    return before + log(x) - 0.5 / x -
           inverse * (1.0 / 12 - inverse * (1.0 / 120 - inverse * (1.0 / 252 - inverse / 240)));
}

/* Abramowitz and Stegun 6.4.12 and 6.4.6. */
static double trigamma(double x) {
    double before = 0;
    for (; x < SERIES_FROM; x++)
        before += 1 / (x * x);
    const double inverse = 1 / (x * x);
    return before + 1 / x + inverse / 2 +
           inverse / x * (1.0 / 6 - inverse * (1.0 / 30 - inverse * (1.0 / 42 - inverse / 30)));
}

/* The x with trigamma(x) = y. The function trigamma falls from infinity to 0, between 1/x and 1/x + 1/x^2. */
static double inverse_trigamma(double y) {
    double low = 1 / y, high = 1 / y + 1 / sqrt(y);
    for (int i = 0; i < QUANTILE_STEPS && high - low > 1e-12 * high; i++) {
        const double middle = low + (high - low) / 2;
        *(trigamma(middle) > y ? &low : &high) = middle;
    }
    return low;
}

struct variance_prior fit_variance_prior(double *ratios, size_t count, double freedom) {
    const double expected = digamma(freedom / 2) - log(freedom / 2);
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += (ratios[i] = log(ratios[i]) - expected) / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (ratios[i] - mean) * (ratios[i] - mean);
    const double excess = squares / (double)(count - 1) - trigamma(freedom / 2);
    if (excess <= 0)
        return (struct variance_prior){.scale = exp(mean), .freedom = INFINITY};
    const double half = inverse_trigamma(excess);
    return (struct variance_prior){.scale = exp(mean + digamma(half) - log(half)), .freedom = 2 * half};
}

/* --- False discoveries. */

static int by_p(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->p != y->p)
        return x->p < y->p ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

void benjamini_hochberg(const double *p, double *q, struct ranked *order, size_t count) {
    size_t family = 0;
    for (size_t i = 0; i < count; i++) {
        q[i] = 1;
        if (p[i] <= 1)
            order[family++] = (struct ranked){p[i], (uint32_t)i};
    }
    if (family)
        qsort(order, family, sizeof *order, by_p);
    double least = 1;
    for (size_t rank = family; rank > 0; rank--) {
        const double rate = order[rank - 1].p * (double)family / (double)rank;
        least = rate < least ? rate : least;
        q[order[rank - 1].index] = least;
    }
}

/* --- Order statistics: the rank of the quantile is a binomial number. */

/* Probability of at most k successes in n trials, each with probability `part`. */
static double binomial_at_most(uint64_t k, uint64_t n, double part) {
    return k >= n ? 1 : incomplete_beta((double)(n - k), (double)k + 1, 1 - part);
}

/* The smallest k for which the probability of at most k is `probability` or more. */
static uint64_t binomial_quantile(uint64_t n, double part, double probability) {
    uint64_t low = 0, high = n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (binomial_at_most(middle, n, part) >= probability)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void quantile_ranks(uint64_t count, double part, uint64_t *low, uint64_t *high) {
    *low = binomial_quantile(count, part, 0.025);
    *high = binomial_quantile(count, part, 0.975) + 1;
}

/* --- Length of blocks. */

static double covariance(const double *series, uint32_t count, uint32_t lag) {
    double sum = 0;
    for (uint32_t i = 0; i + lag < count; i++)
        sum += series[i] * series[i + lag];
    return sum / count;
}

/* The lag after which correlations are insignificant: the first m that is followed by `quiet` correlations below the
   bound. */
static uint32_t last_lag(const double *series, uint32_t count, double variance) {
    const double bound = 2 * sqrt(log10((double)count) / count);
    const double steps = sqrt(log10((double)count));
    const uint32_t quiet = steps > 5 ? (uint32_t)ceil(steps) : 5, most = count / 4;
    uint32_t run = 0, last = 0;
    for (uint32_t lag = 1; lag <= most && run < quiet; lag++) {
        const int is_large = fabs(covariance(series, count, lag)) > bound * variance;
        run = is_large ? 0 : run + 1;
        last = is_large ? lag : last;
    }
    return last;
}

/* The flat-top window of Politis and Romano. */
static double flat_top(double x) {
    return x <= 0.5 ? 1 : x <= 1 ? 2 * (1 - x) : 0;
}

double block_length(double *series, uint32_t count) {
    double mean = 0;
    for (uint32_t i = 0; i < count; i++)
        mean += series[i] / count;
    for (uint32_t i = 0; i < count; i++)
        series[i] -= mean;
    const double variance = covariance(series, count, 0);
    const uint32_t width = variance > 0 ? 2 * last_lag(series, count, variance) : 0;
    double spectrum = variance, slope = 0;
    for (uint32_t lag = 1; lag <= width && lag < count; lag++) {
        const double part = 2 * flat_top((double)lag / width) * covariance(series, count, lag);
        spectrum += part;
        slope += part * lag;
    }
    if (width == 0 || spectrum <= 0)
        return 1;
    const double length = cbrt(1.5 * slope * slope / (spectrum * spectrum) * count);
    return length < 1 ? 1 : length;
}

/* --- Random numbers. */

static uint64_t rotated(uint64_t x, unsigned by) {
    return x << by | x >> (64 - by);
}

struct draws draws_seeded(uint64_t seed) {
    struct draws r;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        r.s[i] = z ^ z >> 31;
    }
    return r;
}

static uint64_t draws_next(struct draws *r) {
    uint64_t *s = r->s;
    const uint64_t result = rotated(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotated(s[3], 45);
    return result;
}

uint32_t draw_below(struct draws *random, uint32_t below) {
    return (uint32_t)(((unsigned __int128)draws_next(random) * below) >> 64);
}
