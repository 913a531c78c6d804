/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the nearest word by edit distance, in which swapping two neighbours is one step; three rows of the usual table
   are kept. A word is accepted if less than half of the typed letters differ, or if the word begins with the typed
   text. */
#include <string.h>
#include "nearest.h"

#define WORD_MOST 31

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

unsigned word_distance(const char *a, const char *b) {
    unsigned rows[3][WORD_MOST + 1];
    const size_t a_length = strnlen(a, WORD_MOST), b_length = strnlen(b, WORD_MOST);
    for (unsigned j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned *const row = rows[i % 3];
        const unsigned *const above = rows[(i + 2) % 3], *const above_that = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], above_that[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

void nearest_offer(struct nearest *best, const char *typed, const char *candidate) {
    const size_t length = strlen(typed);
    const unsigned distance =
        length > 1 && strncmp(typed, candidate, length) == 0 ? 0 : word_distance(typed, candidate);
    if (distance >= best->distance)
        return;
    best->word = candidate;
    best->distance = distance;
}

const char *nearest_word(const struct nearest *best, const char *typed) {
    const size_t length = strlen(typed);
    return best->word && (best->distance == 0 || best->distance * 2 < length) ? best->word : NULL;
}
