/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALL_STITCH_H
#define PFR_MODEL_CALL_STITCH_H
/*
 * Stacks of calls out of a cpu's branch registers (LBR), beyond as many calls as there are registers. A call that finds
 * none free takes that of the outermost one, which is then in no sample any more; but it was in the thread's sample
 * before, if that was taken in time. So the outermost call of a sample is looked for in the sample before it: in the
 * same register, and the same call. Where it is, what that one had further out (in registers, or by way of the ones
 * before it) is further out here too.
 *
 *     stitcher_init(&s, registers, memory);
 *     stitch_calls(&s, tid, space, &sample.branch, &lost, &err);      samples in the order of time
 *     for (size_t i = lost.count; i-- > 0;)
 *         use(lost.from[i]);                                         behind the sample's own calls, going outwards
 *     stitcher_free(&s);
 *
 * A guess: a thread that left the call and made it again in the same register is not told apart. Memory follows the
 * number of threads, and has a limit of its own: where that is met all threads begin anew.
 */
#include "base/tables/hashmap.h"

#include <perfray/reader.h>
#include <perfray/record_structs.h>

#define STITCHED_MOST                                                                                                  \
    2048u /* calls of a thread that are in no register any more; of more the outermost are forgotten */
#define REGISTERS_MOST 1024u /* cpus have 8 to 64 */

struct branch_call {
    uint64_t from, to, flags;
};

/* A thread as its last sample had it. */
struct stitch_thread {
    uint32_t space;
    uint32_t newest, count;    /* the register of the newest call; how many calls */
    struct branch_call *calls; /* newest first; there is room for as many as there are registers */
    uint64_t *older;           /* where calls came from that are in no register, outermost first */
    size_t nr_older, room;
};

struct stitcher {
    struct memory memory;   /* a share */
    uint32_t registers;     /* 0: it is not known how many; nothing is stitched then */
    struct u64_map threads; /* tid -> place in `at` */
    struct stitch_thread *at;
    size_t count, room;
    struct branch_call *now; /* of the sample at hand; NULL before the first */
    uint64_t begun_anew;     /* how often all threads were forgotten */
};

/* Of the thread, until the next call. */
struct lost_calls {
    const uint64_t *from; /* outermost first */
    size_t count;
};

/* How many branches the recorded cpu has registers for, by the features CPU_PMU_CAPS or PMU_CAPS; 0: they do not say.
 */
uint32_t branch_registers(pfr_reader *reader);

void stitcher_init(struct stitcher *s, uint32_t registers, struct memory *memory);
void stitcher_free(struct stitcher *s);

/* Errors: no memory; a limit that was met is none. */
pfr_status stitch_calls(struct stitcher *s, uint32_t tid, uint32_t space, const struct pfr_rec_branch_stack *branch,
                        struct lost_calls *lost, pfr_error *err);

#endif
