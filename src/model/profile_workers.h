/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_WORKERS_H
#define PFR_MODEL_PROFILE_WORKERS_H
/*
 * Samples counted by several threads: the recording is cut into slices where the pass over its state met samples, and
 * each worker takes the next slice until there is none. A worker has a reader and a counter of its own; nothing is
 * shared but what is not changed.
 *
 * One worker on the whole reader does it where slices cannot be: a stream, COMPRESSED records, damage.
 */
#include "file/slice.h"
#include "model/profile_parts.h"

#include <pthread.h>

struct planned_slice {
    struct slice slice;
    uint32_t worker; /* who took it */
};

struct worker {
    struct workers *all;
    struct counter counter;
    pfr_reader *reader; /* of slices; NULL: the whole one is used */
    struct memory own;  /* of a counter on the whole reader */
    pthread_t thread;
    bool runs;
    pfr_status status;
    pfr_error err;
};

struct workers {
    struct profile *profile;
    struct pick_places *places;
    struct planned_slice *slices;
    size_t nr_slices, slices_room;
    uint32_t next;      /* slice that nobody took; atomic */
    bool whole;         /* slices cannot be */
    pfr_status planned; /* < 0: there was no memory for the plan, as `err` says */
    pfr_error err;
    struct worker *at;
    uint32_t count, room;
    uint64_t reserved; /* bytes of the profile's memory that the workers may take */
};

void workers_init(struct workers *w, struct profile *p);
void workers_free(struct workers *w);

/* Plans slices while the state is read. */
struct state_watch workers_watch(struct workers *w);

/* Counts all samples. */
pfr_status workers_count(struct workers *w, struct pick_places *places, pfr_error *err);
/* Gives each sample of an unsure entry to `sample`, one after the other. */
pfr_status workers_run_unsure(struct workers *w, unsure_fn *sample, void *context, pfr_error *err);

#endif
