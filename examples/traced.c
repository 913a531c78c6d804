/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that traces itself with clang's XRay runtime: three threads handle requests. One in a hundred requests
 * misses the cache and reads the disk. The mean of `lookup` hides that, its p99 shows it.
 *
 *     clang -g1 -O1 -fxray-instrument -pthread -o traced traced.c
 *     XRAY_OPTIONS=xray_logfile_base=./xray- ./traced && perfray latency -m traced xray-traced.*
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TRACED __attribute__((noinline, xray_always_instrument))
#define THREADS 3

static uint32_t requests = 2000; /* per thread */

/* Declared in clang's xray/xray_interface.h and xray_log_interface.h, which are C++ headers. */
int __xray_log_select_mode(const char *mode);
int __xray_log_init_mode(const char *mode, const char *options);
int __xray_log_finalize(void);
int __xray_log_flushLog(void);
int __xray_patch(void);
int __xray_unpatch(void);
enum { SELECTED = 0, PATCHED = 1, INITIALIZED = 2, FINALIZED = 4, FLUSHED = 2 };

static uint64_t work(uint64_t value, uint32_t steps) {
    for (uint32_t step = 0; step < steps; step++)
        value = value * 6364136223846793005u + 1442695040888963407u;
    return value;
}

TRACED uint64_t parse(uint64_t request) {
    return work(request, 200);
}

TRACED uint64_t read_disk(uint64_t key) {
    return work(key, 100000);
}

TRACED uint64_t lookup(uint64_t key, uint32_t number) {
    const uint64_t found = work(key, 300);
    return number % 100 == 99 ? found + read_disk(key) : found;
}

TRACED uint64_t reply(uint64_t answer) {
    return work(answer, 400);
}

TRACED uint64_t handle(uint64_t request, uint32_t number) {
    return reply(lookup(parse(request), number)) + 1;
}

TRACED void *serve(void *first) {
    uint64_t *state = first;
    for (uint32_t number = 0; number < requests; number++)
        *state = handle(*state, number);
    return NULL;
}

static int serve_all(void) {
    pthread_t threads[THREADS];
    uint64_t states[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        states[i] = i;
        if (pthread_create(&threads[i], NULL, serve, &states[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

int main(int argc, char **argv) {
    const char *const options = "func_duration_threshold_us=0:buffer_size=16384:buffer_max=100";
    if (argc > 1)
        requests = (uint32_t)strtoul(argv[1], NULL, 10);
    if (__xray_log_select_mode("xray-fdr") != SELECTED || __xray_log_init_mode("xray-fdr", options) != INITIALIZED ||
        __xray_patch() != PATCHED) {
        fprintf(stderr, "traced: the flight recorder does not start\n");
        return 1;
    }
    const int status = serve_all();
    __xray_unpatch();
    if (__xray_log_finalize() != FINALIZED || __xray_log_flushLog() != FLUSHED) {
        fprintf(stderr, "traced: the trace cannot be written\n");
        return 1;
    }
    return status;
}
