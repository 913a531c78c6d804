/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps one CPU busy for about a second in functions with known shares of the time: of every 16 rounds, `sieve` runs 9,
 * `scramble` 5 and `measure` 2. `./dev demo` records it:
 *
 *     gcc -g -O1 -fno-omit-frame-pointer busy.c -o busy && perf record -g ./busy
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))
#define ROUND 60000u

/* A round of each function below costs about the same: ROUND multiplications, each dependent on the previous one. */
APART static uint64_t sieve(uint64_t value) {
    for (uint32_t step = 0; step < ROUND; step++)
        value = value * 6364136223846793005u + 1442695040888963407u;
    return value;
}

APART static uint64_t scramble(uint64_t value) {
    for (uint32_t step = 0; step < ROUND; step++)
        value = value * 2862933555777941757u + 3037000493u;
    return value;
}

APART static uint64_t measure(uint64_t value) {
    for (uint32_t step = 0; step < ROUND; step++)
        value = value * 3935559000370003845u + 2691343689449507681u;
    return value;
}

APART static uint64_t search(uint64_t value) {
    for (int round = 0; round < 9; round++)
        value = sieve(value) + 1;
    return value;
}

APART static uint64_t encode(uint64_t value) {
    for (int round = 0; round < 5; round++)
        value = scramble(value) + 1;
    for (int round = 0; round < 2; round++)
        value = measure(value) + 1;
    return value;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    const double until = seconds_now() + (argc > 1 ? atof(argv[1]) : 1.0);
    uint64_t value = 1;
    while (seconds_now() < until)
        value = encode(search(value));
    printf("busy: %llu\n", (unsigned long long)value);
    return 0;
}
