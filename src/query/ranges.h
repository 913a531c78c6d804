/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_QUERY_RANGES_H
#define PFR_QUERY_RANGES_H
/*
 * Time ranges in the syntax of --time:
 *
 *     12.5,13  12.5,  ,13  12.5-13      seconds of the samples' clock; several separated by blanks
 *     10%-20%,40%-50%  10%/2,10%/4  10 % of the time from the first to the last sample
 *     5s-10s,1m-  300ms-                since the first sample, with a unit: ns us ms s m h d
 *     2026-11-22 09:00:01,09:00:05      wall clock, local or with Z or +01:00; the date may be omitted
 *
 * An omitted end is open. Ends are inclusive.
 */
#include "base/memory/memory.h"

#include <perfray/reader.h>

struct value_range {
    uint64_t first, last; /* inclusive; empty if first > last */
};

struct ranges {
    struct value_range *at;
    size_t count, room;
    bool any; /* true: there is no list, and any value is accepted */
};

/* Facts about the recording. Some forms of times need them. */
struct times_known {
    bool bounded;         /* `first` and `last` are known */
    uint64_t first, last; /* times of the first and last sample, in ns */
    bool walled;          /* `ahead` and `day` are known */
    uint64_t ahead;       /* by how much the wall clock (ns since 1970) is ahead of the samples' clock */
    uint64_t day;         /* ns since 1970; times without a date are on the day of this time */
};

/*
 * Parses `text` and appends its ranges to `list`, which the caller must free even after an error. *since_start: the
 * times count from the first sample. USAGE: the syntax is wrong, or the recording lacks facts that the form needs.
 */
pfr_status times_read(struct memory *memory, const char *text, const struct times_known *known, struct ranges *list,
                      bool *since_start, pfr_error *err);

/* Reads the facts of the recording: times of its first and last sample, and the wall clock. */
void times_learn(pfr_reader *reader, struct times_known *known);

/* Parses "0,2-3", a list of CPU, process or thread numbers; `text` NULL: accept all. USAGE: syntax error. The message
   names `option`. */
pfr_status ranges_read(struct memory *memory, struct ranges *list, const char *option, const char *text,
                       pfr_error *err);
bool ranges_have(const struct ranges *list, uint64_t value);

/* Appends one range of times, or of numbers of CPUs, processes or threads. */
pfr_status ranges_add(struct memory *memory, struct ranges *list, uint64_t first, uint64_t last, pfr_error *err);

#endif
