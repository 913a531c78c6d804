/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_SLEDS_H
#define PFR_RUNTIME_RT_SLEDS_H
/*
 * Sleds of clang's -fxray-instrument, turned on and off at run time: the space that clang reserved in functions is
 * filled with a call of the recorder's hook. clang's own runtime is not needed.
 *
 *  rt_sleds.c        loaded objects, and when they are patched
 *  rt_sled_map.c     reads the list of sleds of an object
 *  rt_sled_patch.c   turns the sleds of one object on and off
 *  rt_sled_event.c   patches bodies of event sleds
 *  rt_islands.c      jumps to the hooks, within reach of an object
 *  rt_sled_x86_64.S  entry points of patched sleds
 *  rt_sled_hooks.c   hooks that these entry points call
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

/* An object that may have sleds. */
struct rt_sled_object {
    uint64_t base, start, end; /* addresses in memory */
    const uint8_t *map;        /* xray_instr_map; NULL: no sleds */
    uint64_t count;
    struct rt_code {
        uint64_t start, end; /* whole pages */
        int protection;
    } codes[RT_CODES];
    unsigned nr_codes;
    uint64_t island;
    uint32_t seen; /* number of the last search that found the object loaded */
    bool is_on;
};

/* --- rt_sled_map.c */

/* Sets the address range of the object and of its code. */
void rt_sled_map_place(struct rt_sled_object *o, const struct dl_phdr_info *info);
/* Reads the list of sleds from the object's file; the ranges must be known. */
void rt_sled_map_find(struct rt_sled_object *o, const struct dl_phdr_info *info);
/* Reads an entry of the list; false if it cannot be a sled of this object. */
bool rt_sled_at(const struct rt_sled_object *o, uint64_t number, struct rt_sled *sled);

/* --- rt_sled_patch.c */

/* Sleds that cannot be patched stay unchanged. Returns NULL, or the reason why no sled was changed. */
const char *rt_sled_patch(struct rt_sled_object *o, bool on);

/* --- rt_sled_event.c: patches the body of an event sled that is off. False: the sled must stay off. */
bool rt_event_prepare(uint8_t *sled, unsigned body, uint64_t target);

/* --- rt_islands.c */

/* The address of jumps to all hooks, in the order of enum rt_sled_kind, within reach of the object; 0: no room. */
uint64_t rt_island_near(uint64_t start, uint64_t end);
#define RT_ISLAND_JUMP 16u

/* --- rt_sled_hooks.c */

/* Clocks that can be read during the program's call: CLOCK_MONOTONIC, read by the C library without a system call, and
 * the clock of the trace. */
uint64_t rt_now_apart(void);
uint64_t rt_clock_apart(void);
void rt_pair_apart(struct rt_pair *pair);
void rt_vectors_learn(void);

/* --- rt_sled_x86_64.S: calls a function, then restores the vector registers that the function has changed. */
long rt_apart(long (*function)(long, long), long a, long b);

/* Turns sleds on if calls are recorded, otherwise off. With `with_look`, also searches for newly loaded objects, which
 * is not allowed in a signal handler. */
void rt_sleds_apply(bool with_look);
void rt_sleds_forked(void);

/* Called around dlopen and dlclose. Other members of the static archive use these names in assembler. */
void rt_loaded(void) __asm__("perfray_rt_loaded_") __attribute__((visibility("default")));
void rt_unloading(void) __asm__("perfray_rt_unloading_") __attribute__((visibility("default")));
void rt_unloaded(void) __asm__("perfray_rt_unloaded_") __attribute__((visibility("default")));

#endif
