/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_ROUND_ROBIN_H
#define PFR_MODEL_CALLS_ROUND_ROBIN_H
/* Interface of calls_round_robin.c, which describes how it works. */
#include "model/calls/calls_parts.h"

/* Number of threads that are noted when samples of the trace are examined. */
#define TURNS_MET 32u

struct calls_met {
    struct {
        int32_t pid, tid;
        unsigned count;
    } at[TURNS_MET];
    unsigned threads, buffers; /* number of entries of `at`; number of buffers examined */
    unsigned places, alone;    /* number of places examined; number of places with buffers of only one thread */
};

/* Counts the threads of this buffer and of some that follow it. */
pfr_status calls_turns_meet(struct calls_met *met, pfr_reader *reader, const struct xray_buffer *first, pfr_error *err);

/* Whether this method suits the trace: `workers` workers would usually find a buffer of a thread that no other worker
   is reading. */
bool calls_turns_wanted(const struct calls_met *met, unsigned workers);

/* Sums the calls of the whole trace by whole paths. Returns as calls_chunks_run; the caller closes the workers. `like`
   is the usual length of a buffer in bytes. */
pfr_status calls_turns_run(struct calls_workers *workers, unsigned nr_workers, uint64_t like,
                           struct calls_totals *totals, pfr_error *err);

#endif
