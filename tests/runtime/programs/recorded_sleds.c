/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded_sleds MODE COUNT - tests special to clang's sleds, in a program that counts its own calls like
 * recorded_calls.c.
 *
 *     registers   arguments and results of all kinds are passed unchanged; COUNT times
 *     tails       functions that end with a jump to another
 *     arguments   a function that logs its first argument
 *     events      custom and typed events, whose contents are checked in the trace
 *     toggle      recording is switched on and off while four threads run; while it is off, sleds are as clang wrote
 *                 them
 */
#include "recorded_account.h"

#include <immintrin.h>
#include <perfray/runtime.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static volatile long sink;
static long count;

NOT_TRACED static void must(int right, int line) {
    if (!right) {
        fprintf(stderr, "line %d: not what was sent\n", line);
        _exit(96);
    }
}
#define MUST(what) must(what, __LINE__)

/* --- Registers. */

struct four {
    double a, b;
    long c, d;
};
struct pair {
    double a;
    long b;
};

CALLED long six(long a, long b, long c, long d, long e, long f, long g) {
    HERE(LEAF);
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g;
}

CALLED double eight(double a, double b, double c, double d, double e, double f, double g, double h) {
    HERE(MIDDLE);
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

CALLED long double widest(long double a, float b) {
    HERE(TOP);
    return a * 3 + (long double)b;
}

CALLED struct four by_memory(long a, double b) {
    HERE(DOWN);
    return (struct four){b, b + 1, a, a + 1};
}

CALLED struct pair by_registers(long a, double b) {
    HERE(THROWS);
    return (struct pair){b * 2, a * 2};
}

CALLED double any_number(int n, ...) {
    HERE(CATCHES);
    va_list list;
    double sum = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        sum += va_arg(list, double);
    va_end(list);
    return sum;
}

CALLED _Complex double turned(_Complex double z) {
    HERE(JUMPS);
    return z * 1.0i;
}

CALLED __attribute__((target("avx"))) __m256d wide(__m256d a, __m256d b) {
    HERE(OTHER);
    return _mm256_add_pd(a, b);
}

CALLED __attribute__((target("avx512f"))) __m512d widest_of_all(__m512d a, __m512d b) {
    HERE(OTHER);
    return _mm512_add_pd(a, b);
}

NOT_TRACED __attribute__((target("avx"))) static void with_avx(double x) {
    double out[4];
    _mm256_storeu_pd(out, wide(_mm256_set_pd(x, x + 1, x + 2, x + 3), _mm256_set1_pd(0.5)));
    MUST(out[0] == x + 3.5 && out[1] == x + 2.5 && out[2] == x + 1.5 && out[3] == x + 0.5);
}

NOT_TRACED __attribute__((target("avx512f"))) static void with_avx512(double x) {
    double out[8];
    _mm512_storeu_pd(
        out, widest_of_all(_mm512_set_pd(x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7), _mm512_set1_pd(0.5)));
    for (int i = 0; i < 8; i++)
        MUST(out[i] == x + 7 - i + 0.5);
}

NOT_TRACED static void registers(long i) {
    const double x = (double)i;
    MUST(six(i, 1, 2, 3, 4, 5, 6) == i + 112);
    MUST(eight(x, 1, 2, 3, 4, 5, 6, 7) == x + 168);
    MUST(widest(x + 0.5L, 2) == (x + 0.5L) * 3 + 2);
    const struct four f = by_memory(i, x);
    MUST(f.a == x && f.b == x + 1 && f.c == i && f.d == i + 1);
    const struct pair p = by_registers(i, x);
    MUST(p.a == x * 2 && p.b == i * 2);
    MUST(any_number(3, x, 1.0, 2.0) == x + 3 && any_number(0) == 0);
    const _Complex double z = turned(x + 2.0i);
    MUST(__real__ z == -2 && __imag__ z == x);
    if (__builtin_cpu_supports("avx"))
        with_avx(x);
    if (__builtin_cpu_supports("avx512f"))
        with_avx512(x);
}

/* --- Tail calls: each is counted at its start, with the caller that a trace shows. */

NOT_TRACED static inline void begin(int who) {
    __atomic_fetch_add(&account->edges[NOBODY][who], 1, __ATOMIC_RELAXED);
}

CALLED long leaf(long x) {
    begin(LEAF);
    return x * 3 + sink;
}

CALLED long middle(long x) {
    begin(MIDDLE);
    return leaf(x + 1);
}

CALLED long other(long x) {
    begin(OTHER);
    long (*volatile way)(long) = x % 2 ? leaf : middle;
    return way(x);
}

/* --- Arguments and events. */

__attribute__((noinline, xray_always_instrument, xray_log_args(1))) long logged(long x) {
    begin(TOP);
    return x + sink;
}

CALLED void events(long x) {
    char text[64];
    begin(DOWN);
    const int length = snprintf(text, sizeof text, "event %ld", x);
    __xray_customevent(text, (size_t)length);
    __xray_typedevent((size_t)(x & 0xff), text, (size_t)length);
    sink += text[0];
}

/* --- On and off. */

static volatile int ends;

NOT_TRACED static void *work(void *unused) {
    while (!ends)
        sink += middle(1);
    return unused;
}

/* At -O1 and above leaf begins with its sled. */
NOT_TRACED static int is_off(void) {
    unsigned char head[2];
    memcpy(head, (const void *)(uintptr_t)leaf, sizeof head);
    return head[0] == 0xeb && head[1] == 0x09;
}

NOT_TRACED static void toggle(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (long i = 0; i < count; i++) {
        pfr_rt_stop();
        MUST(is_off());
        usleep(100);
        MUST(pfr_rt_start(NULL) == 0 && !is_off());
        usleep(200);
    }
    ends = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    pfr_rt_stop();
    memset(account, 0, sizeof *account);
    for (long i = 0; i < 1000; i++)
        sink += leaf(i); /* not recorded */
    memset(account, 0, sizeof *account);
    pfr_rt_start(NULL);
    for (long i = 0; i < 1000; i++)
        sink += logged(i);
}

NOT_TRACED int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "registers";
    count = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
    account_open();
    if (!strcmp(mode, "toggle"))
        toggle();
    for (long i = 0; i < count; i++) {
        if (!strcmp(mode, "registers"))
            registers(i);
        else if (!strcmp(mode, "tails"))
            sink += other(i);
        else if (!strcmp(mode, "arguments"))
            sink += logged(i * 7 - 3);
        else if (!strcmp(mode, "events"))
            events(i);
    }
    return 0;
}
