/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_SAMPLE_WAITS_H
#define PFR_MODEL_SAMPLE_WAITS_H
/*
 * The event offcpu-time: samples that were taken where a thread left its CPU, weighted by the time until it ran again.
 * While reader->waits is set, profile_load counts only these samples, and profile_event returns another name and unit
 * for their events. model/sched/wait_event.c makes the table from thread states.
 */
#include "base/memory/memory.h"

#include <perfray/reader.h>

#define OFFCPU_TIME "offcpu-time"

/* A sample, and the time for which its thread did not run after it. */
struct sample_wait {
    uint64_t place, inner, ns; /* place, inner: offset and inner of its record_key */
};

/* One life of a tid: the waits in it that have no sample. */
struct life_waits {
    uint64_t time, ns; /* time: that of its first event; ns: sum of its waits without a sample */
    uint32_t tid;
    bool is_met;
};

struct sample_waits {
    struct memory *memory;
    struct sample_wait *at; /* sorted by place */
    size_t count, room;
    struct life_waits *lives; /* by life */
    size_t nr_lives, lives_room;
    uint64_t begin, end; /* the time range in which states are known */
    uint32_t event;      /* the event of waits without a sample */
    pfr_event *shown;    /* by event: the event as offcpu-time; name NULL: the event has no such samples */
    uint32_t nr_events;
};

void sample_waits_free(struct sample_waits *waits); /* NULL is allowed */

/* Weight of the sample; 0: it is not a sample where a thread left its CPU for a known time. *hint is the index to try
   first, and may be any number; it makes lookups of consecutive samples fast. Thread-safe. */
uint64_t sample_waits_find(const struct sample_waits *waits, uint64_t place, uint64_t inner, size_t *hint);

#endif
