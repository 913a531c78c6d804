/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TIMELINE_H
#define PFR_MODEL_TIMELINE_H
/*
 * Records in the order of time, and the state that each of them sees.
 *
 *     struct timeline *t;
 *     timeline_open(&t, reader, memory, &err);
 *     while ((st = timeline_next(t, &rec, &key, &err)) >= 0 && st != PFR_END)
 *         if (st == PFR_OK)
 *             state_place(timeline_state(t), &rec, pid, tid, address, key, &place);
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
#include "model/state.h"

struct timeline;

/* < 0: *err, and *t is NULL. The reader stays the caller's; nobody else may read from it meanwhile. */
pfr_status timeline_open(struct timeline **t, pfr_reader *reader, struct memory *memory, pfr_error *err);
void timeline_close(struct timeline *t); /* NULL is fine */

/* OK: *rec, whose bytes live until the next call, and its key. HOLE: *err, call again. END. < 0: *err. */
pfr_status timeline_next(struct timeline *t, pfr_record *rec, struct key *key, pfr_error *err);

/* How many bytes of records may wait in memory for earlier ones; before the first timeline_next. */
#define TIMELINE_WAIT_MOST ((uint64_t)64 << 20)
void timeline_wait_most(struct timeline *t, uint64_t bytes);

struct state *timeline_state(struct timeline *t);

/* Records that came after a later one had been given: they are given where they are met. */
uint64_t timeline_late(const struct timeline *t);

#endif
