/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps addresses to function ids: an open-addressing table in the process's private memory, which a fork copies. Ids
 * are dense over all processes of a trace. The trace lists the function and object of each id (struct rtf_function). A
 * function that is new to this process is first looked up in that list, so that it has the same id in all processes.
 *
 * Entries are made without a lock: one compare-and-swap claims the address, and a second one sets the word (id and
 * flags). If a thread finds an address without a word, the entry may have been claimed by another thread, or by a call
 * that a signal interrupted. Therefore this thread makes a word, too. The first word set is used; the id in the other
 * word stays unused.
 */
#include "runtime/rt_functions.h"
#include "runtime/rt_notes.h"
#include "runtime/rt_objects.h"

#include <sys/mman.h>

/* The longest probe sequence. If there is no free entry in it, the function is not recorded, and its calls are counted
 * as lost. */
#define PROBES 64u

/* --- Functions that already have an id in the trace, because another process called them or their object was loaded
   before. */

#define ADDRESS_POLLS 10000u /* polls of an id whose owner has not written its function yet */

static uint32_t *known_ids; /* open-addressing table of ids, by object and address */
static uint32_t nr_known;   /* all ids up to nr_known are in known_ids, or were given up by take_in */

RT_PLAIN bool rt_functions_prepare(void) {
    const long at = rt_syscall(SYS_mmap, 0, RT_ENTRIES * sizeof *known_ids, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    known_ids = at < 0 && at > -4096 ? NULL : (uint32_t *)at;
    return known_ids != NULL;
}

RT_PLAIN static struct rtf_function *function_at(uint32_t id) {
    return rt_note_entry(rt.control->function_slots, RTF_FUNCTION_SLOTS, RTF_FUNCTIONS, id,
                         sizeof(struct rtf_function));
}

RT_PLAIN static bool is_function(const struct rtf_function *f, uint64_t address, uint32_t object) {
    return f && f->object == object && __atomic_load_n(&f->address, __ATOMIC_ACQUIRE) == address;
}

RT_PLAIN static size_t function_hash(uint64_t address, uint32_t object) {
    return rt_hash(address + (uint64_t)object * 0x9e3779b9u);
}

RT_RARE static void remember(uint32_t id, uint64_t address, uint32_t object) {
    size_t at = function_hash(address, object);
    for (unsigned i = 0; i < PROBES; i++, at = (at + 1) & (RT_ENTRIES - 1)) {
        uint32_t none = 0;
        if (__atomic_compare_exchange_n(&known_ids[at], &none, id, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
            none == id || is_function(function_at(none), address, object))
            return;
    }
}

/* Adds the ids before `end` that other processes have written since the last call. If the function of an id is not
 * written within ADDRESS_POLLS polls, the id is given up, because its process may have been killed. */
RT_RARE static void take_in(uint32_t end) {
    uint32_t id = __atomic_load_n(&nr_known, __ATOMIC_ACQUIRE) + 1;
    for (; id < end; id++) {
        const struct rtf_function *f = function_at(id);
        for (unsigned i = 0; f && i < ADDRESS_POLLS && __atomic_load_n(&f->address, __ATOMIC_ACQUIRE) == 0; i++)
            ;
        if (f && __atomic_load_n(&f->address, __ATOMIC_ACQUIRE) != 0)
            remember(id, f->address, f->object);
    }
    __atomic_store_n(&nr_known, end - 1, __ATOMIC_RELEASE);
}

/* Returns the id of a function, or 0. */
RT_RARE static uint32_t find_known(uint64_t address, uint32_t object) {
    size_t at = function_hash(address, object);
    for (unsigned i = 0; i < PROBES; i++, at = (at + 1) & (RT_ENTRIES - 1)) {
        const uint32_t id = __atomic_load_n(&known_ids[at], __ATOMIC_ACQUIRE);
        if (id == 0 || is_function(function_at(id), address, object))
            return id;
    }
    return 0;
}

/* Gives a function an id. If two processes do so at the same time, both use the lower id. */
RT_RARE static uint32_t assign_id(uint64_t address, uint32_t object) {
    take_in(__atomic_load_n(&rt.control->next_function, __ATOMIC_ACQUIRE) + 1);
    uint32_t id = find_known(address, object);
    if (id)
        return id;
    id = __atomic_fetch_add(&rt.control->next_function, 1, __ATOMIC_ACQ_REL) + 1;
    struct rtf_function *at = function_at(id);
    if (!at || id > RTF_IDS_MOST)
        return 0;
    at->object = object;
    __atomic_store_n(&at->address, address, __ATOMIC_RELEASE);
    take_in(id);
    const uint32_t other = find_known(address, object);
    return other ? other : id;
}

/* --- Addresses to ids. */

RT_RARE static uint32_t make_word(uint64_t address, const struct rt_place *place) {
    if (place->is_lost)
        return RT_LOST;
    const uint32_t flags = rt_filter_flags(address, place->object);
    if (flags & RT_SKIP)
        return RT_SKIP;
    const uint32_t id = assign_id(place->address, place->object);
    return id == 0 ? RT_LOST : flags | id;
}

RT_RARE static uint32_t fill(struct rt_entry *e, uint64_t address, const struct rt_place *place) {
    const uint32_t mine = make_word(address, place);
    uint32_t none = 0;
    if (__atomic_compare_exchange_n(&e->word, &none, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return mine;
    return none;
}

/* Returns the entry with the address, otherwise the first entry of an unloaded object in the probe sequence, otherwise
 * a free entry; NULL if there is no such entry. *held: the address in the returned entry. */
RT_PLAIN static struct rt_entry *look_for(uint64_t address, uint64_t *held) {
    struct rt_entry *gone = NULL;
    size_t at = rt_hash(address);
    for (unsigned i = 0; i < PROBES; i++, at = (at + 1) & (RT_ENTRIES - 1)) {
        struct rt_entry *e = &rt.table[at];
        *held = __atomic_load_n(&e->address, __ATOMIC_ACQUIRE);
        if (*held == RT_GONE && !gone)
            gone = e;
        if (*held == address || (*held == 0 && !gone))
            return e;
        if (*held == 0)
            break;
    }
    *held = RT_GONE;
    return gone;
}

/* Returns the entry of an address, claimed if it is new. NULL: no free entry within PROBES. */
RT_PLAIN static struct rt_entry *entry_of(uint64_t address) {
    for (;;) {
        uint64_t held;
        struct rt_entry *e = look_for(address, &held);
        if (!e || held == address)
            return e;
        if (!__atomic_compare_exchange_n(&e->address, &held, held ? RT_TAKEN : address, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            continue;
        if (held == RT_GONE) {
            __atomic_store_n(&e->word, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&e->address, address, __ATOMIC_RELEASE);
        }
        return e;
    }
}

uint32_t rt_find_slow(uint64_t address) {
    struct rt_entry *e = entry_of(address);
    if (!e)
        return RT_LOST;
    const uint32_t word = __atomic_load_n(&e->word, __ATOMIC_ACQUIRE);
    if (word)
        return word;
    const struct rt_place place = rt_place_of(address);
    return fill(e, address, &place);
}

/* Gives scopes with equal names the same function of the trace. */
uint32_t rt_scope_word(const void *scope, const char *name) {
    struct rt_entry *e = entry_of((uint64_t)(uintptr_t)scope);
    if (!e)
        return RT_LOST;
    const uint32_t word = __atomic_load_n(&e->word, __ATOMIC_ACQUIRE);
    if (word)
        return word;
    const struct rt_place place = {.address = 1, .object = rt_object_scope(name)};
    return fill(e, (uint64_t)(uintptr_t)scope, &place);
}

RT_PLAIN static void forget_entry(struct rt_entry *e, uint64_t start, uint64_t end) {
    if (e->address < start || e->address >= end)
        return;
    __atomic_store_n(&e->word, RT_SKIP, __ATOMIC_RELAXED);
    __atomic_store_n(&e->address, RT_GONE, __ATOMIC_RELEASE);
}

/* Hash values of addresses within 2 MB are consecutive (rt_hash), and an entry is at most PROBES after its hash. So
 * only the entries after the object's hash values are scanned; for an object larger than 64 MB, the whole table. */
RT_RARE void rt_forget_range(uint64_t start, uint64_t end) {
    const uint64_t together = 1u << 21;
    const bool all = end - start > (uint64_t)RT_ENTRIES * 16;
    for (size_t i = 0; all && i < RT_ENTRIES; i++)
        forget_entry(&rt.table[i], start, end);
    for (uint64_t from = start, to; !all && from < end; from = to) {
        to = (from / together + 1) * together;
        to = to < end ? to : end;
        const uint64_t places = (to - 1) / 16 - from / 16 + 1 + PROBES;
        for (uint64_t i = 0; i < places && i < RT_ENTRIES; i++)
            forget_entry(&rt.table[(rt_hash(from) + i) & (RT_ENTRIES - 1)], start, end);
    }
}
