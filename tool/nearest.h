/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_NEAREST_H
#define PERFRAY_TOOL_NEAREST_H
/* Which known word a mistyped one was meant to be. */
#include <stddef.h>

/* Letters to insert, delete, replace or swap with their neighbour to get from one word to the other. Words of more than
   31 bytes are cut. */
unsigned word_distance(const char *a, const char *b);

/* A word found so far: begin with { .distance = UINT_MAX } and offer it every candidate. */
struct nearest {
    const char *word;
    unsigned distance;
};

void nearest_offer(struct nearest *best, const char *typed, const char *candidate);

/* The best word when it is near enough to be meant, else NULL. */
const char *nearest_word(const struct nearest *best, const char *typed);

#endif
