/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SELECTION_H
#define PERFRAY_SELECTION_H
/*
 * pfr_selection - which samples are counted, and with which weight: the common options of pfr_export() and pfr_flame().
 *
 * A NULL `const pfr_selection *` selects everything, and so does `(pfr_selection){.size = sizeof(pfr_selection)}`.
 * Several conditions are combined: a sample must satisfy all of them.
 *
 * For XRay traces the conditions apply to calls instead of samples.
 *
 * Conditions are applied before anything is counted: excluded samples are not part of any total or percentage.
 *
 * All pointers must remain valid while the function that uses the selection runs. Such a function does not change the
 * selection, so one selection may be used by several threads.
 *
 * An invalid list or time range, an event that does not exist, or a condition on a fact that was not recorded is
 * PFR_ERR_USAGE.
 *
 * Example, two processes on the first four CPUs:
 *
 *     pfr_selection some = {.size = sizeof some, .pids = "1201,1202", .cpus = "0-3"};
 *     pfr_flame_options options = {.size = sizeof options, .of = &some};
 */
#include <perfray/error.h>
#include <perfray/symbol_options.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Conditions and options; a member that is 0 or NULL has its default. */
typedef struct pfr_selection {
    /* sizeof(pfr_selection) */
    size_t size;
    /*
     * Only samples of events with this name, as `perfray info --events` prints it: the recorded name, or the one that
     * perf derives from the attr (pfr_event.name and .rebuilt). NULL: all events.
     *
     * "offcpu-time", if no event was recorded under this name: one sample for each time that a thread left its CPU,
     * weighted by the ns until it ran again (runnable and blocked, as pfr_offcpu_print() counts them). The recording
     * must contain the times at which threads ran. Samples then have this weight by default; with by_count each counts
     * 1. Some waits have no sample at their begin, or began before the recording. They are combined into one sample per
     * thread, without stack and CPU.
     */
    const char *event;
    /* Only samples on these CPUs: "0,2-3". NULL: all. */
    const char *cpus;
    /* Only samples of these processes; only samples of these threads. Numbers and ranges: "12,20-29". NULL: all. */
    const char *pids, *tids;
    /* Only samples of threads with these names, as they were at the time of the sample: "sh,make". NULL: all. */
    const char *comms;
    /* Only samples in this time range; syntax as pfr_script_options.time. NULL: all. */
    const char *time;
    /* Use at most this many entries of a call chain, from the innermost. 0: 127, for XRay 256. Branch stacks used as
       call chains (LBR) are not limited. */
    uint32_t max_stack;
    /* Threads. 0: one. The output is the same for every number. */
    uint32_t jobs;
    /* Options for finding symbols and printing names. NULL: the defaults. */
    const pfr_symbol_options *naming;
    /* The weight of a sample is its period. Default: each sample counts 1. XRay: see by_count. */
    bool by_period;
    /* Called for each unreadable range and for each limit that excluded data (err->where is the name of the limit). The
       error is valid during the call. May be NULL. */
    void (*hole)(void *context, const pfr_error *hole);
    /* Called with one sentence for each fact that users should know but that is not damage. May be NULL. The sentence
       is valid during the call. */
    void (*note)(void *context, const char *sentence);
    /* First argument of `hole` and `note`. */
    void *context;
    /* XRay: each call counts 1. Default: its self time, in ns, or in ticks if the clock frequency is not known. */
    bool by_count;
    /* Extend LBR call chains with frames from the previous sample of the thread. A heuristic. Uses one thread. */
    bool stitched;
} pfr_selection;

#ifdef __cplusplus
}
#endif
#endif
