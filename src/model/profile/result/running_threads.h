/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_RUNNING_THREADS_H
#define PFR_MODEL_RUNNING_THREADS_H
/*
 * The number of threads that ran at a given time. `begins` and `ends` are the times at which threads began and stopped
 * running. Each list is sorted separately, so the number is the difference of two positions.
 * model/sched/latency_weights.c makes the lists.
 */
#include "base/memory/memory.h"

struct running_threads {
    struct memory *memory;
    uint64_t *begins, *ends; /* ns */
    size_t count, begins_room, ends_room;
    uint64_t wall; /* ns in which any thread ran */
};

void running_threads_free(struct running_threads *running);

/* Number of threads that ran at `time`, including those that left their CPU at exactly this time; 0: not known.
   Thread-safe. */
uint64_t running_threads_at(const struct running_threads *running, uint64_t time);

#endif
