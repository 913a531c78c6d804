/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_RECORD_KEY_H
#define PFR_MODEL_RECORD_KEY_H
/* The key of a record: time, then offset. A record with a smaller key happened earlier; at equal times, the record with
   the smaller offset did. If the first event has no times, all times are 0, so only the order in the file counts. */
#include <perfray/record.h>

struct record_key {
    uint64_t time;   /* 0: before all records that have a time */
    uint64_t offset; /* part << 48 | offset of the record, or of the COMPRESSED record that contains it */
    uint64_t inner;  /* offset in the decompressed output */
};

#define KEY_FIRST ((struct record_key){0, 0, 0})
#define KEY_LAST ((struct record_key){UINT64_MAX, UINT64_MAX, UINT64_MAX})

/* Time in the key of a sample that has no time: such a sample sees the final state. */
#define KEY_TIME_AFTER_ALL (UINT64_MAX - 1)

static inline struct record_key key_of(const pfr_record *rec, uint64_t time) {
    const struct record_key k = {time == UINT64_MAX ? 0 : time, (uint64_t)rec->part << 48 | rec->offset, rec->inner};
    return k;
}

static inline bool key_before(const struct record_key *a, const struct record_key *b) {
    if (a->time != b->time)
        return a->time < b->time;
    if (a->offset != b->offset)
        return a->offset < b->offset;
    return a->inner < b->inner;
}

#endif
