/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_UNWIND_LIMITS_H
#define PFR_MODEL_UNWIND_LIMITS_H
/*
 * Memory limits of unwind tables: one object of a recording must not use the memory that all others need. A stack ends
 * at an object whose tables were refused, and is counted.
 *
 *     limit                                                what happens beyond it
 *     tables of one object: half of `memory`,              no stack goes on through the object
 *       also while they are made
 *     of all: a quarter of `memory` is left                no stack goes on through the next object
 *     instructions that are run: 32 times those that the   no stack goes on through the object
 *       object has (symbol/unwind/unwind_rows.c)
 *
 * Which objects are refused because of the total depends on the order in which stacks reach objects. The limits of a
 * single object do not depend on it.
 */
#include "base/memory/memory.h"
#include "model/names/limited_objects.h"

enum unwind_limit {
    UNWIND_LIMIT_NONE,
    UNWIND_LIMIT_MEMORY,
    UNWIND_LIMIT_WORK, /* the object requires more work than its size allows */
    UNWIND_LIMITS
};

struct unwind_limits {
    struct limited_objects at[UNWIND_LIMITS]; /* objects in which stacks ended, by limit */
};

/* unwind_share_all makes a memory share for the tables of all objects. unwind_share_object makes a share of that share,
   for the tables of one object. */
void unwind_share_all(struct memory *share, struct memory *memory);
void unwind_share_object(struct memory *share, struct memory *all);

/* Reports for each limit how many stacks it ended. Returns whether any stack was ended by a limit. */
bool unwind_limits_report(const struct unwind_limits *limits, const uint64_t stacks[UNWIND_LIMITS],
                          void (*on_hole)(void *context, const pfr_error *hole), void *context);

#endif
