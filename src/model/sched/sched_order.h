/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_SCHED_ORDER_H
#define PFR_MODEL_SCHED_ORDER_H
/*
 * Scheduler events in order of time, and in file order at equal times. Events are kept until FINISHED_ROUND records
 * state that no earlier event can follow. Without such records, all events are kept until the end; if they are many,
 * they are packed.
 */
#include "file/read/header_walk.h"
#include "model/sched/sched_pack.h"

struct radix_item;

/* An event that waits, in 28 bytes instead of 40. The few events with a value, or with another tid in the sample than
   in the raw bytes, take two slots. */
union waiting_slot {
    struct {
        uint32_t time_low, time_high, sample, tid, other, cpu;
        uint8_t kind, flags, left, is_wide; /* is_wide: `more` is in the next slot */
    } event;
    struct {
        uint32_t value_low, value_high, own;
    } more;
};

/* Waiting events in order of time. */
struct waiting_run {
    size_t at;     /* slot of the first one */
    uint64_t last; /* time of the last one */
};
#define SCHED_RUNS 8u

struct sched_order {
    struct memory *memory;
    union waiting_slot *waiting;    /* in file order */
    struct radix_item *items;       /* when events are sorted: two for each slot in use */
    size_t count, room, items_room; /* slots */
    size_t pack_at;                 /* number of slots at which events are packed */
    struct sched_packed packed;     /* earlier events than those of `waiting` in the file */
    struct rounds rounds;
    uint64_t last;  /* time of the last waiting event */
    uint64_t given; /* time of the last event passed on */
    struct waiting_run runs[SCHED_RUNS];
    size_t nr_runs; /* if there are more than SCHED_RUNS, only these are in `runs` */
    bool whole;     /* ignore rounds: keep all events until the end */
    bool late;      /* an event came after a later one had been passed on: everything must begin again, with `whole` */
    pfr_status (*take)(void *context, const struct sched_event *event, pfr_error *err);
    void *context;
};

void sched_order_init(struct sched_order *o, struct memory *memory, bool whole);
void sched_order_free(struct sched_order *o);
/* Errors: memory, limit. */
pfr_status sched_order_put(struct sched_order *o, const struct sched_event *event, pfr_error *err);
/* Call it when a round ended. Errors: memory, limit, those of `take`. */
pfr_status sched_order_round(struct sched_order *o, pfr_error *err);
/* Passes on all remaining events. */
pfr_status sched_order_end(struct sched_order *o, pfr_error *err);

#endif
