// SPDX-License-Identifier: Apache-2.0
// Two calls of one inline function that cost differently. With -DCOUNT it prints the rounds that each of them made.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
static uint64_t rounds_made;
static inline __attribute__((always_inline)) uint64_t churn(uint64_t x, unsigned rounds) {
    for (unsigned i = 0; i < rounds; i++) {
        x = x / 3 * 0x9e3779b97f4a7c15u + i;
#ifdef COUNT
        rounds_made++;
#endif
    }
    return x;
}
__attribute__((noinline)) uint64_t two_sites(unsigned times, uint64_t *first) {
    uint64_t x = times;
    for (unsigned i = 0; i < times; i++) {
        const uint64_t before = rounds_made;
        x += churn(x, 2000); // light
        *first += rounds_made - before;
        x ^= churn(x, 6000); // heavy
    }
    return x;
}
int main(int, char **words) {
    uint64_t light = 0;
    const uint64_t x = two_sites((unsigned)atoi(words[1]), &light);
    printf("%llu %llu %llu\n", (unsigned long long)light, (unsigned long long)(rounds_made - light),
           (unsigned long long)x);
}
