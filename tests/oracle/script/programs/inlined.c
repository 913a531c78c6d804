/* SPDX-License-Identifier: Apache-2.0 */
/* Works in functions that are inlined into each other, three levels deep, from two places, so the names of all inlined
   functions are known. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define INLINED static inline __attribute__((always_inline))
#define APART __attribute__((noinline, noclone))

INLINED uint64_t stir(uint64_t x) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

INLINED uint64_t stir_often(uint64_t x, int times) {
    for (int i = 0; i < times; i++)
        x = stir(x);
    return x;
}

INLINED uint64_t bowl(uint64_t x) {
    return stir_often(x + 1, 3000) + 1;
}

static APART uint64_t kitchen(uint64_t x) {
    x += bowl(x);
    return x + 3;
}

static APART uint64_t bakery(uint64_t x) {
    x = kitchen(x) ^ stir_often(x, 2000);
    return x + 5;
}

int main(int argc, char **argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 100;
    uint64_t x = 88172645463325252;
    for (int i = 0; i < rounds * 50; i++)
        x += bakery(x);
    printf("%llu\n", (unsigned long long)x);
    return 0;
}
