/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_NEAREST_H
#define PERFRAY_TOOL_NEAREST_H
/* Finds the known word for which a mistyped word was meant. */
#include <stddef.h>

/* The number of letters to insert, delete, replace or swap with their neighbour to change one word into the other.
   Words are truncated to 31 bytes. */
unsigned word_distance(const char *a, const char *b);

/* The best word so far: begin with { .distance = UINT_MAX } and offer it every candidate. */
struct nearest {
    const char *word;
    unsigned distance;
};

void nearest_offer(struct nearest *best, const char *typed, const char *candidate);

/* The best word if it is near enough, otherwise NULL. */
const char *nearest_word(const struct nearest *best, const char *typed);

#endif
