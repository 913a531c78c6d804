/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_WORKERS_H
#define PFR_MODEL_PROFILE_WORKERS_H
/*
 * Samples counted by several threads: the recording is cut into slices where the pass over its state met samples, and
 * each lane takes the next slice until there is none. A lane has a reader and a counter of its own, with a tree of its
 * own; shared are the state, which is not changed, and names.
 *
 * Unless the wish says how many, there is one for each cpu, and no more than one for each 0.2 s that one alone would
 * likely count, by the number of samples: what takes less is done by one at a lower price.
 *
 * One lane goes by slices, too: it steps over records of state, which were all read. Where slices cannot be (a stream,
 * COMPRESSED records, damage) it goes on the whole reader.
 */
#include "file/read/slice.h"
#include "model/profile/count/profile_parts.h"

#include <pthread.h>

struct profile_worker {
    struct profile_workers *all;
    struct sample_counter counter;
    pfr_reader *reader; /* of slices; NULL: the whole one is used */
    struct memory own;  /* a share of the lanes' */
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
    uint32_t next;      /* slice that nobody took; atomic */
    bool whole;         /* slices cannot be */
    pfr_status planned; /* < 0: there was no memory for the plan, as `err` says */
    pfr_error err;
    struct profile_worker *at;
    uint32_t count, room;
    struct memory memory; /* a share of the profile's: so much is left for what comes after */
    struct common common; /* of all lanes, where there are several and stacks are nodes */
    bool has_common;
};

void workers_init(struct profile_workers *w, struct profile *p);
void workers_free(struct profile_workers *w);

/* Plans slices while the state is read. */
struct state_watch workers_watch(struct profile_workers *w);

/* What there is to count, by which it is known how many lanes that is worth. */
struct workers_size {
    uint64_t samples;
    size_t slices;
    uint32_t cpus, asked;                      /* asked 0: as many as pay */
    bool chains, nodes, made, branches, plain; /* nodes: chains become nodes; made: of more than what was recorded as
                                                  such; plain: of a sample its thread and address alone count */
};
/* At least one. */
uint32_t workers_wanted(const struct workers_size *size);

/* Counts all samples; what they weigh is in the first lane then, the rest of what was counted in each. */
pfr_status workers_count(struct profile_workers *w, struct pick_places *places, pfr_error *err);

#endif
