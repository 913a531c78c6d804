/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_SCHED_WALK_H
#define PFR_MODEL_SCHED_WALK_H
/*
 * States of the threads of a whole recording, in one pass over its records. Intervals come in the order of their ends.
 *
 *     struct sched_walk walk = {.each = take, .context = ...};
 *     sched_walk(&walk, reader, memory, &err);
 *
 * Memory depends on the number of threads and on the size of one round of the recorder, not on the number of switches.
 * If a record came after its round, the walk calls `restart` and begins again with all events in memory.
 */
#include "model/profile/result/profile_request.h"
#include "model/sched/thread_states.h"

struct sched_walk {
    pfr_status (*each)(void *context, const struct thread_interval *interval, pfr_error *err);
    void (*restart)(void *context);                     /* discard all intervals received so far */
    void (*hole)(void *context, const pfr_error *hole); /* may be NULL */
    /* Sets event->sample, the number by which intervals refer to the sample. NULL: numbers of the model. */
    pfr_status (*sample)(void *context, const pfr_record *rec, struct sched_event *event, pfr_error *err);
    /* Receives each record that is not a sample, each sample with a cgroup, and each hole (with rec NULL). After
     * `restart` it receives all of them again. May be NULL. */
    pfr_status (*other)(void *context, const pfr_record *rec, const pfr_error *hole, pfr_error *err);
    /* The stack of each of the model's samples, by number. If set, event->sample is the stack of
     * the sample, plus 1, so that stacks are looked up in the order of samples, not when intervals
     * end. NULL: event->sample is the sample's number. */
    const uint32_t *stacks_of;
    uint64_t nr_stacks;
    void *context;
    /* Set by sched_walk: */
    struct sched_counts counts;
    uint64_t begin, end; /* times of the first and the last event that shows a state; 0: no event */
    bool switches, wakings, records, stacks, futexes, away, sampled; /* the recording has these (as in sched_sources) */
    bool wide;                                                       /* all threads of a CPU were recorded */
    uint64_t samples;                                                /* number of samples counted */
};

/* Rewinds the reader and walks from its first record; a stream must have been spooled. If the recording has no
   scheduler events, no function is called. Errors: memory, limit, those of `each`, or of pfr_next. */
pfr_status sched_walk(struct sched_walk *walk, pfr_reader *reader, struct memory *memory, pfr_error *err);

/*
 * The same as part of another pass, which passes on all counted samples and all other records in file order. `restart`,
 * `sample`, `other` and `hole` are not called, and intervals have no cgroup.
 */
struct sched_walking;
/* false: samples are counted in another order, so another pass is needed. */
bool sched_walk_can_share(const pfr_reader *reader);
pfr_status sched_walk_begin(struct sched_walking **walking, struct sched_walk *walk, pfr_reader *reader,
                            struct memory *memory, pfr_error *err);
/* number: event->sample of the sample. */
pfr_status sched_walk_sample(struct sched_walking *w, const struct profile_row *row, uint32_t number, pfr_error *err);
pfr_status sched_walk_record(struct sched_walking *w, const pfr_record *rec, pfr_error *err);
/* Frees `w`. *complete false: it needs another pass, or more memory; discard all intervals and call sched_walk. */
pfr_status sched_walk_end(struct sched_walking *w, bool *complete, pfr_error *err);

#endif
