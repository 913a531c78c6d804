/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the clock repeatedly, and so spends most of its time in the vdso. */
#include <time.h>

int main(void) {
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < 60000000);
    return 0;
}
