/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_SAMPLE_WAITS_H
#define PFR_MODEL_SAMPLE_WAITS_H
/*
 * The event offcpu-time: samples taken where a thread left its cpu, weighted by the time until it ran again. While
 * reader->waits is set, profile_load counts these instead of all samples, and profile_event gives the events that have
 * them another name and unit. model/sched/wait_event.c makes the table from thread states.
 */
#include "base/memory/memory.h"

#include <perfray/reader.h>

#define OFFCPU_TIME "offcpu-time"

/* A sample, and how long its thread did not run then. */
struct sample_wait {
    uint64_t place, inner, ns; /* place, inner: offset and inner of its record_key */
};

/* One life of a tid: its waits without a sample. */
struct life_waits {
    uint64_t time, ns; /* time: when it was met first */
    uint32_t tid;
    bool is_met;
};

struct sample_waits {
    struct memory *memory;
    struct sample_wait *at; /* in the order of places */
    size_t count, room;
    struct life_waits *lives; /* by life */
    size_t nr_lives, lives_room;
    uint64_t begin, end; /* of the time that states are known for */
    uint32_t event;      /* waits without a sample are of this one */
    pfr_event *shown;    /* by event; name NULL: it has no such samples */
    uint32_t nr_events;
};

void sample_waits_free(struct sample_waits *waits); /* NULL is fine */

/* Weight of the sample; 0: it is not one where a thread left its cpu for a known time. *hint: where to look first, any
   number; samples that follow each other are found at once. Thread-safe. */
uint64_t sample_waits_find(const struct sample_waits *waits, uint64_t place, uint64_t inner, size_t *hint);

#endif
