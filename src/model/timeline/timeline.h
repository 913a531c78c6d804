/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TIMELINE_H
#define PFR_MODEL_TIMELINE_H
/*
 * Records in order of time, each with the state that applies to it.
 *
 *    struct timeline *t;
 *    timeline_open(&t, reader, memory, &no_jit, &err);
 *    while ((st = timeline_next(t, some, 64, &count, &err)) >= 0 && st != PFR_END)
 *        for (size_t i = 0; i < count; i++)
 *            state_place(timeline_state(t), &some[i].rec, pid, tid, address, some[i].key, &place);
 *    timeline_close(t);
 *
 * A record is returned when no earlier one can arrive: after FINISHED_ROUND, and at the end. If waiting records exceed
 * their memory, they go to a temporary file; but in a stream and in a recording with rounds, the records in the earlier
 * half of the time span of all waiting records are returned. Records of equal time are ordered by offset. Records
 * without a time, and those of the recorder itself (type 64 and up), keep their place in the file, as in perf. Holes
 * are returned when they are met.
 *
 * A seekable recording is read twice: for the state, then for its records. A stream is read once, and its state is
 * learnt while it is read.
 */
#include "model/state/state.h"

struct timeline;

/* < 0: *err, and *t is NULL. The reader still belongs to the caller, but until timeline_close nothing else may read
   from it. */
pfr_status timeline_open(struct timeline **t, pfr_reader *reader, struct memory *memory, const struct jit_request *jit,
                         pfr_error *err);
/* timeline_open for a seekable recording whose state is already built. The caller keeps the state. */
pfr_status timeline_open_known(struct timeline **t, pfr_reader *reader, struct memory *memory, struct state *state,
                               pfr_error *err);
void timeline_close(struct timeline *t); /* NULL is allowed */

struct timed_record {
    pfr_record rec;
    struct record_key key;
};

/*
 * PFR_OK: returns the next *count records, 1 to `room`. Their bytes are valid until the next call. If the state is
 * learnt while records are read, all of them use the state of the first. PFR_HOLE: a hole, described by *err; call
 * again. PFR_END: no more records. < 0: failure, described by *err. *count is 0 unless PFR_OK.
 */
pfr_status timeline_next(struct timeline *t, struct timed_record *to, size_t room, size_t *count, pfr_error *err);

/* Maximum bytes of records that may wait in memory; call it before the first timeline_next. */
void timeline_wait_most(struct timeline *t, uint64_t bytes);

struct state *timeline_state(struct timeline *t);
/* Whether the state is learnt from the records returned, and so changes with them. */
bool timeline_learns(const struct timeline *t);

/* Whether all records are returned in key order and have times. Turns false as soon as that is uncertain, before the
   first record that is out of order. Only valid with a known state. */
bool timeline_keeps_order(const struct timeline *t);

/* Number of records that arrived after a later record was returned. They are returned as soon as they are met. */
uint64_t timeline_late(const struct timeline *t);

#endif
