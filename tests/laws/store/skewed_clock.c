/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded library that shifts a program's wall clock by SKEWED_CLOCK seconds. Other clocks are not changed. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

PUBLIC int clock_gettime(clockid_t clock, struct timespec *to) {
    const char *const skew = clock == CLOCK_REALTIME ? getenv("SKEWED_CLOCK") : NULL;
    const int status = (int)syscall(SYS_clock_gettime, clock, to);
    if (status == 0 && skew)
        to->tv_sec += strtoll(skew, NULL, 10);
    return status;
}

PUBLIC time_t time(time_t *to) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    if (to)
        *to = now.tv_sec;
    return now.tv_sec;
}
