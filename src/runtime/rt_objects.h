/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_OBJECTS_H
#define PFR_RUNTIME_RT_OBJECTS_H
/* Objects of this process and their entries in the trace: see rt_objects.c. */
#include "runtime/rt_recorder.h"

/* Identity of a function, common to all processes of the trace. */
struct rt_place {
    uint64_t address; /* the function's address, as if its object were loaded at the base of the object's first entry in
                         the trace */
    uint32_t object;  /* number in the trace; 0: unknown */
    bool is_lost;     /* there is no room for another object */
};

struct rt_place rt_place_of(uint64_t address);
uint32_t rt_object_scope(const char *name);

/* Filter flags for the word of a function. */
uint32_t rt_filter_flags(uint64_t address, uint32_t object);

/* Removes objects that were unmapped. */
void rt_objects_check(void);

#endif
