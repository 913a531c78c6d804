/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_QUERY_RANGES_H
#define PFR_QUERY_RANGES_H
/*
 * Stretches of time as people write them:
 *
 *     12.5,13  12.5,  ,13  12.5-13      seconds of the samples' clock; several with blanks between
 *     10%-20%,40%-50%  10%/2,10%/4  10% of the time from the first to the last sample
 *     5s-10s,1m-  300ms-                since the first sample, with a unit: ns us ms s m h d
 *     2026-11-22 09:00:01,09:00:05      the wall clock, here or (with Z, +01:00) elsewhere; the day may be left out
 *
 * An end that is left out is open. Ends are inclusive.
 */
#include "base/memory/memory.h"

#include <perfray/reader.h>

struct value_range {
    uint64_t first, last; /* inclusive; first above last: nothing */
};

struct ranges {
    struct value_range *at;
    size_t count, room;
    bool any; /* nothing was asked for */
};

/* What of the recording some forms need. */
struct times_known {
    bool bounded;         /* when its samples begin and end: */
    uint64_t first, last; /* in ns */
    bool walled;          /* what the wall's clock showed: */
    uint64_t ahead;       /* ns since 1970 less ns of the samples' clock */
    uint64_t day;         /* some moment of the day that is meant when none is named, ns since 1970 */
};

/* Appends to list, whose memory is the caller's also after an error. *since_start: times count from the first sample.
 * USAGE: no such form, or the recording does not hold what it needs. */
pfr_status times_read(struct memory *memory, const char *text, const struct times_known *known, struct ranges *list,
                      bool *since_start, pfr_error *err);

/* What the recording says of itself: when its samples begin and end, and the wall's clock. */
void times_learn(pfr_reader *reader, struct times_known *known);

/* "0,2-3", as numbers of cpus and threads are written; text NULL: all. USAGE: no such form; `option` is what it was
 * for. */
pfr_status ranges_read(struct memory *memory, struct ranges *list, const char *option, const char *text,
                       pfr_error *err);
bool ranges_have(const struct ranges *list, uint64_t value);

/* Appends one stretch: numbers of cpus and threads are kept in the same way. */
pfr_status ranges_add(struct memory *memory, struct ranges *list, uint64_t first, uint64_t last, pfr_error *err);

#endif
