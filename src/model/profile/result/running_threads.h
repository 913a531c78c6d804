/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_RUNNING_THREADS_H
#define PFR_MODEL_RUNNING_THREADS_H
/*
 * How many threads ran at a time. A thread ran from begins[i] on, until ends[i]: the two lists are sorted each for
 * itself, so that the number is the difference of two places. model/sched/latency_weights.c makes them.
 */
#include "base/memory/memory.h"

struct running_threads {
    struct memory *memory;
    uint64_t *begins, *ends; /* ns */
    size_t count, begins_room, ends_room;
    uint64_t wall; /* ns in which any thread ran */
};

void running_threads_free(struct running_threads *running);

/* Threads that ran at `time`, among them those that left their CPU just then; 0: not known. Thread-safe. */
uint64_t running_threads_at(const struct running_threads *running, uint64_t time);

#endif
