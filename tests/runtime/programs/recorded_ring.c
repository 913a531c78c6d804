/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded_ring SECONDS - two threads work a little every millisecond (a tick). In tick number N a thread calls leaf
 * 100 + N % 7 times, so a trace shows whether a tick or a call is missing. Prints the numbers of ticks of both threads,
 * and the smallest and largest resident memory, in pages, after the first third of the run.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOT_TRACED __attribute__((no_instrument_function))
#define CALLED __attribute__((noinline))

static __thread volatile unsigned sink;
static long seconds;
static long ticks[2];

CALLED void leaf(unsigned x) {
    sink += x * 3;
}

CALLED void tick(unsigned number) {
    for (unsigned i = 0; i < 100 + number % 7; i++)
        leaf(i);
}

NOT_TRACED static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

NOT_TRACED static void *work(void *number) {
    const struct timespec pause = {0, 1000000};
    const double end = now() + (double)seconds;
    unsigned done = 0;
    for (; now() < end; done++) {
        tick(done);
        nanosleep(&pause, NULL);
    }
    *(long *)number = done;
    return NULL;
}

NOT_TRACED static long resident(void) {
    long all = 0, here = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &here) != 2)
        exit(90);
    fclose(file);
    return here;
}

NOT_TRACED int main(int argc, char **argv) {
    pthread_t threads[2];
    long least = 0, most = 0;
    const struct timespec second = {1, 0};
    seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 3;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, &ticks[i]) != 0)
            return 91;
    for (long i = 0; i < seconds - 1; i++) {
        nanosleep(&second, NULL);
        const long here = i >= seconds / 3 ? resident() : 0;
        least = here && (least == 0 || here < least) ? here : least;
        most = here > most ? here : most;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %ld %ld %ld\n", ticks[0], ticks[1], least, most);
    return 0;
}
