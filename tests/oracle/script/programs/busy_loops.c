/* SPDX-License-Identifier: Apache-2.0 */
/* Computes in nested calls of three functions, and writes small pieces. Usage: `busy MILLISECONDS`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

volatile unsigned long counter;

__attribute__((noinline)) unsigned long leaf(unsigned long rounds) {
    unsigned long sum = 0;
    for (unsigned long i = 0; i < rounds; i++)
        sum += (i * i) ^ counter;
    counter++;
    return sum;
}

__attribute__((noinline)) static unsigned long middle(unsigned long rounds) {
    return leaf(rounds) + 1;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(int count, char **words) {
    double end = now() + (count > 1 ? atof(words[1]) : 60);
    FILE *sink = fopen("/dev/null", "w");
    unsigned long sum = 0;
    while (sink && now() < end) {
        char text[64];
        sum += middle(20000);
        snprintf(text, sizeof text, "%lu", sum);
        fprintf(sink, "%s %zu\n", text, strlen(text));
        fflush(sink);
    }
    return sum == 1;
}
