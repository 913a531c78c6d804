/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_RECORD_H
#define PFR_RUNTIME_RT_RECORD_H
/* One call into the thread's buffer: the path that costs. Layouts: FDR, version 5 (wire/xray_fdr.def). */
#include "runtime/rt_recorder.h"

enum rt_action { RT_ENTER, RT_EXIT, RT_TAIL_EXIT, RT_ENTER_ARGUMENT };

#define RT_DELTA_MOST INT32_MAX

/* The record is whole before it counts. */
RT_PLAIN static inline void rt_publish(const struct rt_thread *t) {
    __atomic_signal_fence(__ATOMIC_RELEASE);
#if !defined __x86_64__
    __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
    *(volatile rt_u64 *)(t->buffer + 1) = (uint64_t)(t->next - t->buffer) - RTF_EXTENTS;
}

/* Where there is time and room for it: the caller looked. */
RT_PLAIN static inline void rt_store_call(struct rt_thread *t, uint32_t id, unsigned action, uint64_t tsc) {
    *(rt_u64 *)t->next = (tsc - t->last) << 32 | id << 4 | action << 1;
    t->next += 8;
    t->last = tsc;
    rt_publish(t);
}

RT_PLAIN static inline bool rt_has_place(const struct rt_thread *t, uint64_t tsc) {
    return tsc - t->last <= RT_DELTA_MOST && t->next < t->limit && t->cpu == rt_cpu();
}

RT_PLAIN static inline void rt_put_call(struct rt_thread *t, uint32_t id, unsigned action, uint64_t tsc) {
    if (rt_has_place(t, tsc) || rt_step(t, tsc, 0))
        rt_store_call(t, id, action, tsc);
}

RT_PLAIN static inline const char *rt_stack(void) {
    const char *at;
#if defined __x86_64__
    __asm__ volatile("mov %%rsp, %0" : "=r"(at));
#else
    __asm__ volatile("mov %0, sp" : "=r"(at));
#endif
    return at;
}

/* false: the thread is at it already (a signal handler inside a hook), which is counted. */
RT_PLAIN static inline bool rt_begin(struct rt_thread *t) {
    if (RT_UNLIKELY(t->busy != NULL) && !rt_abandoned(t))
        return false;
    t->busy = rt_stack();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

RT_PLAIN static inline void rt_end(struct rt_thread *t) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = NULL;
}

/* What is common is here, and calls nothing, so that nothing has to be saved; the rest is in rt_call_rare. */
RT_PLAIN __attribute__((always_inline)) static inline void rt_call(uint64_t address, unsigned action) {
    struct rt_thread *t = &rt_here;
    if (RT_UNLIKELY(!rt.on)) {
        if (RT_UNLIKELY(rt.wanted))
            rt_call_revived(t, address, action);
        return;
    }
    const uint64_t tsc = rt_ticks();
    if (RT_UNLIKELY(t->busy || rt.extra)) {
        rt_call_rare(t, address, action, tsc);
        return;
    }
    t->busy = rt_stack();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const struct rt_entry *e = &rt.table[rt_hash(address)];
    const uint32_t word = e->word;
    if (RT_UNLIKELY(e->address != address || word - 1 >= RT_ID || !rt_has_place(t, tsc))) {
        t->busy = NULL;
        rt_call_rare(t, address, action, tsc);
        return;
    }
    rt_store_call(t, word, action, tsc);
    rt_end(t);
}

#endif
