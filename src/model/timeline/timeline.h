/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TIMELINE_H
#define PFR_MODEL_TIMELINE_H
/*
 * Records in the order of time, and the state that each of them sees.
 *
 *     struct timeline *t;
 *     timeline_open(&t, reader, memory, &no_jit, &err);
 *     while ((st = timeline_next(t, some, 64, &count, &err)) >= 0 && st != PFR_END)
 *         for (size_t i = 0; i < count; i++)
 *             state_place(timeline_state(t), &some[i].rec, pid, tid, address, some[i].key, &place);
 *     timeline_close(t);
 *
 * A record comes when no earlier one can come any more: FINISHED_ROUND says so, and the end. What is too much to wait
 * in memory waits in a temporary file. Equal times go by place in the file. Records without a time, and those that the
 * recorder wrote for itself (type 64 and up), come where they stand in the file, as perf gives them. Holes come where
 * they are met.
 *
 * A seekable recording is read twice: state first, then its records. A stream is read once, and state is learnt as it
 * is read, ahead of what is given.
 */
#include "model/state/state.h"

struct timeline;

/* < 0: *err, and *t is NULL. The reader stays the caller's; nobody else may read from it meanwhile. */
pfr_status timeline_open(struct timeline **t, pfr_reader *reader, struct memory *memory, const struct jit_request *jit,
                         pfr_error *err);
/* The same of a seekable recording whose state is known already, and stays the caller's. */
pfr_status timeline_open_known(struct timeline **t, pfr_reader *reader, struct memory *memory, struct state *state,
                               pfr_error *err);
void timeline_close(struct timeline *t); /* NULL is fine */

/* OK: the next records, *count of them, 1 to `room`, whose bytes live until the next call; where state is learnt as it
 * is read, all of them see that of the first. HOLE: *err, call again. END. < 0: *err. But for OK *count is 0. */
struct timed_record {
    pfr_record rec;
    struct record_key key;
};
pfr_status timeline_next(struct timeline *t, struct timed_record *to, size_t room, size_t *count, pfr_error *err);

/* How many bytes of records may wait in memory for earlier ones; before the first timeline_next. */
void timeline_wait_most(struct timeline *t, uint64_t bytes);

struct state *timeline_state(struct timeline *t);
/* Whether the state is learnt from what is given, and so changes with it. */
bool timeline_learns(const struct timeline *t);

/* Whether all records come in the order of keys that have a time; false as soon as that is not certain, and before the
 * first comes out of order. Only where state is known. */
bool timeline_keeps_order(const struct timeline *t);

/* Records that came after a later one had been given: they are given where they are met. */
uint64_t timeline_late(const struct timeline *t);

#endif
