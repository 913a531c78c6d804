/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of the block bootstrap of one recording: each draws blocks of neighbouring slots, on a circle, until it has as
 * many slots as the recording. A round is how often it has each slot.
 */
#include "model/diff/diff_blocks.h"

#include <math.h>

#define ROWS_LOOKED_AT 8u /* the heaviest ones decide how long blocks are */
#define BLOCKS_LEAST 8u
#define AT_ONCE 8u

/* Floats that are added in one step: compilers at -O2 use vectors only if types ask for them. */
typedef float lanes __attribute__((vector_size(AT_ONCE * sizeof(float)), aligned(sizeof(float)), may_alias));

static uint32_t heaviest(const struct diff_series *s, uint32_t rows, double below) {
    uint32_t best = DIFF_NO_ROW;
    for (uint32_t row = 0; row < rows; row++)
        if (s->sums[row].weight[DIFF_SELF] > 0 && s->sums[row].weight[DIFF_SELF] < below &&
            (best == DIFF_NO_ROW || s->sums[row].weight[DIFF_SELF] > s->sums[best].weight[DIFF_SELF]))
            best = row;
    return best;
}

/* The influence of a slot on the share of a row: its weight in a slot without what it would have on average there. */
static void put_influence(const struct diff_series *s, uint32_t row, double *series) {
    const double ratio = s->norm > 0 ? s->sums[row].weight[DIFF_SELF] / s->norm : 0;
    for (uint32_t i = 0; i < s->slots; i++)
        series[i] = -ratio * s->norms[i];
    for (size_t i = s->first_cell[row]; i < s->first_cell[row + 1]; i++)
        series[s->cells[i].slot] += s->cells[i].weight[DIFF_SELF];
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
    s->block = (uint32_t)ceil(fmin(longest, most));
}

static void draw_round(const struct diff_series *s, uint32_t round, uint32_t rounds, struct draws *random) {
    for (uint32_t left = s->slots; left > 0;) {
        const uint32_t length = s->block < left ? s->block : left, from = draw_below(random, s->slots);
        for (uint32_t i = 0; i < length; i++)
            s->draws[(size_t)((from + i) % s->slots) * rounds + round] += 1;
        left -= length;
    }
}

/* The inner loop is what a comparison spends its time in. */
void diff_draw(const struct diff_series *s, const double *slots, uint32_t rounds, float *restrict sums) {
    memset(sums, 0, rounds * sizeof *sums);
    for (uint32_t i = 0; i < s->slots; i++) {
        const float weight = (float)slots[i];
        const float *restrict times = s->draws + (size_t)i * rounds;
        if (weight == 0)
            continue;
        uint32_t round = 0;
        for (; round + AT_ONCE <= rounds; round += AT_ONCE)
            *(lanes *)(sums + round) += weight * *(const lanes *)(times + round);
        for (; round < rounds; round++)
            sums[round] += weight * times[round];
    }
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
    return PFR_OK;
}
