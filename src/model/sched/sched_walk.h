/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_SCHED_WALK_H
#define PFR_MODEL_SCHED_WALK_H
/*
 * States of threads of a whole recording, in one walk over its records: intervals come in the order of their ends.
 *
 *     struct sched_walk walk = {.each = take, .context = ...};
 *     sched_walk(&walk, reader, memory, &err);
 *
 * Memory follows the number of threads and what one round of the recorder has, not the number of switches. Records that
 * are late against their round make the walk begin again with all events in memory; `restart` says so.
 */
#include "model/sched/thread_states.h"

struct sched_walk {
    pfr_status (*each)(void *context, const struct thread_interval *interval, pfr_error *err);
    void (*restart)(void *context);                     /* what came before does not count */
    void (*hole)(void *context, const pfr_error *hole); /* may be NULL */
    /* Sets event->sample, the number by which intervals refer to the sample; NULL: as the model numbers them. */
    pfr_status (*sample)(void *context, const pfr_record *rec, struct sched_event *event, pfr_error *err);
    void *context;
    /* Filled: */
    struct sched_counts counts;
    uint64_t begin, end; /* times of the first and the last event that tells a state; 0: no event */
    bool switches, wakings, records, stacks, futexes, away; /* the recording has them (struct sched_sources) */
    bool wide;                                              /* of all threads of a cpu */
    uint64_t samples;                                       /* that have a number */
};

/* From the reader's first record, which is rewound; a stream must have been spooled. Without anything that tells states
   nothing is called. Errors: memory, limit, those of `each`, as pfr_next. */
pfr_status sched_walk(struct sched_walk *walk, pfr_reader *reader, struct memory *memory, pfr_error *err);

#endif
