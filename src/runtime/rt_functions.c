/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses to ids. A table of open addressing in the process's own memory, which a fork copies: a function keeps its
 * id in parent and child, and what each meets first later gets an id of its own. Ids are dense over all processes of a
 * trace; which function of which object they are stands in the trace (struct rtf_function).
 *
 * Entries are made without a lock: the address is claimed by compare-and-swap, the word (id and flags) follows in the
 * same way. Who finds an address without a word, be it another thread's or that of the call which a signal interrupted,
 * makes one too; the first counts, and the other's id stays unused.
 */
#include "runtime/rt_recorder.h"

#define PROBES 4096u

RT_PLAIN static uint32_t tell_function(uint64_t address, uint32_t object) {
    const uint32_t id = __atomic_fetch_add(&rt.control->next_function, 1, __ATOMIC_RELAXED) + 1;
    struct rtf_function *at =
        rt_note_entry(rt.control->function_slots, RTF_FUNCTION_SLOTS, RTF_FUNCTIONS, id, sizeof *at);
    if (!at || id > RTF_IDS_MOST)
        return 0;
    at->object = object;
    __atomic_store_n(&at->address, address, __ATOMIC_RELEASE);
    return id;
}

RT_RARE static uint32_t make_word(uint64_t address, uint32_t object) {
    const uint32_t flags = rt_filter_flags(address, object);
    if (flags & RT_SKIP)
        return RT_SKIP;
    const uint32_t id = tell_function(address, object);
    if (id == 0)
        rt_lose(RTF_TABLE);
    return id == 0 ? RT_SKIP : flags | id;
}

RT_RARE static uint32_t fill(struct rt_entry *e, uint64_t address, uint32_t object) {
    const uint32_t mine = make_word(address, object);
    uint32_t none = 0;
    e->object = object;
    if (__atomic_compare_exchange_n(&e->word, &none, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return mine;
    return none;
}

/* The entry of an address, claimed for it where it had none; NULL: there is no room near its place. */
RT_PLAIN static struct rt_entry *entry_of(uint64_t address) {
    size_t at = rt_hash(address);
    for (unsigned i = 0; i < PROBES; i++, at = (at + 1) & (RT_ENTRIES - 1)) {
        struct rt_entry *e = &rt.table[at];
        uint64_t held = __atomic_load_n(&e->address, __ATOMIC_ACQUIRE);
        if (held == 0)
            __atomic_compare_exchange_n(&e->address, &held, address, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        if (held == 0 || held == address)
            return e;
    }
    return NULL;
}

uint32_t rt_find_slow(uint64_t address) {
    struct rt_entry *e = entry_of(address);
    if (!e) {
        rt_lose(RTF_TABLE);
        return RT_SKIP;
    }
    const uint32_t word = __atomic_load_n(&e->word, __ATOMIC_ACQUIRE);
    return word ? word : fill(e, address, rt_object_of(address));
}

uint32_t rt_scope_word(const void *place, const char *name) {
    struct rt_entry *e = entry_of((uint64_t)(uintptr_t)place);
    if (!e)
        return RT_SKIP;
    const uint32_t word = __atomic_load_n(&e->word, __ATOMIC_ACQUIRE);
    return word ? word : fill(e, (uint64_t)(uintptr_t)place, rt_object_add(RTF_SCOPE, name));
}

RT_RARE void rt_forget_object(uint32_t object) {
    for (size_t i = 0; i < RT_ENTRIES; i++)
        if (rt.table[i].address > RT_GONE && rt.table[i].object == object) {
            __atomic_store_n(&rt.table[i].word, RT_SKIP, __ATOMIC_RELAXED);
            __atomic_store_n(&rt.table[i].address, RT_GONE, __ATOMIC_RELEASE);
        }
}
