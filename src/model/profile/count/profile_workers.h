/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_WORKERS_H
#define PFR_MODEL_PROFILE_WORKERS_H
/*
 * Samples counted by several threads. The pass over the state cuts the recording into slices at samples, and each
 * worker takes the next slice until none is left. A worker has its own reader and counter, usually with its own tree;
 * the state, which does not change, and names are shared.
 *
 * Unless the request sets the number, there is one worker per cpu, but at most one per 0.15 s that a single thread
 * would need, estimated from the number of samples: for a short count, a single thread takes less time.
 *
 * A single worker uses slices, too, because slices skip the state records, which were already handled. Where slices are
 * impossible (a stream, COMPRESSED records, damage), it reads the whole recording.
 */
#include "file/read/slice.h"
#include "model/profile/count/profile_parts.h"

#include <pthread.h>

struct profile_worker {
    struct profile_workers *all;
    struct sample_counter counter;
    pfr_reader *reader; /* reader of slices; NULL: the whole reader is used */
    struct memory own;  /* a share of the workers' memory */
    pthread_t thread;
    bool runs;
    pfr_status status;
    pfr_error err;
};

struct profile_workers {
    struct profile *profile;
    struct pick_places *places;
    struct frames_of frames;
    struct slice *slices;
    size_t nr_slices, slices_room;
    uint32_t next;      /* next slice to take; atomic */
    bool whole;         /* slices are impossible */
    pfr_status planned; /* < 0: no memory for the plan; the error is in `err` */
    pfr_error err;
    struct profile_worker *at;
    uint32_t count, room;
    struct memory memory; /* a share of the profile's, which leaves memory for later steps */
    struct common common; /* shared by all workers, if there are several and stacks are nodes */
    bool has_common;
};

void workers_init(struct profile_workers *w, struct profile *p);
void workers_free(struct profile_workers *w);

/* Callbacks for the pass over the state, which plan the slices. */
struct state_watch workers_watch(struct profile_workers *w);

/* Size of the count, from which the number of workers follows. */
struct workers_size {
    uint64_t samples;
    size_t slices;
    uint32_t cpus, asked;                      /* asked 0: as many as are worthwhile */
    bool chains, nodes, made, branches, plain; /* nodes: chains become nodes; made: chains are built from more than the
                                                  recorded one; plain: only thread and address identify an entry */
};
/* Number of workers, at least 1. */
uint32_t workers_wanted(const struct workers_size *size);

/* Counts all samples. Then the first worker has the weights; other results stay in each worker. */
pfr_status workers_count(struct profile_workers *w, struct pick_places *places, pfr_error *err);

#endif
