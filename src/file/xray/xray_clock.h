/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_CLOCK_H
#define PFR_FILE_XRAY_CLOCK_H
/*
 * Times of a trace. Records have ticks of the recorder's clock; a buffer of the flight recorder begins with a clock
 * pair, CLOCK_MONOTONIC (WallClockTime) and ticks (NewCPUId). The time of a record is
 *
 *    ticks * 10^9 / frequency + offset        ns
 *
 * with one offset for the whole trace: the smallest of all its pairs. A recorder reads the ticks of a pair first and
 * CLOCK_MONOTONIC afterwards; any delay in between makes the pair's offset larger, never smaller. Pairs that would put
 * the trace's first ticks before time 0 contradict each other, and then no pair is used.
 *
 *    PFR_TRY(xray_clock_learn(reader, err));
 *    const struct xray_clock clock = xray_clock_of(reader);
 *    uint64_t ns = xray_clock_ns(&clock, tsc);
 */
#include <perfray/reader.h>

struct xray_clock {
    uint64_t frequency; /* ticks per second; 0: not recorded, times are ticks */
    int64_t offset;     /* ns; the smallest of all pairs */
    int64_t latest;     /* ns; the greatest of all pairs */
    uint64_t first;     /* the smallest ticks of any NewCPUId or TSCWrap */
    bool has_pair;      /* otherwise offset is 0 */
    bool learned;       /* the whole trace was read for pairs */
};

/* The clock according to the records read so far; only the frequency is set for perf.data. */
struct xray_clock xray_clock_of(const pfr_reader *r);

/* Reads the whole trace for its clock pairs, once, and rewinds it. Faults are not reported: the next reading reports
   them. PFR_ERR_USAGE: a stream without spool. */
pfr_status xray_clock_learn(pfr_reader *r, pfr_error *err);

/* Whole nanoseconds, clamped to 0 and 2^64 - 1; the ticks themselves if the frequency is 0. */
uint64_t xray_clock_ns(const struct xray_clock *clock, uint64_t tsc);

/* Name of the clock: "monotonic"; "tsc": ticks / frequency, because there is no pair; "ticks". Static. */
const char *xray_clock_name(const struct xray_clock *clock);

/* Adds a pair of this trace: ticks, and ns of CLOCK_MONOTONIC; 0: only the ticks are known. */
void xray_clock_add(struct xray_clock *clock, uint64_t tsc, uint64_t monotonic);

#endif
