/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of the block bootstrap of one recording. Each round draws blocks of neighbouring slots, on a circle, until it
 * has as many slots as the recording. A round is stored as the number of times that it has each slot.
 */
#include "model/diff/diff_blocks.h"
#include "model/diff/diff_covariance.h"

#include <math.h>

#define ROWS_LOOKED_AT 8u /* the heaviest rows determine the block length */
#define BLOCKS_LEAST 8u
#define BIAS_MOST 0.5 /* largest correction, as part of the variance; if more is needed, the recording is too short */
#define AT_ONCE 8u
#define SLOTS_AT_ONCE 4u

/* Floats that are added in one step. A vector type is needed because compilers at -O2 do not vectorise such loops. */
typedef float lanes __attribute__((vector_size(AT_ONCE * sizeof(float)), aligned(sizeof(float)), may_alias));

static uint32_t heaviest(const struct diff_series *s, uint32_t rows, double below) {
    uint32_t best = DIFF_NO_ROW;
    for (uint32_t row = 0; row < rows; row++)
        if (s->sums[row].weight[DIFF_SELF] > 0 && s->sums[row].weight[DIFF_SELF] < below &&
            (best == DIFF_NO_ROW || s->sums[row].weight[DIFF_SELF] > s->sums[best].weight[DIFF_SELF]))
            best = row;
    return best;
}

/* The influence of each slot on the share of a row: the weight of the row in the slot minus its expected weight
   there. */
static void put_influence(const struct diff_series *s, uint32_t row, double *series) {
    const double ratio = s->norm > 0 ? s->sums[row].weight[DIFF_SELF] / s->norm : 0;
    for (uint32_t i = 0; i < s->slots; i++)
        series[i] = -ratio * s->norms[i];
    for (size_t i = s->first_cell[row]; i < s->first_cell[row + 1]; i++)
        series[s->cells[i].slot] += s->cells[i].weight[DIFF_SELF];
}

/*
 * Blocks of b slots weigh the correlation at lag k by 1 - k/b, so the variance of the rounds is too small by the part
 * sum(|k| R(k)) / (b sum(R(k))). The quotient of the sums follows from the rule for the block length: L^3 / n is 1.5
 * times its square.
 */
static double bias_correction(const struct diff_series *s, double length) {
    const double missing = length > 1 ? sqrt(length * length * length / (1.5 * s->slots)) / s->block : 0;
    return 1 / (1 - fmin(missing, BIAS_MOST));
}

static void choose_block(const pfr_diff *d, struct diff_series *s, double *series) {
    double longest = 1, below = INFINITY;
    memcpy(series, s->weights, s->slots * sizeof *series);
    if (d->options.per != PFR_DIFF_PER_TOTAL)
        longest = block_length(series, s->slots);
    for (uint32_t i = 0; i < ROWS_LOOKED_AT; i++) {
        const uint32_t row = heaviest(s, d->nr_names, below);
        if (row == DIFF_NO_ROW)
            break;
        below = s->sums[row].weight[DIFF_SELF];
        put_influence(s, row, series);
        longest = fmax(longest, block_length(series, s->slots));
    }
    const double most = s->slots / BLOCKS_LEAST;
    s->block = s->has_interval ? (uint32_t)ceil(fmin(longest, most)) : 1;
    s->bias_correction = bias_correction(s, longest);
}

static void draw_round(const struct diff_series *s, uint32_t round, uint32_t rounds, struct draws *random) {
    for (uint32_t left = s->slots; left > 0;) {
        const uint32_t length = s->block < left ? s->block : left, from = draw_below(random, s->slots);
        for (uint32_t i = 0; i < length; i++)
            s->draws[(size_t)((from + i) % s->slots) * rounds + round] += 1;
        left -= length;
    }
}

/* Adds to `sums` the weights of some slots, multiplied by the number of times that each round has the slot. */
static void add_slots(const float *const times[SLOTS_AT_ONCE], const float weights[SLOTS_AT_ONCE], uint32_t rounds,
                      float *restrict sums) {
    uint32_t round = 0;
    for (; round + AT_ONCE <= rounds; round += AT_ONCE)
        *(lanes *)(sums + round) +=
            (weights[0] * *(const lanes *)(times[0] + round) + weights[1] * *(const lanes *)(times[1] + round)) +
            (weights[2] * *(const lanes *)(times[2] + round) + weights[3] * *(const lanes *)(times[3] + round));
    for (; round < rounds; round++)
        sums[round] += (weights[0] * times[0][round] + weights[1] * times[1][round]) +
                       (weights[2] * times[2][round] + weights[3] * times[3][round]);
}

/* Several slots share one pass over `sums`. */
void diff_draw(const struct diff_series *s, const double *slots, uint32_t rounds, float *restrict sums) {
    const float *times[SLOTS_AT_ONCE] = {s->draws, s->draws, s->draws, s->draws};
    float weights[SLOTS_AT_ONCE] = {0};
    uint32_t count = 0;
    memset(sums, 0, rounds * sizeof *sums);
    for (uint32_t i = 0; i < s->slots; i++) {
        if (slots[i] == 0)
            continue;
        times[count] = s->draws + (size_t)i * rounds;
        weights[count] = (float)slots[i];
        if (++count < SLOTS_AT_ONCE)
            continue;
        add_slots(times, weights, rounds, sums);
        memset(weights, 0, sizeof weights);
        count = 0;
    }
    if (count)
        add_slots(times, weights, rounds, sums);
}

pfr_status diff_blocks_draw(pfr_diff *d, struct diff_series *s, uint64_t seed, pfr_error *err) {
    double *series = mem_alloc(&d->memory, s->slots, sizeof *series);
    s->draws = mem_zeroed(&d->memory, (size_t)s->slots * d->options.rounds, sizeof *s->draws);
    s->drawn_norm = mem_alloc(&d->memory, d->options.rounds, sizeof *s->drawn_norm);
    if (!series || !s->draws || !s->drawn_norm) {
        mem_free(&d->memory, series, s->slots, sizeof *series);
        return mem_fail(&d->memory, err, "rounds");
    }
    choose_block(d, s, series);
    mem_free(&d->memory, series, s->slots, sizeof *series);
    struct draws random = draws_seeded(seed);
    for (uint32_t round = 0; round < d->options.rounds; round++)
        draw_round(s, round, d->options.rounds, &random);
    diff_draw(s, s->norms, d->options.rounds, s->drawn_norm);
    return diff_covariance_make(d, s, err);
}
