/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_load.c - the load with which recorders are measured: `record_load calls N FILE` makes N system calls
 * (getppid), `record_load spin MS FILE` computes for MS milliseconds. It writes its own CPU time, in microseconds, into
 * FILE, so that this time can be subtracted from the CPU time of a recorder and its command.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long own_microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void make_calls(long long count) {
    for (long long i = 0; i < count; i++)
        syscall(SYS_getppid);
}

__attribute__((noinline)) static void work(void) {
    for (volatile int i = 0; i < 100000; i++) {
    }
}

static void spin(long long milliseconds) {
    const long long until = own_microseconds() + milliseconds * 1000;
    while (own_microseconds() < until)
        work();
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    (strcmp(argv[1], "calls") == 0 ? make_calls : spin)(atoll(argv[2]));
    FILE *const out = fopen(argv[3], "w");
    if (!out)
        return 1;
    fprintf(out, "%lld\n", own_microseconds());
    return fclose(out) != 0;
}
