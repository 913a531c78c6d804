/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ownership of the trace's slots. Slots are handed out in order. If the last calls are kept, used slots are handed out
 * again, except those with an owner. If the first calls are kept, a slot in which a thread leaves room becomes a spare
 * for the next thread. A process that ended by _exit or a signal still owns slots; other threads take over these slots
 * when they need them.
 */
#include "runtime/rt_slots.h"
#include "runtime/rt_pool.h"
#include "runtime/rt_process.h"
#include "runtime/rt_start.h"

#include <sys/mman.h>

#define PAGE 4096u
#define EFAULT_RESULT (-14)
#define STEP ((uint64_t)64 << 10) /* bytes of a slot that are populated at once */
#define LOOK_BACK 4u /* newest slots that are checked for an ended owner, such as a child that called _exit */
#define EXTENTS_BYTE 0x0f
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

RT_PLAIN uint8_t *rt_slot_at(uint32_t slot) {
    return rt.file + rt.slots_at + slot * rt.slot_size;
}

/* Ends recording, after which calls cost almost nothing again. */
RT_RARE static uint8_t *stop_full(void) {
    rt_switch(false);
    rt.control->full = 1;
    rt_lose(RTF_FULL);
    return NULL;
}

RT_PLAIN static bool own_after(uint32_t slot, uint32_t before) {
    return __atomic_compare_exchange_n(&rt.owners[slot], &before, rt.pid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Whether the owner has ended. Process ids of other PID namespaces cannot be looked up here. */
RT_PLAIN static bool is_left_behind(uint32_t owner) {
    return owner && owner < RT_OWNER_FULL && owner != rt.pid && !(rt.control->spaces & RTF_SPACES) &&
           !rt_process_lives(owner);
}

RT_PLAIN static bool own(uint32_t slot) {
    const uint32_t owner = __atomic_load_n(&rt.owners[slot], __ATOMIC_ACQUIRE);
    return (owner == 0 || is_left_behind(owner)) && own_after(slot, owner);
}

/* Claims the next slot in order. If the last calls are kept, slots are reused after all were used. */
RT_PLAIN static bool claim(uint32_t *slot, bool *used) {
    struct rtf_control *c = rt.control;
    for (uint64_t tries = 0; tries < 2 * rt.nr_slots; tries++) {
        const uint64_t number = __atomic_fetch_add(&c->next_slot, 1, __ATOMIC_RELAXED);
        if (!rt.keep_last && number >= rt.nr_slots)
            return false;
        *slot = (uint32_t)(number % rt.nr_slots);
        *used = number >= rt.nr_slots;
        if (own(*slot))
            return true;
    }
    return false;
}

/* Populates in steps, so that a thread does not use disk space that it does not need. In a ring the whole slot is
 * populated at once, because it is cleared before reuse, and clearing must not fault. */
RT_PLAIN uint64_t rt_pool_widen(uint32_t slot, uint64_t from, uint64_t end) {
    const uint64_t size = rt.slot_size;
    const uint64_t wide = rt.keep_last ? size : (end + STEP - 1) / STEP * STEP, to = wide < size ? wide : size;
    const uint64_t first = from / PAGE * PAGE;
    if (RT_CALL3(SYS_madvise, rt_slot_at(slot) + first, to - first, MADV_POPULATE_WRITE) != EFAULT_RESULT)
        return to;
    stop_full(); /* no disk space for these pages */
    return 0;
}

RT_PLAIN uint8_t *rt_pool_take(uint32_t *slot, uint64_t need, uint64_t *ready) {
    bool used;
    if (!rt_pool_is_ours())
        return NULL;
    if (!claim(slot, &used)) {
        if (!rt.keep_last)
            return stop_full();
        rt_lose(RTF_FULL);
        return NULL;
    }
    uint8_t *at = rt_slot_at(*slot);
    *ready = rt.slot_size;
    if (used) {
        *(volatile rt_u64 *)(at + 1) = 0; /* readers see an empty buffer while the slot is cleared */
        rt_zero(at + RTF_EXTENTS, rt.slot_size - RTF_EXTENTS);
    } else {
        *ready = rt_pool_widen(*slot, 0, need);
    }
    return *ready ? at : NULL;
}

/* --- Slots with room left. */

RT_PLAIN static bool has_room(uint64_t used) {
    return used + PAGE <= rt.slot_size;
}

RT_PLAIN static bool keep_spare(uint32_t slot, uint64_t used) {
    const uint64_t spare = used << 32 | (slot + 1);
    for (size_t i = 0; i < RTF_SPARES; i++) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&rt.control->spares[i], &none, spare, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

/* If the list of spares is full, the slot gets no owner; find_left_behind then finds the slot when there are no new
 * slots. */
RT_PLAIN void rt_pool_release(uint32_t slot, uint64_t used) {
    const bool first = !rt.keep_last;
    __atomic_store_n(&rt.owners[slot], !first ? 0 : has_room(used) ? RT_OWNER_SPARE : RT_OWNER_FULL, __ATOMIC_RELEASE);
    if (first && has_room(used) && !keep_spare(slot, used))
        __atomic_store_n(&rt.owners[slot], 0, __ATOMIC_RELEASE);
}

/* The size of the slot's complete buffers. */
RT_RARE static uint64_t used_of(uint32_t slot) {
    const uint8_t *begin = rt_slot_at(slot);
    const uint64_t size = rt.slot_size;
    uint64_t at = 0;
    while (size - at >= RTF_EXTENTS && begin[at] == EXTENTS_BYTE) {
        const uint64_t extents = *(const rt_u64 *)(begin + at + 1);
        if (extents > size - at - RTF_EXTENTS)
            break;
        at += RTF_EXTENTS + extents;
    }
    return at;
}

/* Clears the bytes after the complete buffers, which may be an unfinished record. Pages into which nobody wrote may be
 * missing, so the slot is populated first. */
RT_RARE static uint64_t clean_behind(uint32_t slot) {
    if (RT_CALL3(SYS_madvise, rt_slot_at(slot), rt.slot_size, MADV_POPULATE_WRITE) == EFAULT_RESULT)
        return rt.slot_size;
    const uint64_t used = used_of(slot);
    rt_zero(rt_slot_at(slot) + used, rt.slot_size - used);
    return used;
}

RT_RARE static bool take_over(uint32_t slot, bool also_free, uint64_t *used) {
    const uint32_t owner = __atomic_load_n(&rt.owners[slot], __ATOMIC_ACQUIRE);
    if (!(owner == 0 && also_free) && !is_left_behind(owner))
        return false;
    if (!own_after(slot, owner))
        return false;
    const uint64_t whole = clean_behind(slot);
    if (!has_room(whole)) {
        __atomic_store_n(&rt.owners[slot], RT_OWNER_FULL, __ATOMIC_RELEASE);
        return false;
    }
    *used = whole;
    return true;
}

/* Searches the newest slots; searches all slots if there are no new slots. */
RT_PLAIN static bool find_left_behind(uint32_t *slot, uint64_t *used) {
    const struct rtf_control *c = rt.control;
    const uint64_t next = __atomic_load_n(&c->next_slot, __ATOMIC_RELAXED);
    const bool is_last = next >= rt.nr_slots;
    const uint64_t end = is_last ? rt.nr_slots : next, begin = is_last || end < LOOK_BACK ? 0 : end - LOOK_BACK;
    for (uint64_t i = end; i-- > begin;)
        if (take_over((uint32_t)i, is_last, used))
            return *slot = (uint32_t)i, true;
    return false;
}

RT_PLAIN uint8_t *rt_pool_take_spare(uint32_t *slot, uint64_t *used) {
    uint64_t *spares = rt.control->spares;
    if (rt.keep_last || !rt_pool_is_ours())
        return NULL;
    for (size_t i = 0; i < RTF_SPARES; i++) {
        if (__atomic_load_n(&spares[i], __ATOMIC_RELAXED) == 0)
            continue;
        const uint64_t spare = __atomic_exchange_n(&spares[i], 0, __ATOMIC_ACQUIRE);
        if (spare == 0)
            continue;
        *slot = (uint32_t)spare - 1;
        *used = spare >> 32;
        if (*slot >= rt.nr_slots || !has_room(*used)) /* the file was overwritten */
            continue;
        __atomic_store_n(&rt.owners[*slot], rt.pid, __ATOMIC_RELAXED);
        return rt_slot_at(*slot);
    }
    return find_left_behind(slot, used) ? rt_slot_at(*slot) : NULL;
}

/* Releases slots owned by this process id, from before exec or from an ended process with the same id. */
RT_RARE void rt_pool_inherit(void) {
    for (uint32_t i = 0; i < rt.nr_slots; i++)
        if (__atomic_load_n(&rt.owners[i], __ATOMIC_ACQUIRE) == rt.pid)
            rt_pool_release(i, rt.keep_last ? 0 : clean_behind(i));
}
