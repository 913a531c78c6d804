/* SPDX-License-Identifier: Apache-2.0 */
/* Functions inlined into each other, for compilers for other architectures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    unsigned key, value;
};

static unsigned mix(unsigned seed) {
    return seed * 1103515245u + 12345u;
}

static struct pair make(unsigned seed) {
    return (struct pair){mix(seed), mix(mix(seed))};
}

static int compare(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static unsigned fold(const struct pair *pairs, unsigned count) {
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum = mix(sum ^ pairs[i].value);
    return sum;
}

static void fill(struct pair *pairs, unsigned count, unsigned seed) {
    for (unsigned i = 0; i < count; i++)
        pairs[i] = make(seed + i);
}

int main(int count, char **words) {
    struct pair pairs[64];
    char text[64] = "";
    for (int round = 0; round < 8; round++) {
        fill(pairs, 64, (unsigned)(round + count));
        qsort(pairs, 64, sizeof *pairs, compare);
        snprintf(text, sizeof text, "%s %u", count > 1 ? words[1] : "none", fold(pairs, 64));
    }
    puts(strchr(text, ' ') ? text : "?");
    return 0;
}
