/* SPDX-License-Identifier: Apache-2.0 */
/* A program with three shared objects, each of which has a function that is not exported. -DPART=gone builds the object
   `gone`. */
#include <stdio.h>
#include <stdlib.h>

#ifdef PART
#define JOIN(a, b) a##b
#define INNER(part) JOIN(inner_, part)

static __attribute__((noinline)) unsigned long INNER(PART)(unsigned long n) {
    unsigned long sum = n;
    for (unsigned long i = 0; i < n; i++) {
        sum ^= sum << 7;
        sum += i * 2654435761u;
    }
#ifdef MORE
    sum += 7;
#endif
    return sum;
}

unsigned long PART(unsigned long n);
unsigned long PART(unsigned long n) {
    return INNER(PART)(n) + 1;
}
#else
unsigned long gone(unsigned long n), other(unsigned long n), bare(unsigned long n);

int main(int argc, char **argv) {
    unsigned long sum = 0;
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < rounds; i++)
        sum += gone(100000) ^ other(100000) ^ bare(100000);
    printf("%lu\n", sum);
    return 0;
}
#endif
