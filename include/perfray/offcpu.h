/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_OFFCPU_H
#define PERFRAY_OFFCPU_H
/*
 * pfr_offcpu_print - print why threads did not run: for each thread its wall time split into running, runnable and
 * blocked by reason, where it waited, and which thread ended the wait.
 *
 * Use it for a program that is slow without being busy. report.h shows where the CPU time went.
 *
 * The recording must contain the times at which threads left a CPU or got one, in one of these forms:
 *
 * - the tracepoint sched:sched_switch, with sched:sched_waking for wakers: times, reasons, stacks and wakers
 *   (`perfray record --off-cpu`, `perf sched record -g`);
 * - SWITCH records (`--switch-events`): times; with samples of context-switches also stacks.
 *
 * Definitions:
 *
 * - A thread is running, runnable (preempted, or woken and not yet on a CPU) or blocked. The times in these states
 *   add up to its wall time: from its FORK, or the first record, to its EXIT, or the last record.
 * - An interval in which records were lost, or whose events contradict each other, is unknown. It is counted and never
 *   shown as a wait.
 * - The reason of a wait is derived from the innermost kernel function of its stack that perfray knows: lock (futexes,
 *   condition variables, semaphores, locks of the kernel), pipe, socket, disk, timer, fault, child, signal; `other` if
 *   perfray knows no function of the stack. A wait in poll, select or epoll gets the reason of the event that ended it.
 * - A waker is the thread that ended a wait by its own action. A thread that was merely interrupted by a timer or
 *   device is not a waker.
 *
 * Order: threads of the command that the recorder started, and of its descendants, come first; the others follow. In
 * both groups, the threads that waited most come first.
 *
 * Memory: everything is allocated from the reader's memory limit and released before the function returns. The amount
 * depends on the number of threads and of distinct stacks, plus 4 bytes per sample; PFR_OFFCPU_WAKERS also takes 80
 * bytes for each interval in the range `time`.
 *
 * Threads: the profile is loaded by up to options->jobs threads. The output is the same for every number. The reader
 * must not be used by others meanwhile.
 *
 * Example, waits of a millisecond and more of one thread:
 *
 *     pfr_offcpu_options options = {.size = sizeof options, .threads = "1234", .min_duration = "1ms"};
 *     pfr_status status = pfr_offcpu_print(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pfr_offcpu_format {
    /* Facts as lines that begin with #, then a tree for people. */
    PFR_OFFCPU_TEXT,
    /*
     * Columns comm, pid, tid, state, reason, ns, count, max_ns, function, waker_comm, waker_tid, waker_function.
     * state: running, runnable, blocked, unknown. reason, only if blocked: lock, pipe, socket, disk, timer, fault,
     * child, signal, other. function: the innermost function of the program when the thread left its CPU. Empty where
     * it does not apply or is not known. With PFR_OFFCPU_BY_CGROUP a last column, cgroup, has the path, and comm, pid
     * and tid are empty.
     */
    PFR_OFFCPU_CSV,
    /* One document; docs/json/offcpu.schema.json describes it. */
    PFR_OFFCPU_JSON
} pfr_offcpu_format;

/* The contents of the output. */
typedef enum pfr_offcpu_view {
    /* States and waits by thread. */
    PFR_OFFCPU_WAITS,
    /* The critical path of a thread: the chain of wakers that led to its end. */
    PFR_OFFCPU_WAKERS,
    /* Locks: number of waits, total time, percentiles, the threads that held them and the threads that waited. */
    PFR_OFFCPU_LOCKS
} pfr_offcpu_view;

/* One entry of the output per thread, process or cgroup. BY_CGROUP needs the ids of cgroups in samples (`record
   --all-cgroups`) and PFR_OFFCPU_WAITS. An interval counts for the cgroup of the sample that ended the interval, else
   of the thread's latest earlier sample, else of the parent at the thread's FORK, else of the thread's first sample.
   Threads without any id have an entry without a path. */
typedef enum pfr_offcpu_by { PFR_OFFCPU_BY_THREAD, PFR_OFFCPU_BY_PROCESS, PFR_OFFCPU_BY_CGROUP } pfr_offcpu_by;

/* All pointers must remain valid while pfr_offcpu_print() runs. */
typedef struct pfr_offcpu_options {
    /* sizeof(pfr_offcpu_options) */
    size_t size;
    pfr_offcpu_format format;
    pfr_offcpu_view view;
    pfr_offcpu_by by;
    /* Count only these threads: names (globs) and tids, comma-separated. NULL: all. */
    const char *threads;
    /* Count only these processes, by pid: "7,9-12". NULL: all. */
    const char *pids;
    /* Count only waits whose stack has a function that matches this glob. NULL: all. */
    const char *function;
    /* Count only intervals that took at least this long: "10us". Units ns, us, ms, s; a number without a unit is
       seconds. NULL: all. */
    const char *min_duration;
    /* Count only this time range, in seconds of the recording's clock: "12.5,13", "10%-20%". Intervals are cut at the
       ends of the range. NULL: all. */
    const char *time;
    /* Text: omit waits below this percentage of their thread's wall time. */
    double percent_limit;
    /* Print at most this many threads, locks or steps. 0: all. */
    uint32_t top;
    /* Use at most this many entries of a call chain, from the innermost. 0: 127. */
    uint32_t max_stack;
    /* Do not look up source lines. */
    bool no_lines;
    /* Options for finding and printing names. NULL: the defaults. */
    const pfr_symbol_options *naming;
    /* Number of threads that load the recording. 0: by input size, at most 4. */
    unsigned jobs;
    /* Called for each unreadable range, and for each limit that excluded data. May be NULL. */
    void (*hole)(void *context, const pfr_error *hole);
    /* Called with one sentence for each fact that users should know. May be NULL. Valid during the call. */
    void (*note)(void *context, const char *sentence);
    /* First argument of `hole` and `note`. */
    void *context;
} pfr_offcpu_options;

/*
 * pfr_offcpu_print - read the recording and print the states of its threads.
 *
 * `options` must not be NULL. Nothing is printed before everything is counted and named.
 *
 * Returns PFR_OK, or:
 * - PFR_HOLE if the output is complete except for unreadable ranges or limits, each passed to `hole`
 * - PFR_ERR_FORMAT if the recording does not contain the times at which threads ran, has no ids of cgroups for
 *   PFR_OFFCPU_BY_CGROUP (err->text names what to record), or is a trace
 * - PFR_ERR_USAGE for an invalid list, duration or time range, BY_CGROUP with another view, or a stream without `spool`
 * - otherwise an error of pfr_next()
 */
pfr_status pfr_offcpu_print(pfr_reader *reader, const pfr_offcpu_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
