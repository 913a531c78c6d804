/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_STATE_QUEUE_H
#define PFR_MODEL_STATE_QUEUE_H
/*
 * Sorts state changes. Changes arrive in file order and are applied in key order; only times make these orders differ.
 * Recorders write in rounds, and after each round no record is older than a limit that the round implies
 * (file/read/header_walk.h). Changes up to the limit are then applied, so only a few have to be kept. If a change older
 * than the limit arrives nevertheless, the queue becomes void: the state must be rebuilt with a queue that keeps all
 * changes until the end. The queue also becomes void if an attr in the middle of a stream changes whether keys have
 * times. When the stream is read again, its events are known from the start.
 */
#include "model/state/state_change.h"

struct radix_item;

struct state_queue {
    struct state *state;
    struct state_change *at;
    struct radix_item *items; /* sort items, two per change */
    size_t count, room, items_room;
    size_t kept;      /* number of changes left over by the last round */
    uint64_t applied; /* all changes up to this time have been applied */
    bool keeps_all;   /* keep all changes until queue_end */
    bool is_void;
    bool has_any, timed; /* whether a change has arrived, and whether keys had times at that moment */
};

void queue_init(struct state_queue *q, struct state *state, bool keeps_all);
void queue_free(struct state_queue *q);
/* Ignores changes if the queue is void. */
pfr_status queue_put(struct state_queue *q, const struct state_change *change, pfr_error *err);
/* End of a round: later records are not older than `limit`. */
pfr_status queue_round(struct state_queue *q, uint64_t limit, pfr_error *err);
/* The same; the changes up to `limit` are applied even if there are only a few. */
pfr_status queue_apply(struct state_queue *q, uint64_t limit, pfr_error *err);
/* Applies all remaining changes, unless the queue is void. */
pfr_status queue_end(struct state_queue *q, pfr_error *err);

#endif
