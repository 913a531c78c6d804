/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of recording that are needed once in thousands of calls: buffers, filters, events. rt_recorder.h has the
 * overview. Records are FDR, versions 3 to 5. */
#include "runtime/rt_buffer.h"
#include "runtime/rt_functions.h"
#include "runtime/rt_guard.h"
#include "runtime/rt_pool.h"
#include "runtime/rt_slots.h"
#include "runtime/rt_start.h"
#include "runtime/rt_record.h"
#include "runtime/rt_sleds.h"

#include <errno.h>
#include <linux/futex.h>

#define METADATA 16u
#define RESERVE (METADATA + 8u) /* room kept free before the limit, for a NewCPUId or TSCWrap and a call */
#define SPARE_LEAST 4096u       /* free bytes that every spare slot has (has_room in rt_slots.c) */
#define WAIT_CALLS 1000u        /* calls after which a thread without a buffer requests one again */
#define CPU_ID 5u               /* first bytes of records */
#define TSC_WRAP 7u
#define CUSTOM_EVENT 11u
#define TYPED_EVENT 17u
#define CALL_ARGUMENT 13u

__thread struct rt_thread rt_here __attribute__((tls_model("initial-exec")));

/* --- A hook may find that another hook owns the buffer. A signal handler has then interrupted the other hook, and may
 * have switched to another context on any stack. */

/* Bytes below a hook's frame that any live hook would have used: the recorder's own frames, and the kernel's signal
 * frame, take more stack than this. */
#define STACK_NEEDED 512u

/* Lets the kernel read the mark, because another thread may unmap its stack at any time. The futex operation compares
 * the word, wakes no thread, and fails with EFAULT if the address is unmapped. */
RT_PLAIN static bool is_intact(const volatile struct rt_mark *mark) {
    const long result =
        rt_syscall(SYS_futex, (long)mark, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, (long)mark, (long)(uint32_t)(uintptr_t)mark);
    return result != -EFAULT && result != -EAGAIN;
}

/* The mark of a live frame is intact and not in the free part of the stack just below this hook. Other positions prove
 * nothing, because a context may have its stack inside the stack of another context. */
RT_RARE bool rt_abandoned(const volatile struct rt_mark *mark, const volatile struct rt_mark *own) {
    if ((uintptr_t)own - (uintptr_t)mark < STACK_NEEDED || !is_intact(mark))
        return true;
    rt_lose(RTF_BUSY);
    return false;
}

/* --- A buffer. */

RT_PLAIN void rt_leave(struct rt_thread *t) {
    if (!t->limit)
        return;
    const uint64_t used = (uint64_t)(t->next - rt_slot_at(t->slot));
    t->limit = t->next = t->buffer = NULL;
    rt_pool_release(t->slot, used);
}

/* If there are more threads than slots, searching all slots at each call would slow the program down too much. */
RT_RARE static bool wait_for_slot(struct rt_thread *t) {
    if (--t->wait == 0)
        return false;
    rt_lose(RTF_FULL);
    return true;
}

/* The thread's id; if a seccomp filter refuses gettid, a negative number that no other thread has. */
RT_RARE static uint32_t number_of_thread(void) {
    static int32_t refused;
    const long tid = RT_CALL3(SYS_gettid, 0, 0, 0);
    if (tid > 0)
        return (uint32_t)tid;
    __atomic_fetch_or(&rt.control->spaces, RTF_NO_TIDS, __ATOMIC_RELAXED);
    return (uint32_t)__atomic_sub_fetch(&refused, 1, __ATOMIC_RELAXED);
}

RT_PLAIN static bool refill(struct rt_thread *t, uint64_t tsc, uint64_t need) {
    const uint32_t pid = rt.pid;
    uint64_t used = 0, ready = 0;
    struct rt_pair now;
    rt_leave(t);
    if (t->wait && wait_for_slot(t))
        return false;
    if (!t->known) {
        rt_guard_thread(t);
        rt_know_thread(t);
    }
    if (t->tid == 0)
        t->tid = number_of_thread();
    uint8_t *slot = need > SPARE_LEAST ? NULL : rt_pool_take_spare(&t->slot, &used);
    if (slot)
        ready = rt_pool_widen(t->slot, used, used + need);
    else
        slot = rt_pool_take(&t->slot, need, &ready);
    if (!slot || !ready) {
        t->wait = WAIT_CALLS;
        return false;
    }
    if (rt.pid != pid) /* a signal handler has forked meanwhile, so the slot belongs to the parent */
        return false;
    rt_pair_apart(&now); /* read now, because making the buffer took time and the call's own tick may be old */
    t->cpu = rt_cpu(t);
    t->last = tsc;
    rt_measure(&now);
    rt_preamble(slot + used, t->tid, t->cpu, tsc, rt_ns_at(&now, tsc));
    t->wait = 0;
    t->buffer = slot + used;
    t->next = t->floor = t->buffer + RTF_PREAMBLE;
    t->limit = slot + ready - RESERVE + 1;
    return true;
}

/* Makes more of the thread's slot writable. Returns false if the slot has no more room. */
RT_PLAIN static bool widen(struct rt_thread *t, uint64_t more) {
    const uint8_t *const slot = rt_slot_at(t->slot);
    const uint64_t ready = (uint64_t)(t->limit - slot) + RESERVE - 1, end = (uint64_t)(t->next - slot) + more + RESERVE;
    if (end > rt.slot_size)
        return false;
    const uint64_t now = rt_pool_widen(t->slot, ready, end);
    if (!now || !t->limit) /* a signal handler forked meanwhile */
        return false;
    t->limit = rt_slot_at(t->slot) + now - RESERVE + 1;
    return true;
}

/* Writes a NewCPUId or TSCWrap, which is published together with the record after it. */
RT_PLAIN static void put_time(struct rt_thread *t, uint64_t tsc) {
    const uint16_t cpu = rt_cpu(t);
    rt_zero(t->next, METADATA);
    if (cpu != t->cpu) {
        t->next[0] = CPU_ID;
        t->next[1] = (uint8_t)cpu;
        t->next[2] = (uint8_t)(cpu >> 8);
        *(rt_u64 *)(t->next + 3) = tsc;
        t->cpu = cpu;
    } else {
        t->next[0] = TSC_WRAP;
        *(rt_u64 *)(t->next + 1) = tsc;
    }
    t->next += METADATA;
    t->floor = t->next;
    t->last = tsc;
}

RT_RARE bool rt_step(struct rt_thread *t, uint64_t tsc, uint64_t more) {
    if (!t->limit || (t->next + more >= t->limit && !widen(t, more))) {
        if (!rt.on)
            return false;
        if (more > rt.slot_size - RTF_PREAMBLE - RESERVE)
            return rt_lose(RTF_TOO_LARGE), false;
        return refill(t, tsc, RTF_PREAMBLE + RESERVE + more);
    }
    if (t->cpu != rt_cpu(t) || tsc - t->last > RT_DELTA_MOST)
        put_time(t, tsc);
    return true;
}

/* --- Events that the program records. */

/* Before version 5, events have an absolute time, which does not affect the next delta; in version 4 they also have a
 * CPU. */
RT_PLAIN void rt_event_head(uint8_t *at, int type, uint32_t size, uint64_t tsc, uint64_t last, uint16_t cpu) {
    rt_zero(at, METADATA);
    at[0] = type < 0 ? CUSTOM_EVENT : TYPED_EVENT;
    *(rt_u32 *)(at + 1) = size;
    if (rt.version < 5) {
        *(rt_u64 *)(at + 5) = tsc;
        *(rt_u16 *)(at + 13) = rt.version == 4 ? cpu : 0;
    } else {
        *(rt_u32 *)(at + 5) = (uint32_t)(tsc - last);
        *(rt_u16 *)(at + 9) = type < 0 ? 0 : (uint16_t)type;
    }
}

RT_PLAIN void rt_event(struct rt_thread *t, const void *bytes, uint32_t size, int type, uint64_t tsc) {
    if (type >= 0 && rt.version < 5) {
        rt_lose(RTF_TOO_LARGE);
        return;
    }
    if (t->next + METADATA + size >= t->limit || tsc - t->last > RT_DELTA_MOST || t->cpu != rt_cpu(t))
        if (!rt_step(t, tsc, METADATA + (uint64_t)size))
            return;
    uint8_t *const at = t->next; /* if a signal handler forks, t->next changes in the child */
    rt_event_head(at, type, size, tsc, t->last, t->cpu);
    rt_copy(at + METADATA, bytes, size);
    t->next += METADATA + size;
    t->floor = t->next;
    if (rt.version >= 5)
        t->last = tsc;
    rt_publish(t);
}

/* --- Filters. */

RT_PLAIN static bool is_seen(const struct rt_thread *t, uint32_t word) {
    return !(word & RT_SKIP) && !t->outside && (!rt.focused || t->inside) && (!rt.depth || t->depth <= rt.depth);
}

RT_PLAIN static void count_in(struct rt_thread *t, uint32_t word) {
    t->inside += (word & RT_FOCUS) != 0;
    t->outside += (word & RT_AVOID) != 0;
    t->depth += !rt.focused || t->inside;
}

/* Calls that were open when recording began have an exit but no enter, so counts must not go below 0. */
RT_PLAIN static void count_out(struct rt_thread *t, uint32_t word) {
    t->depth -= t->depth && (!rt.focused || t->inside);
    t->inside -= t->inside && word & RT_FOCUS;
    t->outside -= t->outside && word & RT_AVOID;
}

/* Removes the enter of a short call if the enter is the last record. The record before it is then the last record; if
 * it is an enter, it may be removed in turn. */
RT_PLAIN static bool take_back(struct rt_thread *t, uint32_t id, uint64_t tsc) {
    if (!t->limit || t->next <= t->floor || tsc - t->last >= rt.threshold)
        return false;
    const uint64_t before = *(const rt_u64 *)(t->next - 8);
    if ((uint32_t)before != (id << 4 | RT_ENTER << 1))
        return false;
    t->next -= 8;
    t->last -= before >> 32;
    rt_publish(t);
    return true;
}

RT_PLAIN void rt_call_filtered(struct rt_thread *t, uint32_t word, unsigned action, uint64_t tsc) {
    const bool is_enter = action == RT_ENTER || action == RT_ENTER_ARGUMENT;
    if (is_enter)
        count_in(t, word);
    if (is_seen(t, word) && (is_enter || !rt.threshold || !take_back(t, word & RT_ID, tsc)))
        rt_put_call(t, word & RT_ID, action, tsc);
    if (!is_enter)
        count_out(t, word);
}

void rt_call_unusual(uint64_t address, unsigned action) {
    if (!rt.on && rt.wanted)
        rt_revive(rt_self());
    if (rt.on)
        rt_call_rare(rt_self(), address, action, rt_ticks());
}

/* Enter and argument are published together, so no reader sees the call without its argument. */
RT_PLAIN void rt_call_argument(struct rt_thread *t, uint32_t word, uint64_t argument, uint64_t tsc) {
    count_in(t, word);
    if (!is_seen(t, word))
        return;
    if ((!rt_has_place(t, tsc) || t->next + METADATA >= t->limit) && !rt_step(t, tsc, METADATA))
        return;
    uint8_t *const at = t->next; /* see rt_event */
    rt_zero(at + 8, METADATA);
    at[8] = CALL_ARGUMENT;
    *(rt_u64 *)(at + 9) = argument;
    *(rt_u64 *)at = (tsc - t->last) << 32 | (word & RT_ID) << 4 | RT_ENTER_ARGUMENT << 1;
    t->next += 8 + METADATA;
    t->floor = t->next;
    t->last = tsc;
    rt_publish(t);
}

RT_PLAIN __attribute__((noinline)) void rt_call_rare(struct rt_thread *t, uint64_t address, unsigned action,
                                                     uint64_t tsc) {
    volatile struct rt_mark mark;
    if (!rt_begin(t, &mark))
        return;
    const uint32_t word = rt_find(address);
    if (rt.extra)
        rt_call_filtered(t, word, action, rt.is_tsc ? tsc : rt_clock());
    else if (!(word & RT_SKIP))
        rt_put_call(t, word, action, tsc);
    if (RT_UNLIKELY(word == RT_LOST))
        rt_lose(RTF_TABLE);
    rt_end(t);
}
