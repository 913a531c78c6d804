/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_calls KIND CALLS - prints the cost of a traced call in nanoseconds. run_runtime.sh builds it for each
 * recorder.
 *
 *     tiny      a loop of calls of a function that adds
 *     parse     a recursive descent over an expression, seven calls a number
 *     lisp      an interpreter (runtime_lisp.c); CALLS is the number of calls that one run makes
 *     two       like tiny, in two threads on two CPUs; the slower thread is printed
 *     calls     prints the number of calls that a run of the interpreter makes, counted by the hooks of FLOOR
 *
 * FLOOR: the hooks only read the time stamp counter. LLVM_FDR: starts LLVM's flight recorder.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime_calls.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOPS 40 /* short loops, so that the best one was not disturbed by other processes */

#ifdef LLVM_FDR
int __xray_log_select_mode(const char *mode);
int __xray_log_init_mode(const char *mode, const char *options);
int __xray_log_finalize(void);
int __xray_log_flushLog(void);
int __xray_patch(void);
#endif

static uint64_t entered;

#ifdef FLOOR
#ifndef COUNTED
#define COUNTED 0 /* 1: calls are counted, which takes time */
#endif
static volatile uint64_t seen;
PLAIN void __cyg_profile_func_enter(void *function, void *site) {
    (void)function;
    (void)site;
    entered += COUNTED;
    seen = __builtin_ia32_rdtsc();
}
PLAIN void __cyg_profile_func_exit(void *function, void *site) {
    (void)function;
    (void)site;
    seen = __builtin_ia32_rdtsc();
}
#endif

static __thread volatile int sink;
static uint64_t calls;

TRACED int add(int x) {
    __asm__ volatile("");
    return x + 3;
}

/* --- An expression. */

static const char *at;
static int64_t sum(void);

TRACED static int64_t number(void) {
    int64_t value = 0;
    calls++;
    while (*at >= '0' && *at <= '9')
        value = value * 10 + (*at++ - '0');
    return value;
}

TRACED static int64_t factor(void) {
    calls++;
    if (*at != '(')
        return number();
    at++;
    const int64_t value = sum();
    at++;
    return value;
}

TRACED static int64_t product(void) {
    calls++;
    int64_t value = factor();
    while (*at == '*') {
        at++;
        value = value * factor() % 1000003;
    }
    return value;
}

TRACED static int64_t sum(void) {
    calls++;
    int64_t value = product();
    while (*at == '+') {
        at++;
        value += product();
    }
    return value;
}

/* --- Timing. */

PLAIN static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

PLAIN static double time_tiny(uint64_t count) {
    const uint64_t start = now_ns();
    for (uint64_t i = 0; i < count; i++)
        sink = add((int)i);
    return (double)(now_ns() - start) / (double)count;
}

PLAIN static double time_parse(uint64_t count) {
    const uint64_t start = now_ns();
    calls = 0;
    while (calls < count) {
        at = "(1+2*3)*(4+5)*6+7*(8+9*(10+11))+12*13*14+(15+(16+(17*18)))+19*20*21*22+23*(24+25)*26";
        sink = (int)sum();
    }
    return (double)(now_ns() - start) / (double)calls;
}

PLAIN static double time_lisp(uint64_t count) {
    const uint64_t start = now_ns();
    sink = (int)run_lisp();
    return (double)(now_ns() - start) / (double)count;
}

static uint64_t count;

PLAIN static double best_of(double (*time_one)(uint64_t)) {
    double best = 1e9;
    for (int i = 0; i < LOOPS; i++) {
        const double ns = time_one(count);
        best = ns < best ? ns : best;
    }
    return best;
}

PLAIN static void *on_a_cpu(void *result) {
    double *const ns = result;
    cpu_set_t cpu;
    CPU_ZERO(&cpu);
    CPU_SET((int)*ns, &cpu);
    sched_setaffinity(0, sizeof cpu, &cpu);
    *ns = best_of(time_tiny);
    return NULL;
}

PLAIN static double best_of_two(void) {
    pthread_t other;
    double first = 0, second = 1;
    if (pthread_create(&other, NULL, on_a_cpu, &second) != 0)
        return -1;
    on_a_cpu(&first);
    pthread_join(other, NULL);
    return first > second ? first : second;
}

static const struct {
    const char *name;
    double (*time)(uint64_t);
} kinds[] = {{"tiny", time_tiny}, {"parse", time_parse}, {"lisp", time_lisp}};

PLAIN static double cost_of(const char *kind) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i].name) == 0)
            return best_of(kinds[i].time);
    return best_of_two();
}

PLAIN int main(int argc, char **argv) {
    count = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
    if (argc < 2 || count == 0)
        return 2;
    if (strcmp(argv[1], "calls") == 0) {
        run_lisp();
        printf("%llu\n", (unsigned long long)entered);
        return 0;
    }
#ifdef LLVM_FDR
    if (__xray_log_select_mode("xray-fdr") || __xray_log_init_mode("xray-fdr", "func_duration_threshold_us=0") != 2 ||
        __xray_patch() != 1)
        return 3;
#endif
    printf("%.2f\n", cost_of(argv[1]));
    return 0;
}
