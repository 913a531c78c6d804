/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_BLOCKS_H
#define PFR_MODEL_DIFF_BLOCKS_H
/* Interface of diff_blocks.c, which describes how it works. */
#include "model/diff/diff_parts.h"

/* sums[round] = the sum over all slots of slots[slot] times the number of times that the round has the slot. */
void diff_draw(const struct diff_series *s, const double *slots, uint32_t rounds, float *restrict sums);
pfr_status diff_blocks_draw(pfr_diff *d, struct diff_series *s, uint64_t seed, pfr_error *err);

#endif
