/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_TALLY_H
#define PFR_MODEL_PROFILE_TALLY_H
/*
 * Calls added up by one lane: by path, for one group of threads at a time. When another group comes, or the lane ends,
 * what was added up becomes entries of (group, path). What memory has no room for is counted as that.
 */
#include "base/tables/intern.h"
#include "file/xray/xray_clock.h"
#include "model/calls/calls.h"
#include "model/profile/result/profile.h"

struct tally_entry {
    uint64_t ticks, count; /* ticks: of themselves, modulo 2^64 */
    uint32_t group, path;
};

struct tally_sum {
    uint64_t ticks;
    uint64_t count; /* and 1; 0: there is none */
};

/* What a lane has added up. */
struct tally {
    const struct profile_request *request;
    struct trace_clock clock;
    struct memory memory;   /* a share of the profile's */
    struct tally_sum *sums; /* by path, of the group at hand */
    uint32_t *touched;      /* paths that have a sum */
    size_t room, nr_touched;
    struct intern_table groups; /* values of the keys, COMM as the tid, -> number */
    uint32_t group;             /* at hand */
    uint64_t values[PROFILE_KEYS];
    struct profile_sample who; /* of the thread at hand */
    struct tally_entry *entries;
    size_t nr_entries, entries_room;
    uint64_t left_out, no_room; /* calls */
    uint64_t no_room_ticks;
};

void tally_init(struct tally *t, const struct profile_request *request, const struct trace_clock *clock,
                struct memory *memory);
void tally_free(struct tally *t);
/* Whether calls may count or not, or in one group or another, by their time: they come singly. */
bool tally_needs_each(const struct profile_request *request);
/* Whether it matters whose calls they are. */
bool tally_needs_threads(const struct profile_request *request);
/* What follows is of this thread. */
pfr_status tally_thread(struct tally *t, const struct calls_thread *thread, pfr_error *err);
/* As the sink of calls_read is given them; `paths`: how many there are. */
pfr_status tally_calls(struct tally *t, uint32_t paths, const struct call *calls, size_t count, pfr_error *err);
pfr_status tally_sum(struct tally *t, uint32_t paths, const struct call_sum *sum, pfr_error *err);
/* What was added up for the group at hand becomes entries. */
pfr_status tally_settle(struct tally *t, pfr_error *err);

#endif
