/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_SYSTEM_H
#define PFR_RUNTIME_RT_SYSTEM_H
/* System calls that do not change errno, and clocks, for use inside other programs' function calls. */
#include "runtime/rt_text.h"

#include <sys/syscall.h>
#include <time.h>

#define RT_LIKELY(x) __builtin_expect(!!(x), 1)
#define RT_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Returns -errno on failure. */
RT_PLAIN static inline long rt_syscall(long number, long a, long b, long c, long d, long e, long f) {
#if defined __x86_64__
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined __aarch64__
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#else
#error "the runtime knows x86-64 and aarch64"
#endif
}
#define RT_CALL3(number, a, b, c) rt_syscall(number, (long)(a), (long)(b), (long)(c), 0, 0, 0)

/* Reads a counter that runs at the same rate on all CPUs, on machines that have such a counter. */
RT_PLAIN static inline uint64_t rt_ticks(void) {
#if defined __x86_64__
    return __builtin_ia32_rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

RT_PLAIN static inline uint64_t rt_now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The trace's clock and CLOCK_MONOTONIC, read at the same time. */
struct rt_pair {
    uint64_t ticks, ns;
};

/* For unaligned access. */
typedef uint64_t __attribute__((aligned(1), may_alias)) rt_u64;
typedef uint32_t __attribute__((aligned(1), may_alias)) rt_u32;
typedef uint16_t __attribute__((aligned(1), may_alias)) rt_u16;

#endif
