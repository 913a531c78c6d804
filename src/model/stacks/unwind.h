/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_UNWIND_H
#define PFR_MODEL_UNWIND_H
/*
 * Who called the code that a sample met, by the copy of its registers and stack that was recorded with it, from object
 * to object, through the maps of its moment.
 *
 *     struct unwind_worker lane;
 *     unwind_worker_init(&lane, &objects, memory);
 *     struct unwind_sample sample = {.machine = ..., .registers = s->regs_user.regs, ...};
 *     st = unwind_stack(&lane, &sample, 127, addresses, &unwound, &err);
 *
 * Addresses come innermost first: the sampled one as it is, callers less one, so that each lies in the call and not
 * behind it; one that a signal interrupted as it is, too.
 *
 * Where an object has tables and none of them knows the address, frame pointers are followed, as libunwind does it for
 * perf; such frames are guessed, but not where a limit left tables out. Elsewhere a stack ends that cannot be followed.
 */
#include "model/stacks/unwind_objects.h"

#include <perfray/views.h>

enum unwind_end {
    UNWOUND_NOTHING,   /* the sample has no registers or no stack: it met no program */
    UNWOUND_COMPLETE,  /* up to where nobody called */
    UNWOUND_TRUNCATED, /* up to the end of what was copied, or the most frames that are wanted */
    UNWOUND_BROKEN,    /* what is next is not known */
    UNWOUND_ENDS
};

struct unwound {
    uint32_t count;
    enum unwind_end end;
    enum unwind_limit limit; /* why it is broken where it is */
    bool guessed;            /* some of its frames */
};

struct unwind_sample {
    uint64_t mask; /* attr.sample_regs_user */
    uint64_t abi;
    pfr_u64s registers;
    const uint8_t *stack;
    uint64_t size, room; /* bytes that are real, and that were wished for */
    bool swap;           /* the recording's byte order is not this machine's */
    uint32_t space;
    struct record_key key;
};

/* What code was found at an address of a space, where that is always so. */
struct unwind_memo {
    uint64_t address;
    struct unwind_object *object;   /* NULL: none */
    const struct unwind_plan *plan; /* NULL: none */
    struct record_key since;        /* of the map: a sample before it does not see it */
    uint32_t space;
    bool used;
};
#define UNWIND_MEMO_BITS 14u
#define UNWIND_MEMOS (1u << UNWIND_MEMO_BITS)

/* What one thread needs. */
struct unwind_worker {
    struct unwind_objects *objects;
    const struct unwind_machine *machine; /* NULL: one that we know nothing of */
    struct memory *memory;
    struct unwind_memo *memos;
    bool any; /* object that can be had */
};

/* FOUND or no memory. */
pfr_status unwind_worker_init(struct unwind_worker *worker, struct unwind_objects *objects, struct memory *memory,
                              pfr_error *err);
void unwind_worker_free(struct unwind_worker *worker);
/* After maps came: for a state that is learnt on the way. */
void unwind_worker_forget(struct unwind_worker *worker);

/* Into `to`, which has room for `most`. Errors: no memory. */
pfr_status unwind_stack(struct unwind_worker *worker, const struct unwind_sample *sample, uint32_t most, uint64_t *to,
                        struct unwound *unwound, pfr_error *err);

#endif
