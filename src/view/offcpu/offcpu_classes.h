/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_CLASSES_H
#define PFR_VIEW_OFFCPU_CLASSES_H
/*
 * Sums of intervals while the model is made, when threads and stacks have only numbers. Intervals of a class differ in
 * nothing that decides which sum of the output they belong to, so offcpu_load.c later handles each class as one
 * interval. Classes are numbered in the order of their first intervals.
 */
#include "base/memory/fail.h"
#include "model/sched/thread_states.h"

/* There are no padding bytes: keys are compared and hashed as words. */
struct offcpu_class_key {
    uint64_t address, syscall;
    uint32_t life, sample, waker_life, waker_sample;
    uint8_t state; /* enum thread_state; THREAD_UNSEEN: intervals that filters exclude */
    uint8_t waker_kind, is_ended, spare;
    uint32_t waker; /* its tid */
};

struct offcpu_class {
    struct offcpu_class_key key;
    uint64_t ns, max, count;
    uint64_t start, end; /* start of its first interval, and end of the part that counts */
    uint32_t tid;        /* of its thread in its first interval */
    uint32_t spare;
};

/* The most recent class of a life in each state, + 1; 0: none. */
struct offcpu_recent {
    uint32_t of_state[THREAD_DEAD];
};

struct offcpu_classes {
    struct memory *memory;
    struct offcpu_class *at;
    uint32_t *slots; /* hash table: number + 1; 0: empty */
    struct offcpu_recent *recent; /* by life */
    size_t room, slot_count, recent_room;
    uint32_t count;
};

void offcpu_classes_init(struct offcpu_classes *c, struct memory *memory);
void offcpu_classes_free(struct offcpu_classes *c);
/* Adds an interval, of which `part` counts; part NULL: filters exclude it. Errors: memory, limit. */
pfr_status offcpu_classes_add(struct offcpu_classes *c, const struct thread_interval *interval,
                              const struct thread_interval *part, pfr_error *err);
/* An interval of the class. */
struct thread_interval offcpu_class_interval(const struct offcpu_class *of);

#endif
