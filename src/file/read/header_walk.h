/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_HEADER_WALK_H
#define PFR_FILE_HEADER_WALK_H
/* Counting without looking: a walk over record headers alone. */
#include <perfray/reader.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Who is late. When a round ends, no record of it is older than the latest one of the round before; whoever sorts by
 * time gives all of those then. A record that comes later with a smaller time is late.
 */
struct rounds {
    uint64_t latest;      /* time of the latest record so far */
    uint64_t next, limit; /* what was the latest when the last round ended, and when the one before did */
    uint64_t late;        /* records that were */
};

/* 0 and 2^64-1 are no times. */
static inline void rounds_note(struct rounds *r, uint64_t time) {
    if (time - 1 >= UINT64_MAX - 1)
        return;
    r->late += time < r->limit;
    if (time > r->latest)
        r->latest = time;
}

static inline void rounds_end(struct rounds *r) {
    r->limit = r->next;
    r->next = r->latest;
}

/*
 * Steps over the samples of `event` that come next, as far as they lie in the input's window and nothing else is
 * between them; returns how many, which may be 0. They count in the quality as if pfr_next had given them. Their times
 * are noted in `rounds`, which may be NULL.
 */
uint64_t walk_samples(pfr_reader *reader, int32_t event, struct rounds *rounds);

/* The same for at most `most` of them, whose bytes are put into `at`; they live until the next call on the reader. The
   first stands at offset *from of the part. A reader of a slice also steps over the kernel's other records. */
uint32_t walk_collect(pfr_reader *reader, int32_t event, const uint8_t **at, uint32_t most, uint64_t *from);

/* The samples that walk_samples would step over. */
struct sample_run {
    const uint8_t *bytes; /* of whole words; they live as those of a record */
    uint64_t length, count;
    uint32_t time_at; /* where each has its time; 0: nowhere */
};

/* They are left where they are; false: there are none. `timed`: only as many as have a time, neither 0 nor none. */
bool walk_run(const pfr_reader *reader, int32_t event, bool timed, struct sample_run *run);
/* Steps over the first `count` of them, of `length` bytes, as walk_samples does. */
void walk_past(pfr_reader *reader, uint64_t length, uint64_t count);

/* Steps over the kernel's records other than samples that come next in the window; for a walk after one that looked at
   them. Returns how many. */
uint64_t walk_others(pfr_reader *reader, int32_t event);

#endif
