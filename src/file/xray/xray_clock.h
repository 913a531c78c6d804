/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_CLOCK_H
#define PFR_FILE_XRAY_CLOCK_H
/*
 * Times of a trace. Records have ticks of the recorder's clock; a buffer of the flight recorder begins with a clock
 * pair, CLOCK_MONOTONIC (WallClockTime) and ticks (NewCPUId). The time of a record is
 *
 *     ticks * 10^9 / frequency + offset        ns
 *
 * with one offset for the whole trace: the least that any of its pairs gives. A recorder reads the ticks of a pair
 * first and CLOCK_MONOTONIC afterwards, and whatever it does in between makes the pair's offset larger, never smaller.
 * Pairs that would put the trace's first ticks before 0 contradict each other: none is used then.
 *
 *     PFR_TRY(trace_clock_learn(reader, err));
 *     const struct trace_clock clock = trace_clock_of(reader);
 *     uint64_t ns = trace_clock_ns(&clock, tsc);
 */
#include <perfray/reader.h>

struct trace_clock {
    uint64_t frequency; /* ticks a second; 0: not recorded, times are ticks */
    int64_t offset;     /* ns; the least of all pairs */
    int64_t latest;     /* the greatest */
    uint64_t first;     /* the least ticks of any NewCPUId or TSCWrap, where there is a pair */
    bool has_pair;      /* else offset is 0 */
    bool learned;       /* the whole trace was read for pairs */
};

/* Of what was read so far; all zero of perf.data. */
struct trace_clock trace_clock_of(const pfr_reader *r);

/* Reads the whole trace for its clock pairs, once, and rewinds it. What is wrong in the trace is not reported: reading
   it again will. PFR_ERR_USAGE: a stream without spool. */
pfr_status trace_clock_learn(pfr_reader *r, pfr_error *err);

/* Whole nanoseconds, cut at 0 and at 2^64 - 1; the ticks themselves where the frequency is 0. */
uint64_t trace_clock_ns(const struct trace_clock *clock, uint64_t tsc);

/* What times are in: "monotonic"; "tsc": ticks / frequency, since there is no pair; "ticks". Static. */
const char *trace_clock_name(const struct trace_clock *clock);

/* A pair of this trace: ticks, and ns of CLOCK_MONOTONIC; 0: not recorded with these ticks. */
void trace_clock_add(struct trace_clock *clock, uint64_t tsc, uint64_t monotonic);

#endif
