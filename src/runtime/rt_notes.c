/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the lists that the trace contains in addition to calls, as custom events: see wire/recorder_file.h. */
#include "runtime/rt_notes.h"
#include "runtime/rt_buffer.h"
#include "runtime/rt_pool.h"
#include "runtime/rt_slots.h"

RT_PLAIN void rt_note_write(uint8_t *buffer, uint32_t kind, uint32_t first, uint64_t size) {
    struct rtf_note note = {.kind = kind, .first = first, .size = size};
    rt_copy(note.magic, RTF_MAGIC, RTF_MAGIC_SIZE);
    rt_copy(buffer + RTF_NOTE, &note, sizeof note);
    rt_preamble(buffer, rt.pid, 0, rt.control->start_tsc, rt.control->start_ns);
    rt_event_head(buffer + RTF_PREAMBLE, -1, (uint32_t)(size - RTF_NOTE), rt.control->start_tsc, rt.control->start_tsc,
                  0);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    *(volatile rt_u64 *)(buffer + 1) = size - RTF_EXTENTS;
}

/* Called if another process made this block of the list first; the slot of this process becomes an empty buffer. */
RT_RARE static void give_up(uint8_t *buffer) {
    *(volatile rt_u64 *)(buffer + 1) = 0;
    rt_zero(buffer + RTF_EXTENTS, rt.slot_size - RTF_EXTENTS);
}

RT_RARE static uint8_t *make_slot(uint32_t *known, uint32_t kind, uint32_t first) {
    uint32_t slot, none = 0;
    uint64_t ready;
    uint8_t *made = rt_pool_take(&slot, rt.slot_size, &ready);
    if (!made)
        return NULL;
    __atomic_store_n(&rt.owners[slot], RT_OWNER_NOTES, __ATOMIC_RELAXED);
    rt_note_write(made, kind, first, rt.slot_size);
    if (__atomic_compare_exchange_n(known, &none, slot + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    give_up(made);
    return none <= rt.nr_slots ? rt_slot_at(none - 1) : NULL;
}

RT_PLAIN void *rt_note_entry(uint32_t *known, uint32_t most, uint32_t kind, uint32_t number, size_t size) {
    const uint32_t per = (uint32_t)rtf_entries_in(rt.slot_size, size);
    const uint32_t block = (number - 1) / per;
    if (block >= most)
        return NULL;
    const uint32_t slot = __atomic_load_n(&known[block], __ATOMIC_ACQUIRE);
    if (slot > rt.nr_slots) /* the file was overwritten */
        return NULL;
    uint8_t *note = slot ? rt_slot_at(slot - 1) : make_slot(&known[block], kind, block * per + 1);
    return note ? note + RTF_NOTE + RTF_ENTRIES + (number - 1) % per * size : NULL;
}
