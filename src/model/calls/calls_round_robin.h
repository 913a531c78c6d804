/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_ROUND_ROBIN_H
#define PFR_MODEL_CALLS_ROUND_ROBIN_H
/* What other files use of calls_round_robin.c, which says how it works. */
#include "model/calls/calls_parts.h"

/* Threads that were met in some places of the trace. */
#define TURNS_MET 32u

struct calls_met {
    struct {
        int32_t pid, tid;
        unsigned count;
    } at[TURNS_MET];
    unsigned threads, buffers; /* of them, and of all */
    unsigned places, alone;    /* where there was one thread and no other */
};

/* Looks at this buffer and some that follow. */
pfr_status calls_turns_meet(struct calls_met *met, pfr_reader *reader, const struct xray_buffer *first, pfr_error *err);

/* Whether so many lanes would mostly find a buffer of a thread of which nobody reads. */
bool calls_turns_wanted(const struct calls_met *met, unsigned workers);

/* Sums by whole paths of the whole trace. As calls_chunks_run; the lanes are closed by the caller. Buffers are
   mostly `like` bytes. */
pfr_status calls_turns_run(struct calls_workers *workers, unsigned nr_workers, uint64_t like,
                           struct calls_totals *totals, pfr_error *err);

#endif
