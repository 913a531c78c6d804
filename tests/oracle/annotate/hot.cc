// SPDX-License-Identifier: Apache-2.0
// One loop with an inlined function, for run_annotate.py.
#include <cstdio>
#include <vector>
static inline unsigned mix(unsigned x) {
    x ^= x >> 13;
    x *= 0x5bd1e995u;
    return x ^ (x >> 15);
}
__attribute__((noinline)) unsigned work(const std::vector<unsigned> &t, int rounds) {
    unsigned s = 0;
    for (int r = 0; r < rounds; r++) {
        for (unsigned v : t)
            s += mix(v + r);
        if (s & 1)
            s = mix(s) / 3;
    }
    return s;
}
int main() {
    std::vector<unsigned> t(10000);
    for (unsigned i = 0; i < t.size(); i++)
        t[i] = i * 7;
    printf("%u\n", work(t, 20000));
}
