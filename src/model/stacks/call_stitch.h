/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALL_STITCH_H
#define PFR_MODEL_CALL_STITCH_H
/*
 * Extends call stacks from a cpu's branch registers (LBR) beyond the number of registers. If no register is free, a new
 * call takes the register of the outermost call, which is then missing in later samples. The thread's previous sample
 * still has that call, if it was taken early enough. So the outermost call of a sample is looked up in the previous
 * sample: the same call in the same register. If it is found, the outer calls of the previous sample (in registers, or
 * stitched from earlier samples) are outer calls of this sample as well.
 *
 *    stitcher_init(&s, registers, memory);
 *    stitch_calls(&s, tid, space, &sample.branch, &lost, &err);      samples in order of time
 *    for (size_t i = lost.count; i-- > 0;)
 *        use(lost.from[i]);                                         after the sample's own calls, outwards
 *    stitcher_free(&s);
 *
 * This is a heuristic: it does not detect that a thread left the call and made it again in the same register. Memory is
 * proportional to the number of threads, up to a limit of its own. When the limit is reached, all threads are
 * discarded.
 */
#include "base/tables/hashmap.h"

#include <perfray/reader.h>
#include <perfray/record_structs.h>

#define STITCHED_MOST 2048u  /* calls of a thread that left the registers; the outermost are dropped */
#define REGISTERS_MOST 1024u /* cpus have 8 to 64 */

struct branch_call {
    uint64_t from, to, flags;
};

/* A thread, as of its last sample. */
struct stitch_thread {
    uint32_t space;
    uint32_t newest, count;    /* register of the newest call; number of calls */
    struct branch_call *calls; /* newest first; room for all registers */
    uint64_t *older;           /* addresses of calls that are in no register, outermost first */
    size_t nr_older, room;
};

struct stitcher {
    struct memory memory;   /* share of the memory given to stitcher_init */
    uint32_t registers;     /* 0: the number is unknown, and nothing is stitched */
    struct u64_map threads; /* tid -> index in `at` */
    struct stitch_thread *at;
    size_t count, room;
    struct branch_call *now; /* calls of the current sample; NULL before the first */
    uint64_t begun_anew;     /* number of times that all threads were discarded */
};

/* Calls of a thread that are in no register; valid until the next call of stitch_calls. */
struct lost_calls {
    const uint64_t *from; /* outermost first */
    size_t count;
};

/* Number of branch registers of the recorded cpu, from the features CPU_PMU_CAPS or PMU_CAPS; 0: not recorded. */
uint32_t branch_registers(pfr_reader *reader);

void stitcher_init(struct stitcher *s, uint32_t registers, struct memory *memory);
void stitcher_free(struct stitcher *s);

/* Sets *lost for a sample. Fails only for lack of memory; reaching the limit is not an error. */
pfr_status stitch_calls(struct stitcher *s, uint32_t tid, uint32_t space, const struct pfr_rec_branch_stack *branch,
                        struct lost_calls *lost, pfr_error *err);

#endif
