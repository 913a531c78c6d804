/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks that patched sleds call (rt_sled_x86_64.S). Hooks must leave every register as it was: the compiler restores
 * general registers (no_caller_saved_registers), and like the whole runtime, hooks use only general registers
 * (-mgeneral-regs-only). The C library may use vector registers, so it is called through rt_apart.
 */
#include "runtime/rt_buffer.h"
#include "runtime/rt_pool.h"
#include "runtime/rt_start.h"
#include "runtime/rt_record.h"
#include "runtime/rt_sleds.h"

#define READINGS_OF_BUFFER 2u /* clock readings per buffer; only a few, because buffers may be small */

#if defined __x86_64__

#define HOOK RT_PLAIN __attribute__((no_caller_saved_registers, used))

HOOK void rt_hook_enter(uint32_t word);
HOOK void rt_hook_exit(uint32_t word);
HOOK void rt_hook_tail(uint32_t word);
HOOK void rt_hook_argument(uint64_t argument, uint32_t word);
HOOK void rt_hook_custom(const void *bytes, uint64_t size);
HOOK void rt_hook_typed(uint64_t type, const void *bytes, uint64_t size);

#define XSAVE_STATES 0xe6u /* SSE, AVX, and three of AVX-512 */

uint32_t rt_vectors;

RT_RARE void rt_vectors_learn(void) {
    uint32_t a = 1, b, c = 0, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    if (!(c >> 27 & 1)) /* OSXSAVE */
        return;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    rt_vectors = a & XSAVE_STATES;
}

RT_PLAIN static long clock_now(long unused, long unused_too) {
    (void)unused;
    (void)unused_too;
    return (long)rt_now_ns(CLOCK_MONOTONIC);
}

RT_PLAIN uint64_t rt_now_apart(void) {
    return (uint64_t)rt_apart(clock_now, 0, 0);
}

RT_PLAIN static long read_pair(long pair, long unused) {
    (void)unused;
    rt_read_pair((struct rt_pair *)pair, READINGS_OF_BUFFER);
    return 0;
}

RT_PLAIN void rt_pair_apart(struct rt_pair *pair) {
    rt_apart(read_pair, (long)pair, 0);
}

RT_PLAIN uint64_t rt_clock_apart(void) {
    return rt.is_tsc ? rt_ticks() : rt_now_apart();
}

HOOK __attribute__((noinline)) static void call_rare(struct rt_thread *t, uint32_t word, unsigned action,
                                                     uint64_t tsc) {
    volatile struct rt_mark mark;
    if (!rt_begin(t, &mark))
        return;
    if (rt.extra)
        rt_call_filtered(t, word, action, rt.is_tsc ? tsc : rt_clock_apart());
    else
        rt_put_call(t, word & RT_ID, action, tsc);
    rt_end(t);
}

/* Called if recording is off or filtered, or if this is a forked child that has not called rt_revive yet. */
HOOK __attribute__((noinline)) static void call_unusual(uint32_t word, unsigned action) {
    if (!rt.on && rt.wanted)
        rt_revive(rt_self());
    if (rt.on)
        call_rare(rt_self(), word, action, rt_ticks());
}

RT_PLAIN static bool is_on(struct rt_thread *t) {
    if (!rt.on && rt.wanted)
        rt_revive(t);
    return rt.on;
}

RT_PLAIN __attribute__((always_inline)) static inline void call(uint32_t word, unsigned action) {
    if (RT_UNLIKELY(!rt_is_usual())) {
        if (rt.on || rt.wanted)
            call_unusual(word, action);
        return;
    }
    const uint64_t tsc = rt_ticks();
    const volatile struct rt_mark *from = NULL;
    volatile struct rt_mark mark;
    struct rt_thread *t;
    if (RT_UNLIKELY(!rt_claim(&from, &mark) || (t = rt_self())->busy != &mark)) {
        mark.self = NULL; /* see rt_call */
        call_rare(rt_self(), word, action, tsc);
        return;
    }
    if (RT_UNLIKELY(!rt_has_place(t, tsc))) {
        rt_end(t);
        call_rare(t, word, action, tsc);
        return;
    }
    rt_store_call(t, word, action, tsc);
    rt_end(t);
}

void rt_hook_enter(uint32_t word) {
    call(word, RT_ENTER);
}

void rt_hook_exit(uint32_t word) {
    call(word, RT_EXIT);
}

void rt_hook_tail(uint32_t word) {
    call(word, RT_TAIL_EXIT);
}

void rt_hook_argument(uint64_t argument, uint32_t word) {
    struct rt_thread *t = rt_self();
    volatile struct rt_mark mark;
    if (!is_on(t) || !rt_begin(t, &mark))
        return;
    rt_call_argument(t, word, argument, rt_clock_apart());
    rt_end(t);
}

/* --- Events. In objects linked without clang's runtime, clang's code also calls these functions by name. */

RT_PLAIN static void event(const void *bytes, uint64_t size, int type) {
    struct rt_thread *t = rt_self();
    volatile struct rt_mark mark;
    if (!is_on(t) || size == 0 || !rt_begin(t, &mark))
        return;
    rt_event(t, bytes, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX, type, rt_clock_apart());
    rt_end(t);
}

void rt_hook_custom(const void *bytes, uint64_t size) {
    event(bytes, size, -1);
}

void rt_hook_typed(uint64_t type, const void *bytes, uint64_t size) {
    event(bytes, size, (uint16_t)type);
}

HOOK __attribute__((weak, visibility("default"))) void __xray_CustomEvent(const void *bytes, uint64_t size);
HOOK __attribute__((weak, visibility("default"))) void __xray_TypedEvent(uint64_t type, const void *bytes,
                                                                         uint64_t size);

void __xray_CustomEvent(const void *bytes, uint64_t size) {
    event(bytes, size, -1);
}

void __xray_TypedEvent(uint64_t type, const void *bytes, uint64_t size) {
    event(bytes, size, (uint16_t)type);
}

#else

void rt_vectors_learn(void) {
}

uint64_t rt_now_apart(void) {
    return rt_now_ns(CLOCK_MONOTONIC);
}

void rt_pair_apart(struct rt_pair *pair) {
    rt_read_pair(pair, READINGS_OF_BUFFER);
}

uint64_t rt_clock_apart(void) {
    return rt_clock();
}

long rt_apart(long (*function)(long, long), long a, long b) {
    return function(a, b);
}

#endif
