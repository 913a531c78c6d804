/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_CAPPED_SUM_H
#define PFR_BASE_CAPPED_SUM_H
/* Saturating sums of numbers from a file: a sum that would exceed 2^64 - 1 is 2^64 - 1, in whatever order the numbers
   are added. */
#include <stdint.h>

static inline uint64_t capped_sum(uint64_t a, uint64_t b) {
    const uint64_t sum = a + b;
    return sum < a ? UINT64_MAX : sum;
}

#endif
