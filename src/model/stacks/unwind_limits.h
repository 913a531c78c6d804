/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_UNWIND_LIMITS_H
#define PFR_MODEL_UNWIND_LIMITS_H
/*
 * What tables for unwinding may take: one object of a recording must not take what all others need. Stacks end where
 * they meet an object that is refused its own, and are counted.
 *
 *     limit                                                what happens beyond it
 *     tables of one object: half of `memory`,              no stack goes on through the object
 *       also while they are made
 *     of all: a quarter of `memory` is left                no stack goes on through the next object
 *     instructions that are run: 32 times those that the   no stack goes on through the object
 *       object has (symbol/unwind/unwind_rows.c)
 *
 * Which objects are the next depends on the order in which stacks meet them; what one object is refused for does not.
 */
#include "base/memory/memory.h"
#include "model/names/limited_objects.h"

enum unwind_limit {
    UNWIND_LIMIT_NONE,
    UNWIND_LIMIT_MEMORY,
    UNWIND_LIMIT_WORK, /* the object asks for more than what its size allows */
    UNWIND_LIMITS
};

struct unwind_limits {
    struct limited_objects at[UNWIND_LIMITS]; /* in which stacks ended for that reason */
};

/* A share for the tables of all objects, and one of it for those of one. */
void unwind_share_all(struct memory *share, struct memory *memory);
void unwind_share_object(struct memory *share, struct memory *all);

/* Tells of each limit how many stacks it ended. Whether there were any. */
bool unwind_limits_tell(const struct unwind_limits *limits, const uint64_t stacks[UNWIND_LIMITS],
                        void (*tell)(void *context, const pfr_error *hole), void *context);

#endif
