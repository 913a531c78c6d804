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

/* Members of struct thread_interval, two in a word: words are compared and hashed, and a word that was written in parts
   cannot be read at once. */
struct offcpu_class_key {
    uint64_t address, syscall;
    uint64_t lives;   /* of the thread, and of its waker << 32 */
    uint64_t samples; /* where the thread left its CPU, and of its waker << 32 */
    uint64_t others;  /* state, waker_kind << 8, whether it began and ended in the recording << 16, waker << 32;
                         THREAD_UNSEEN: intervals that filters exclude */
};

struct offcpu_class {
    struct offcpu_class_key key;
    uint64_t ns, max, count;
};

/* Of the first interval of a class. */
struct offcpu_first {
    uint64_t start, end; /* end of the part that counts */
    uint32_t tid;
};

/* The most recent class of a life in each state, + 1; 0: none. */
struct offcpu_recent {
    uint32_t of_state[THREAD_DEAD];
};

struct offcpu_classes {
    struct memory *memory;
    struct offcpu_class *at;
    struct offcpu_first *first;   /* by class: separate, because it is not used again */
    uint32_t *slots;              /* hash table: number + 1; 0: empty */
    struct offcpu_recent *recent; /* by life */
    size_t room, first_room, slot_count, recent_room;
    uint32_t count;
};

void offcpu_classes_init(struct offcpu_classes *c, struct memory *memory);
void offcpu_classes_free(struct offcpu_classes *c);
/* Adds an interval, of which `part` counts; part NULL: filters exclude it. Errors: memory, limit. */
pfr_status offcpu_classes_add(struct offcpu_classes *c, const struct thread_interval *interval,
                              const struct thread_interval *part, pfr_error *err);
/* An interval of the class. */
struct thread_interval offcpu_classes_get(const struct offcpu_classes *c, uint32_t number);

#endif
