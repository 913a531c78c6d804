/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_CLOCK_H
#define PFR_FILE_XRAY_CLOCK_H
/*
 * Times of a trace. Records have ticks of the recorder's clock. Each buffer of the flight recorder begins with a clock
 * pair: CLOCK_MONOTONIC (WallClockTime) and ticks (NewCPUId). The time of a record is
 *
 *    ticks * 10^9 / frequency + offset        ns
 *
 * The offset is the same for the whole trace: the smallest of all its pairs. A recorder reads the ticks of a pair first
 * and CLOCK_MONOTONIC afterwards, so a delay between the two makes the offset of the pair larger, never smaller. If
 * pairs put the first ticks of the trace before time 0, they contradict each other and are not used.
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
    bool has_pair;      /* false: offset is 0 */
    bool learned;       /* the whole trace was searched for pairs */
};

/* The clock as known from the records read so far; for perf.data only the frequency is set. */
struct xray_clock xray_clock_of(const pfr_reader *r);

/* Reads the whole trace once for its clock pairs, then rewinds it. Faults are not reported here, but when the trace is
   read again. PFR_ERR_USAGE: a stream that was opened without the option `spool`. */
pfr_status xray_clock_learn(pfr_reader *r, pfr_error *err);

/* Whole nanoseconds, clamped to 0 and 2^64 - 1; the ticks themselves if the frequency is 0. */
uint64_t xray_clock_ns(const struct xray_clock *clock, uint64_t tsc);

/* Name of the clock: "monotonic"; "tsc": ticks / frequency, because there is no pair; "ticks". Static. */
const char *xray_clock_name(const struct xray_clock *clock);

/* Adds a clock pair of this trace: ticks, and ns of CLOCK_MONOTONIC; 0 ns: only the ticks are known. */
void xray_clock_add(struct xray_clock *clock, uint64_t tsc, uint64_t monotonic);

#endif
