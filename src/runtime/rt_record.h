/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_RECORD_H
#define PFR_RUNTIME_RT_RECORD_H
/* Writes one call into the thread's buffer: the hot path. FDR versions 3 to 5 have the same record (wire/xray_fdr.def).
 */
#include "runtime/rt_buffer.h"
#include "runtime/rt_pool.h"
#include "runtime/rt_recorder.h"

enum rt_action { RT_ENTER, RT_EXIT, RT_TAIL_EXIT, RT_ENTER_ARGUMENT };

#define RT_DELTA_MOST INT32_MAX

/* Includes the record in the buffer's length, once it is complete. */
RT_PLAIN static inline void rt_publish(const struct rt_thread *t) {
    __atomic_signal_fence(__ATOMIC_RELEASE);
#if !defined __x86_64__
    __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
    *(volatile rt_u64 *)(t->buffer + 1) = (uint64_t)(t->next - t->buffer) - RTF_EXTENTS;
}

/* The caller has checked time and room (rt_has_place). rt_publish deliberately reads the pointers again: a signal
 * handler may fork before it, and begin_child then changes the pointers in the child. With the old pointers the child
 * would write into its parent's buffer. */
RT_PLAIN static inline void rt_store_call(struct rt_thread *t, uint32_t id, unsigned action, uint64_t tsc) {
    *(rt_u64 *)t->next = (tsc - t->last) << 32 | id << 4 | action << 1;
    t->next += 8;
    t->last = tsc;
    rt_publish(t);
}

RT_PLAIN static inline bool rt_has_place(const struct rt_thread *t, uint64_t tsc) {
    return tsc - t->last <= RT_DELTA_MOST && t->next < t->limit && t->cpu == rt_cpu(t);
}

RT_PLAIN static inline void rt_put_call(struct rt_thread *t, uint32_t id, unsigned action, uint64_t tsc) {
    if (rt_has_place(t, tsc) || rt_step(t, tsc, 0))
        rt_store_call(t, id, action, tsc);
}

/* Keeps the address of rt_here in a register. A context may be moved to another thread inside a hook, and the hook must
 * keep using the state of the thread in which it began. */
#if defined __x86_64__
RT_PLAIN __attribute__((always_inline)) static inline ptrdiff_t rt_here_at(void) {
    ptrdiff_t at;
    __asm__("movq rt_here@gottpoff(%%rip), %0" : "=r"(at));
    return at;
}
RT_PLAIN __attribute__((always_inline)) static inline struct rt_thread *rt_self(void) {
    char *t;
    __asm__ volatile("movq %%fs:0, %0" : "=r"(t));
    return (struct rt_thread *)(void *)(t + rt_here_at());
}
#else
RT_PLAIN __attribute__((always_inline)) static inline struct rt_thread *rt_self(void) {
    struct rt_thread *t = &rt_here;
    __asm__("" : "+r"(t));
    return t;
}
#endif

/* Claims the buffer of the running thread for the hook of `mark` if *from owns it, otherwise sets *from to the owner.
 * This is one instruction without a bus lock: no signal handler can run between its load and its store. The instruction
 * acts on the thread that executes it, so two threads never claim the same buffer. */
RT_PLAIN __attribute__((always_inline)) static inline bool rt_claim(const volatile struct rt_mark **from,
                                                                    volatile struct rt_mark *mark) {
    bool done;
    mark->self = mark;
#if defined __x86_64__
    __asm__ volatile("cmpxchgq %2, %%fs:%c3(%4)"
                     : "=@cce"(done), "+a"(*from)
                     : "r"(mark), "i"(offsetof(struct rt_thread, busy)), "r"(rt_here_at())
                     : "memory");
#else
    done = __atomic_compare_exchange_n(&rt_self()->busy, from, mark, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
#endif
    return done;
}

/* Returns false, and counts the call as lost, if another hook owns the buffer or the context was just moved to another
 * thread. */
RT_PLAIN static inline bool rt_begin(struct rt_thread *t, volatile struct rt_mark *mark) {
    const volatile struct rt_mark *from = NULL;
    while (!rt_claim(&from, mark))
        if (from && !rt_abandoned(from, mark))
            return false;
    if (RT_LIKELY(t->busy == mark))
        return true;
    mark->self = NULL; /* marks the frame as abandoned, so that the other thread can continue */
    rt_lose(RTF_BUSY);
    return false;
}

/* Uses release order, because the hook may have been moved to another thread than `t`. */
RT_PLAIN static inline void rt_end(struct rt_thread *t) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&t->busy, NULL, __ATOMIC_RELEASE);
}

/* True if calls are recorded without filters: `on` and not `extra`, in one comparison. */
RT_PLAIN static inline bool rt_is_usual(void) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return *(const volatile rt_u16 *)(const void *)&rt == 1;
#else
    return rt.on && !rt.extra;
#endif
}

/* Handles only the common case, without calling a function, so that the compiler saves no registers. All other cases
 * are in rt_call_rare. */
RT_PLAIN __attribute__((always_inline)) static inline void rt_call(uint64_t address, unsigned action) {
    if (RT_UNLIKELY(!rt_is_usual())) {
        if (rt.on || rt.wanted)
            rt_call_unusual(address, action);
        return;
    }
    const uint64_t tsc = rt_ticks();
    const volatile struct rt_mark *from = NULL;
    volatile struct rt_mark mark;
    struct rt_thread *t;
    if (RT_UNLIKELY(!rt_claim(&from, &mark) || (t = rt_self())->busy != &mark)) {
        mark.self = NULL; /* also needed because an abandoned hook may have had its mark at this address */
        rt_call_rare(rt_self(), address, action, tsc);
        return;
    }
    const struct rt_entry *e = &rt.table[rt_hash(address)];
    const uint32_t word = e->word;
    if (RT_UNLIKELY(e->address != address || word - 1 >= RT_ID || !rt_has_place(t, tsc))) {
        rt_end(t);
        rt_call_rare(t, address, action, tsc);
        return;
    }
    rt_store_call(t, word, action, tsc);
    rt_end(t);
}

#endif
