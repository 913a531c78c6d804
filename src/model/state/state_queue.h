/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_STATE_QUEUE_H
#define PFR_MODEL_STATE_QUEUE_H
/*
 * Changes come in the order of the file and are applied in that of keys, which is the same but for the time. Recorders
 * write in rounds, behind which nothing is older than a limit that they imply (file/read/header_walk.h): what is not
 * behind it is applied then, and a few changes wait instead of all. Where a change comes nevertheless that should have
 * been applied before, what was applied is void, and everything must be put anew into a queue that keeps all until the
 * end. It is void, too, where an attr in the middle of a stream decides anew whether keys have times: read again, the
 * stream's events are known from its begin.
 */
#include "model/state/state_change.h"

struct radix_item;

struct state_queue {
    struct state *state;
    struct state_change *at;
    struct radix_item *items; /* to sort them, twice as many */
    size_t count, room, items_room;
    size_t kept;      /* how many there were when some were applied last */
    uint64_t applied; /* all with a time up to this one */
    bool keeps_all;   /* until queue_end */
    bool is_void;
    bool has_any, timed; /* whether a change came, and whether keys had times then */
};

void queue_init(struct state_queue *q, struct state *state, bool keeps_all);
void queue_free(struct state_queue *q);
/* Of one that is void nothing is kept. */
pfr_status queue_put(struct state_queue *q, const struct state_change *change, pfr_error *err);
/* A round ended: nothing comes that is older than `limit`. */
pfr_status queue_round(struct state_queue *q, uint64_t limit, pfr_error *err);
/* Applies all that are left, unless it is void. */
pfr_status queue_end(struct state_queue *q, pfr_error *err);

#endif
