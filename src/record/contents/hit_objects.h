/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_HIT_OBJECTS_H
#define PFR_RECORD_HIT_OBJECTS_H
/*
 * Which objects the samples of a recording hit. The state is built before; then each sample's address is looked up in
 * it, or rather the page's, as seen from the end of the recording: what is found there holds for all samples that came
 * later than it did, and only older ones are looked up alone.
 */
#include "model/state/state.h"

#define HIT_PAGES 2048u

struct hit_page {
    uint64_t page; /* the address itself in the kernel, whose objects begin anywhere */
    uint32_t pid, tid, object;
    uint16_t mode;
    bool used;
    struct record_key from; /* holds for what has a greater key */
};

struct hit_walk {
    const struct state *state;
    pfr_reader *reader;
    bool *hit; /* by object */
    size_t objects;
    void (*meanwhile)(void *context, const pfr_record *rec); /* called at times; NULL: not */
    void *context;
    uint64_t samples, first, last; /* how many; times of the first and the last, 0: none has one */
    struct hit_page pages[HIT_PAGES];
};

/* From where the reader is to the end, or until *stops is 2. The rest of *walk is filled before. */
pfr_status hit_walk_run(struct hit_walk *walk, const volatile int *stops, pfr_error *err);

#endif
