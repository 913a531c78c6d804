/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for perfray's flight recorder: gcc inserts the hooks, and the program adds its own marks and a scope.
 *
 *     gcc -O1 -finstrument-functions recorded.c $(pkg-config --cflags --libs perfray-rt) -o recorded
 *     perfray trace ./recorded
 *
 * One in a hundred requests misses the cache and reads the disk. The mean of `lookup` hides that, its p99 shows it.
 */
#include <perfray/runtime.h>
#include <stdio.h>

static uint64_t work(uint64_t value, uint32_t steps) {
    for (uint32_t step = 0; step < steps; step++)
        value = value * 6364136223846793005u + 1442695040888963407u;
    return value;
}

static uint64_t read_disk(uint64_t key) {
    return work(key, 100000);
}

static uint64_t lookup(uint64_t key, uint32_t number) {
    const uint64_t found = work(key, 300);
    return number % 100 == 99 ? found + read_disk(key) : found;
}

static uint64_t handle(uint64_t request, uint32_t number) {
    uint64_t parsed;
    {
        PFR_RT_SCOPE("parse");
        parsed = work(request, 200);
    }
    return lookup(parsed, number);
}

int main(void) {
    uint64_t state = 1;
    pfr_rt_mark("requests begin");
    for (uint32_t number = 0; number < 1000; number++)
        state = handle(state, number);
    pfr_rt_mark("requests end");
    printf("%llx, %llu not recorded\n", (unsigned long long)state, (unsigned long long)pfr_rt_lost());
    return 0;
}
