/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_SCHED_PACK_H
#define PFR_MODEL_SCHED_PACK_H
/*
 * Scheduler events that wait, in about 10 bytes each. They come in batches of runs in order of time. An event is stored
 * as the difference from the one before it in its run, so that each run can be read from its start.
 */
#include "base/memory/fail.h"
#include "model/sched/sched_event.h"

struct packed_run {
    struct sched_event event; /* the first one that waits */
    size_t at, end;           /* bytes of the others, in their block */
    uint32_t block;
};

/* The bytes of a batch. */
struct packed_block {
    uint8_t *bytes; /* NULL: no run needs them any more */
    size_t length, runs;
};

struct sched_packed {
    struct memory *memory;
    struct packed_run *runs; /* in file order */
    struct packed_block *blocks;
    size_t nr_runs, runs_room, nr_blocks, blocks_room;
    uint8_t *batch; /* bytes of the batch that is being packed */
    size_t length, batch_room, batch_runs;
    struct sched_event last; /* of the batch */
};

void sched_packed_init(struct sched_packed *p, struct memory *memory);
void sched_packed_free(struct sched_packed *p);

/* Adds an event to the batch. Errors: memory, limit. */
pfr_status sched_pack(struct sched_packed *p, const struct sched_event *event, pfr_error *err);
pfr_status sched_pack_end_batch(struct sched_packed *p, pfr_error *err);

/* Passes on all events up to the time `until`, in order of time, and in file order at equal times. *given: time of the
   last one. Errors: memory, limit, those of `take`. */
pfr_status sched_packed_give(struct sched_packed *p, uint64_t until,
                             pfr_status (*take)(void *context, const struct sched_event *event, pfr_error *err),
                             void *context, uint64_t *given, pfr_error *err);

/* A value or another tid in the sample than in the raw bytes; few events have these. `own` only matters if it is known
   and not `tid`. */
static inline bool sched_event_is_wide(const struct sched_event *e) {
    return e->value || (e->own && e->own != e->tid);
}

#endif
