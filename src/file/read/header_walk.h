/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_HEADER_WALK_H
#define PFR_FILE_HEADER_WALK_H
/* Counts and collects samples by their headers, without decoding them. */
#include <perfray/reader.h>
#include <stdbool.h>
#include <stddef.h>

/* Counts records that come too late for sorting by time. Sorting works in rounds: at the end of a round it emits all
   records up to the latest time of the round before. A record that comes after that and has an earlier time is late. */
struct rounds {
    uint64_t latest;      /* time of the latest record so far */
    uint64_t next, limit; /* value of `latest` at the end of the last round, and of the round before it */
    uint64_t late;        /* number of late records */
};

/* The times 0 and 2^64-1 are ignored: they are not valid. */
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
 * Skips the next samples of `event`, as far as they are in the read buffer and follow each other directly. Returns the
 * number of skipped samples, which may be 0. The quality counts these samples as if pfr_next had returned them. Their
 * times are noted in `rounds`, which may be NULL.
 */
uint64_t walk_samples(pfr_reader *reader, int32_t event, struct rounds *rounds);

/* Like walk_samples, but takes at most `most` samples and stores their addresses in `at`, valid until the next call on
   the reader. *from is the offset of the first one in the part. A reader of slices also skips other kernel records. */
uint32_t walk_collect(pfr_reader *reader, int32_t event, const uint8_t **at, uint32_t most, uint64_t *from);

/* The samples that walk_samples would skip. */
struct sample_run {
    const uint8_t *bytes; /* multiple of 8 bytes; valid as long as the bytes of a record */
    uint64_t length, count;
    uint32_t time_at; /* offset of the time in each sample; 0: not at a fixed place */
};

/* Finds the samples that walk_samples would skip, at most `most`, but does not skip them; false: there are no such
   samples. `timed`: the run ends before the first sample without a valid time. */
bool walk_run(const pfr_reader *reader, int32_t event, bool timed, uint64_t most, struct sample_run *run);
/* Skips the first `count` samples of the run, `length` bytes in total, as walk_samples does. */
void walk_past(pfr_reader *reader, uint64_t length, uint64_t count);

/* Skips the next records in the read buffer as long as they are kernel records other than samples. Returns the number
   of skipped records. Use it only in a later pass: an earlier pass must have handled these records. */
uint64_t walk_others(pfr_reader *reader, int32_t event);

#endif
