/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_EXEC_IMAGES_H
#define PFR_MODEL_EXEC_IMAGES_H
/* The images that an exec replaced. They remain valid until the thread is seen in user mode. */
#include "file/read/header_walk.h"
#include "model/state/state.h"

/* A sample in user mode, or several of one thread without any record between them, in order of time. */
struct user_sample {
    struct record_key key; /* of the first one */
    uint64_t last;         /* time of the last one */
    uint32_t pid, tid;
};

/* Samples in user mode, collected while the state is built; looked up when the state at their time is known. */
struct user_samples {
    struct state *state;
    pfr_reader *reader;
    struct user_sample *at; /* the samples that wait */
    size_t count, room;
    size_t nr_met;   /* number of images in spaces.left whose first sample is known */
    bool is_started; /* whether the first sample was seen; only then are the events known */
    bool is_on;      /* false: the recording needs no samples, or another pass */
    bool is_built;   /* whether the state is complete */
    bool is_short;   /* not even the first samples could be kept for lack of memory */
};

void user_samples_init(struct user_samples *u, struct state *state, pfr_reader *reader);
void user_samples_free(struct user_samples *u);
/* Takes a sample and those that follow it in the read buffer, and notes the times of the latter. false: nothing was
   taken. */
bool user_samples_take(struct user_samples *u, const pfr_record *sample, struct rounds *rounds);
/* Whether so many samples wait that the state should be brought up to date for them. */
bool user_samples_are_many(const struct user_samples *u);
/* Looks up the samples before this time. All state changes before it have been applied. */
void user_samples_settle(struct user_samples *u, uint64_t before);
/* All state changes have been applied, and late records counted. Error: memory. */
pfr_status user_samples_end(struct user_samples *u, pfr_error *err);

/* Call it when the state is built: determines until when each replaced image applies, if that is not known already.
   Reads the recording once more if the result depends on it. */
pfr_status left_images_settle(struct state *state, pfr_reader *reader, pfr_error *err);
/* Does the same in a state that is learnt while records are read. Call it for each sample before the sample is
   resolved. */
void left_images_hear(struct state *state, const pfr_record *rec, struct record_key key);

#endif
