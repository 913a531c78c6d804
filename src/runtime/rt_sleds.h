/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_SLEDS_H
#define PFR_RUNTIME_RT_SLEDS_H
/*
 * Sleds of clang's -fxray-instrument, on and off while the program runs: what clang left free in functions becomes a
 * call of ours. It needs nothing of clang's own runtime.
 *
 *     rt_sleds.c           which objects there are, when they are patched
 *     rt_sled_map.c        where an object says which sleds it has
 *     rt_sled_patch.c      one object's sleds, on and off
 *     rt_sled_event.c      bodies of event sleds
 *     rt_islands.c         jumps to ours in the reach of an object's own
 *     rt_sled_x86_64.S     where patched sleds arrive
 *     rt_sled_hooks.c      what is recorded then
 */
#include "runtime/rt_recorder.h"

#include <link.h>

enum rt_sled_kind {
    RT_SLED_ENTER,
    RT_SLED_EXIT,
    RT_SLED_TAIL,
    RT_SLED_ARGUMENT,
    RT_SLED_CUSTOM,
    RT_SLED_TYPED,
    RT_SLEDS
};

struct rt_sled {
    uint64_t at, function;
    uint8_t kind, version;
};

#define RT_CODES 4u

/* An object that has sleds. */
struct rt_sled_object {
    uint64_t base, start, end; /* of its addresses in memory */
    const uint8_t *map;        /* xray_instr_map; NULL: it has none */
    uint64_t count;
    struct rt_code {
        uint64_t start, end; /* pages */
        int protection;
    } codes[RT_CODES];
    unsigned nr_codes;
    uint64_t island;
    uint32_t seen; /* in this look at what is loaded */
    bool is_on;
};

/* --- rt_sled_map.c */

/* Its place in memory, and of what in it is code. */
void rt_sled_map_place(struct rt_sled_object *o, const struct dl_phdr_info *info);
/* Looks into the object's file for its sections; the place is known. */
void rt_sled_map_find(struct rt_sled_object *o, const struct dl_phdr_info *info);
/* false: it cannot be one of this object's. */
bool rt_sled_at(const struct rt_sled_object *o, uint64_t number, struct rt_sled *sled);

/* --- rt_sled_patch.c */

/* What cannot be patched stays as it is. NULL: done; else why nothing was. */
const char *rt_sled_patch(struct rt_sled_object *o, bool on);

/* --- rt_sled_event.c: the same for the body of one, which nobody runs meanwhile. false: this one must stay off. */
bool rt_event_prepare(uint8_t *sled, unsigned body, uint64_t target);

/* --- rt_islands.c */

/* The address of jumps to all of ours, in the order of enum rt_sled_kind, in the reach of the object; 0: there is none.
 */
uint64_t rt_island_near(uint64_t start, uint64_t end);
#define RT_ISLAND_JUMP 16u

/* --- rt_sled_hooks.c */

/* Clocks that may be read in the middle of the program's call: CLOCK_MONOTONIC, as the C library reads it without a
   system call, and that of the trace. */
uint64_t rt_now_apart(void);
uint64_t rt_clock_apart(void);
void rt_pair_apart(struct rt_pair *pair);
void rt_vectors_learn(void);

/* --- rt_sled_x86_64.S: what a call of this function leaves of vector registers is put right. */
long rt_apart(long (*function)(long, long), long a, long b);

/* Sleds are on where calls are recorded, and else off. A look finds what was loaded meanwhile: not from a signal
   handler. */
void rt_sleds_apply(bool with_look);
void rt_sleds_forked(void);

/* Around dlopen and dlclose. The names are for the archive, whose members see each other by them. */
void rt_loaded(void) __asm__("perfray_rt_loaded_") __attribute__((visibility("default")));
void rt_unloading(void) __asm__("perfray_rt_unloading_") __attribute__((visibility("default")));
void rt_unloaded(void) __asm__("perfray_rt_unloaded_") __attribute__((visibility("default")));

#endif
