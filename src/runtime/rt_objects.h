/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_OBJECTS_H
#define PFR_RUNTIME_RT_OBJECTS_H
/* What other files use of rt_objects.c, which says how it works. */
#include "runtime/rt_recorder.h"

/* What a function is to all processes of the trace. */
struct rt_place {
    uint64_t address; /* where it would lie, were its object where the trace says */
    uint32_t object;  /* number in the trace; 0: not known */
    bool is_lost;     /* of more objects than are kept in mind */
};

struct rt_place rt_place_of(uint64_t address);
uint32_t rt_object_scope(const char *name);

/* What the filters say of a function there: flags of its word. */
uint32_t rt_filter_flags(uint64_t address, uint32_t object);

/* Finds what was unmapped. */
void rt_objects_check(void);

#endif
