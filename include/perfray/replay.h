/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_REPLAY_H
#define PERFRAY_REPLAY_H
/*
 * pfr_replay - print the calls of an XRay trace as an indented tree, thread by thread, in the order of their entries.
 *
 *     # DURATION       TID | FUNCTION
 *                 [  8875] | outer() {
 *        1.310 us [  8875] |   fib(); x20
 *       42.954 us [  8875] | } // outer
 *
 * A call without callees is one line. Equal consecutive calls, with equal calls inside them, are shown once with their
 * number, and durations are then sums. An unfinished call has no duration.
 *
 * Memory: allocated from the reader's memory limit; 100 bytes per call of the thread with the most calls.
 *
 * Threads: as pfr_export().
 *
 * Example, the two outer levels:
 *
 *     pfr_replay_options options = {.size = sizeof options, .depth = 2};
 *     pfr_status status = pfr_replay(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/selection.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All pointers must remain valid while pfr_replay() runs. */
typedef struct pfr_replay_options {
    /* sizeof(pfr_replay_options) */
    size_t size;
    /* Calls to show, and callbacks for holes and notes. Only the conditions pids, tids, comms and time are used; `time`
       selects calls by their time of entry. NULL: all calls. */
    const pfr_selection *of;
    /* Show only calls of these functions and what they call: "main,area". NULL: all. */
    const char *functions;
    /* Omit these functions and what they call. NULL: none. */
    const char *without;
    /* Omit calls that are shorter than this, in ns (or ticks). Unless min_duration is 0, unfinished calls are omitted
       as well. */
    uint64_t min_duration;
    /* Levels to show. 0: all. */
    uint32_t depth;
    /* Do not merge equal consecutive calls. */
    bool each;
} pfr_replay_options;

/*
 * pfr_replay - read the trace and print the tree.
 *
 * Returns as pfr_export(); also PFR_ERR_USAGE if the recording is not a trace.
 */
pfr_status pfr_replay(pfr_reader *reader, const pfr_replay_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
