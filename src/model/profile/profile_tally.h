/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_TALLY_H
#define PFR_MODEL_PROFILE_TALLY_H
/* Calls summed by one worker, by path, for one group of threads at a time. When the group changes or the worker ends,
   the sums become entries of (group, path). Calls for which there is no memory are counted in no_room. */
#include "base/tables/intern.h"
#include "file/xray/xray_clock.h"
#include "model/calls/calls.h"
#include "model/profile/result/profile.h"

struct tally_entry {
    uint64_t ticks, count; /* ticks: self time, modulo 2^64 */
    uint32_t group, path;
};

struct tally_sum {
    uint64_t ticks;
    uint64_t count; /* number of calls + 1; 0: no sum */
};

/* The sums of a worker. */
struct tally {
    const struct profile_request *request;
    struct xray_clock clock;
    struct memory memory;   /* a share of the profile's memory */
    struct tally_sum *sums; /* by path, for the current group */
    uint32_t *touched;      /* paths that have a sum */
    size_t room, nr_touched;
    struct intern_table groups; /* values of the keys, with the tid for COMM -> number */
    uint32_t group;             /* current group */
    uint64_t values[PROFILE_KEYS];
    struct profile_sample who; /* current thread */
    struct tally_entry *entries;
    size_t nr_entries, entries_room;
    uint64_t left_out, no_room; /* numbers of calls that were not wanted, and for which there was no memory */
    uint64_t no_room_ticks;
};

void tally_init(struct tally *t, const struct profile_request *request, const struct xray_clock *clock,
                struct memory *memory);
void tally_free(struct tally *t);
/* Whether the time of a call decides whether it counts, or in which group. If so, calls must be delivered singly. */
bool tally_needs_each(const struct profile_request *request);
/* Whether the thread of a call matters. */
bool tally_needs_threads(const struct profile_request *request);
/* Sets the current thread. */
pfr_status tally_thread(struct tally *t, const struct calls_thread *thread, pfr_error *err);
/* These functions have the meaning of those of struct calls_sink; `paths`: number of paths. */
pfr_status tally_calls(struct tally *t, uint32_t paths, const struct call *calls, size_t count, pfr_error *err);
pfr_status tally_sum(struct tally *t, uint32_t paths, const struct call_sum *sum, pfr_error *err);
/* Turns the sums of the current group into entries. */
pfr_status tally_settle(struct tally *t, pfr_error *err);

#endif
