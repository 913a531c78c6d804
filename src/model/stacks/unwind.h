/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_UNWIND_H
#define PFR_MODEL_UNWIND_H
/*
 * Finds the callers of a sample from its recorded copy of registers and stack, across objects, with the maps at its
 * timestamp.
 *
 *    struct unwind_worker worker;
 *    unwind_worker_init(&worker, &objects, memory);
 *    struct unwind_sample sample = {.mask = ..., .registers = s->regs_user.regs, ...};
 *    st = unwind_stack(&worker, &sample, 127, addresses, &unwound, &err);
 *
 * Addresses are returned innermost first. The sampled address, and an address at which a signal interrupted the
 * program, are unchanged. Other addresses of callers are reduced by one, so that they are inside the call instruction.
 *
 * If an object has tables but none of them covers the address, frame pointers are followed, as libunwind does for perf.
 * Frames found that way are guesses. If tables are missing because of a limit, frame pointers are not followed. In all
 * other cases a stack ends where the caller cannot be found.
 */
#include "model/stacks/unwind_objects.h"

#include <perfray/views.h>

enum unwind_end {
    UNWOUND_NOTHING,   /* the sample has no user registers or no stack */
    UNWOUND_COMPLETE,  /* up to the outermost frame */
    UNWOUND_TRUNCATED, /* up to the end of the copied stack, or the maximum number of frames */
    UNWOUND_BROKEN,    /* the next frame could not be found */
    UNWOUND_ENDS
};

struct unwound {
    uint32_t count;
    enum unwind_end end;
    enum unwind_limit limit; /* the limit that broke the stack, if it is broken by a limit */
    bool guessed;            /* some of its frames are guesses */
};

struct unwind_sample {
    uint64_t mask; /* attr.sample_regs_user */
    uint64_t abi;
    pfr_u64s registers;
    const uint8_t *stack;
    uint64_t size, room; /* number of valid bytes; number of bytes that were requested */
    bool swap;           /* the recording's byte order differs from this machine's */
    uint32_t space;
    struct record_key key;
};

/* Cache entry: the code at an address of a space, if that code never changes. */
struct unwind_memo {
    uint64_t address;
    struct unwind_object *object;   /* NULL: no object */
    const struct unwind_plan *plan; /* NULL: no plan */
    struct record_key since;        /* key of the map: the entry is valid only for later samples */
    uint32_t space;
    bool used;
};
#define UNWIND_MEMO_BITS 14u
#define UNWIND_MEMOS (1u << UNWIND_MEMO_BITS)

/* Data of one thread that unwinds. */
struct unwind_worker {
    struct unwind_objects *objects;
    const struct unwind_machine *machine; /* NULL: an unsupported machine */
    struct memory *memory;
    struct unwind_memo *memos;
    bool any; /* the file of some object is available */
};

/* Fails only for lack of memory. */
pfr_status unwind_worker_init(struct unwind_worker *worker, struct unwind_objects *objects, struct memory *memory,
                              pfr_error *err);
void unwind_worker_free(struct unwind_worker *worker);
/* Discards cached results. Call it after new maps if the state is learnt while records are read. */
void unwind_worker_forget(struct unwind_worker *worker);

/* Stores up to `most` addresses in `to`. Fails only for lack of memory. */
pfr_status unwind_stack(struct unwind_worker *worker, const struct unwind_sample *sample, uint32_t most, uint64_t *to,
                        struct unwound *unwound, pfr_error *err);

#endif
