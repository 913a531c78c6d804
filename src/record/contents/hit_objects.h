/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_HIT_OBJECTS_H
#define PFR_RECORD_HIT_OBJECTS_H
/*
 * Finds which objects the samples of a recording hit. The state must be complete. Most lookups are answered by a cache
 * of pages, filled with the state at the end of the recording. An entry is valid for all samples after the key at which
 * the mapping began; older samples are looked up at their own key.
 */
#include "model/state/state.h"

#define HIT_PAGES 2048u

struct hit_page {
    uint64_t page; /* page number; in the kernel, whose objects may begin anywhere, the address itself */
    uint32_t pid, tid, object;
    uint16_t mode;
    bool used;
    struct record_key from; /* valid for samples with a greater key */
};

struct hit_walk {
    const struct state *state;
    pfr_reader *reader;
    bool *hit; /* index: object */
    size_t objects;
    void (*meanwhile)(void *context, const pfr_record *rec); /* called from time to time; may be NULL */
    void *context;
    uint64_t samples, first, last; /* number of samples; times of the first and last; 0: no sample has a time */
    struct hit_page pages[HIT_PAGES];
};

/* Reads from the reader's position to the end, or until *stops is 2. The caller sets the members of *walk first. */
pfr_status hit_walk_run(struct hit_walk *walk, const volatile int *stops, pfr_error *err);

#endif
