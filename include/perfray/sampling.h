/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SAMPLING_H
#define PERFRAY_SAMPLING_H
/*
 * pfr_recorder - sample a command, processes, CPUs or the calling program with the kernel's performance counters
 * (perf_event_open(2)) into a perf.data file or stream. This is the library side of `perfray record`.
 *
 *     pfr_recorder_open     opens the counters, maps the ring buffers and begins the file; a command is forked, and
 *                           waits before its exec
 *     pfr_recorder_run      records until the command ends, the recorded processes are gone, or pfr_recorder_stop() is
 *                           called
 *     pfr_recorder_begin    instead of pfr_recorder_run: records in a new thread
 *     pfr_recorder_end      stops that thread, and waits until the file is complete
 *     pfr_recorder_close    releases everything
 *
 * The file has its final name from the first byte. It is written every half second, and can be read even if the
 * recorder is killed: at most the last half second is missing then.
 *
 * Degradation: if the kernel lacks or does not permit something, the recorder continues with less where that makes
 * sense, and reports it by options->note. Without hardware counters the CPU clock is sampled. Without permission for
 * the kernel, only user code is sampled.
 *
 * Threads: a recorder belongs to one thread at a time. pfr_recorder_stop(), pfr_recorder_snapshot() and
 * pfr_recorder_enable() may be called from any thread and from signal handlers.
 *
 * Record layouts and counter settings are those of linux/perf_event.h; the option names follow perf-record(1).
 *
 * Example, a program that samples a part of itself (examples/profile_self.c is complete):
 *
 *     pfr_recorder_options options = {.size = sizeof options, .self = true, .output = "part.data"};
 *     pfr_recorder *recorder = pfr_recorder_open(&options, &err);
 *     if (recorder && pfr_recorder_begin(recorder, &err) == PFR_OK) {
 *         work();
 *         pfr_recorder_end(recorder, &err);
 *     }
 *     pfr_recorder_close(recorder);
 */
#include <perfray/alloc.h>
#include <perfray/error.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_recorder pfr_recorder;

/* Call chains: none; by frame pointers; by copies of the user stack, unwound later with DWARF tables; by the branch
   registers of the CPU (LBR). */
typedef enum pfr_record_chains { PFR_CHAINS_NONE, PFR_CHAINS_FP, PFR_CHAINS_DWARF, PFR_CHAINS_LBR } pfr_record_chains;

/* Build-ids identify the objects (programs, libraries) later. */
typedef enum pfr_record_build_ids {
    /* Record the build-ids of objects with samples. They are read when the recording ends. */
    PFR_BUILD_IDS_OF_HITS,
    /* The kernel records the build-ids of all mapped objects in MMAP2 records (Linux 5.12). */
    PFR_BUILD_IDS_IN_MAPS,
    /* Record no build-ids. */
    PFR_BUILD_IDS_NONE,
    /* Record the build-ids of all mapped objects, with or without samples. They are read when the recording ends. */
    PFR_BUILD_IDS_OF_ALL
} pfr_record_build_ids;

/*
 * Options of pfr_recorder_open(). 0 and NULL are the defaults of `perfray record`. Lists in strings are
 * comma-separated.
 *
 * All pointers must remain valid until pfr_recorder_close(). The struct itself is copied.
 */
typedef struct pfr_recorder_options {
    /* sizeof(pfr_recorder_options). Members beyond it have their defaults. */
    size_t size;
    /* Allocator of the recorder. NULL: malloc(). */
    const pfr_alloc *alloc;
    /* Events, each in the syntax of perf's -e; the list ends with NULL. NULL: cycles, or cpu-clock without hardware
       counters. pfr_recordable_list() lists the names. */
    const char *const *events;
    /* Filters of tracepoints: filters[i] (or NULL) belongs to the last event in events[i]. NULL: no filters. */
    const char *const *filters;
    /* Cgroups: the i-th name belongs to the i-th event, the last name also to all following events. Needs all_cpus or
       cpus. */
    const char *cgroups;

    /* Targets: a command, pids, tids, user, or self; or all CPUs or some. If a command is given together with other
       targets, only the other targets are recorded, until the command ends. */

    /* The program, searched for in PATH, and its arguments; ends with NULL. */
    const char *const *command;
    /* pids: processes with all their threads; tids: single threads. "7,9". */
    const char *pids, *tids;
    /* All processes of this user, by name or number, that run when the recording begins. */
    const char *user;
    /* Only these CPUs: "0,2-3". */
    const char *cpus;
    /* Record everything on all CPUs; record the calling process; use one ring buffer per thread instead of one per CPU;
       do not record the children of the targets. */
    bool all_cpus, self, per_thread, no_inherit;

    /* Rate. */

    /* Sample once per this many events. 0: by frequency. */
    uint64_t period;
    /* Samples per second. 0: 4000. */
    uint32_t frequency;
    /* Use the highest frequency that the kernel allows (kernel.perf_event_max_sample_rate). */
    bool highest_frequency;
    /* Fail with PFR_ERR_USAGE if the kernel does not allow the frequency. Default: reduce it. */
    bool strict_frequency;
    /* Put all events into one group, whose leader is the first event. */
    bool one_group;
    /* Count without taking samples. */
    bool count_only;

    /* Fields of a sample. */

    pfr_record_chains chains;
    /* PFR_CHAINS_DWARF: bytes of the user stack that are copied with each sample. 0: 8192. */
    uint32_t stack_bytes;
    /* Record branch stacks with these filters of perf's -j: "any,u". NULL: do not. */
    const char *branches;
    /* user_regs: registers of user code to record; intr_regs: registers at the time of the sample. "ax,bx"; "" is all
       registers. NULL: no registers. */
    const char *user_regs;
    const char *intr_regs;
    /* Record: data addresses; physical addresses; sizes of data and code pages; costs; raw data of tracepoints and
       PMUs; the CPU; the period; event ids at one place in all records. */
    bool addresses, physical_addresses, data_page_size, code_page_size, weight, raw, cpu, with_period, identifier;
    /* Record: timestamps, also with per_thread; flags of transactions. */
    bool times, transaction;
    /* Leave out the user part or the kernel part of call chains. */
    bool no_user_chains, no_kernel_chains;
    /* Bytes of the AUX area that are recorded with each sample. 0: do not record it. */
    uint32_t aux_sample;

    /* Other records and counter settings. */

    /* Record: namespaces of processes; cgroups; context switches; counts per thread; enabled and running times in
       counts. Sample only user code; only the kernel. */
    bool namespaces, cgroup_events, switches, counts_per_thread, running_time, only_user, only_kernel;
    /* Do not record loads of BPF programs. */
    bool no_bpf;
    /* Exclude the recorder itself from tracepoints. */
    bool without_recorder;
    /* Facts to record about the tasks that run at the start: "task,mmap,cgroup" or some of these, "all", or "no". NULL:
       all. */
    const char *synthesize;
    /* Clock of the timestamps: "monotonic", "CLOCK_BOOTTIME", or a number of clock_gettime(2). NULL: the kernel's perf
       clock. */
    const char *clock;
    /* Bytes of one ring buffer, rounded up to a power of two. 0: 1 MB. Halved until the kernel accepts it. */
    uint64_t ring_bytes;
    /* Bytes of one AUX area. 0: 4 MB. */
    uint64_t aux_bytes;
    /* Keep only the newest data in the ring buffers, and write them at the end or at pfr_recorder_snapshot(). */
    bool overwrite;
    /* Record the facts of `synthesize` at the end as well. Implied by `overwrite`. */
    bool tail_synthesize;
    /* Real-time priority (SCHED_FIFO) of the recording thread, 1 to 99. 0: do not change it. */
    uint32_t realtime;
    /* Wake the recorder for every record. */
    bool unbuffered;
    /* Do not read a ring buffer that has fewer bytes than this, except at the end of the recording. Limited to a
       quarter of the buffer's size. 0: always read. */
    uint64_t drain_least;
    /* Count only in these time ranges, in ms from the start: "10-20,30-40". Not together with delay_ms. NULL: always.
     */
    const char *on_times;
    /* Begin to count after this many ms; -1: only when enabled. */
    int64_t delay_ms;
    /* Read the commands enable, disable, snapshot, stop and ping, one per line, from "fd:N" or "fifo:PATH". With a
       second descriptor or FIFO ("fd:3,4"), "ack" is written to it after each command. NULL: read no commands. */
    const char *control;

    /* Output. */

    /* File to write, mode 0600. A file of this name is renamed to NAME.old; anything else is PFR_ERR_USAGE. "-" is a
       stream on standard output, and a command's standard output becomes standard error. NULL: perf.data. */
    const char *output;
    /* Compress records with zstd. */
    bool compress;
    /* zstd level. 0: 1. */
    int level;
    pfr_record_build_ids build_ids;
    /* Give up privileges beyond the user's (set-user-ID, file capabilities), for the process and the command, as soon
       as the counters are open. */
    bool drop_privileges;
    /* End when the file reaches this size. 0: no limit. */
    uint64_t max_bytes;
    /* Begin a new file OUTPUT.TIME at each pfr_recorder_snapshot(). Each file can be read without the others. */
    bool parts;
    /* With `parts`: begin a new file also at this size, or after this time (ns). 0: do not. */
    uint64_t part_bytes;
    uint64_t part_ns;
    /* With `parts`: keep only this many finished files, the newest. 0: all. */
    uint32_t parts_most;
    /* Name the file OUTPUT.TIME, also without `parts`. */
    bool dated;
    /* The command line, for the header feature CMDLINE; ends with NULL. */
    const char *const *words;
    /* Name and version of the recording program, for the header feature VERSION. */
    const char *version;
    /* Called with one sentence whenever something is reduced or given up. The sentence is valid during the call. With
       pfr_recorder_begin() it is called by the recorder's thread. May be NULL. */
    void (*note)(void *context, const char *sentence);
    void *context;
} pfr_recorder_options;

typedef struct pfr_recorder_result {
    /* Number of samples; 0 if they were not counted (build_ids NONE or IN_MAPS, or a stream). */
    uint64_t samples;
    /* Bytes of all files. */
    uint64_t bytes;
    /* Samples and records that the kernel dropped because a ring buffer was full. */
    uint64_t lost;
    /* How often an AUX area was full. */
    uint64_t aux_truncated;
    /* How often the ring buffers were read. */
    uint64_t wakes;
    /* Bytes before compression; 0 if not compressed. */
    uint64_t plain_bytes;
    /* Number of files. */
    uint32_t parts;
    /* The command ended, and `status` is its status as waitpid(2) returns it. */
    bool has_status;
    int status;
    /* The recording ended because of max_bytes. */
    bool is_full;
} pfr_recorder_result;

/*
 * pfr_recorder_open - open the counters and begin the file. Nothing is counted yet.
 *
 * Returns NULL on failure:
 * - PFR_ERR_USAGE for an unknown event, an invalid option or combination, or a command or target that does not exist
 * - PFR_ERR_PERMISSION if the kernel does not permit the recording; the text names the sysctl or capability that would
 *   permit it
 * - PFR_ERR_IO if a system call failed
 * - PFR_ERR_MEMORY or PFR_ERR_LIMIT
 *
 * The caller releases the recorder by pfr_recorder_close().
 */
pfr_recorder *pfr_recorder_open(const pfr_recorder_options *options, pfr_error *err);

/*
 * pfr_recorder_plan - describe what pfr_recorder_open() would open: one sentence per event by options->note. No counter
 * is opened, no file is written, no command is started. Returns as pfr_recorder_open().
 */
pfr_status pfr_recorder_plan(const pfr_recorder_options *options, pfr_error *err);

/*
 * pfr_recorder_run - start the command and record until the end, in the calling thread.
 *
 * If recording is stopped while the command runs, the command is sent SIGTERM. A command that does not end continues to
 * run, and this is reported by options->note.
 *
 * Returns PFR_OK: everything that was recorded is in the file. PFR_ERR_IO if writing failed, or the file was deleted,
 * renamed or replaced meanwhile; the part that was written can be read. PFR_ERR_USAGE or PFR_ERR_PERMISSION for
 * `realtime`; PFR_ERR_MEMORY.
 */
pfr_status pfr_recorder_run(pfr_recorder *recorder, pfr_error *err);

/*
 * pfr_recorder_begin - as pfr_recorder_run(), in a new thread. Returns as soon as the counters are enabled.
 *
 * Returns PFR_OK, or PFR_ERR_IO or PFR_ERR_MEMORY if the thread cannot be created. Errors of the recording itself are
 * returned by pfr_recorder_end().
 */
pfr_status pfr_recorder_begin(pfr_recorder *recorder, pfr_error *err);

/* pfr_recorder_end - stop a recording that pfr_recorder_begin() started, and wait until the file is complete. Returns
   as pfr_recorder_run(); PFR_ERR_USAGE if it was not begun. */
pfr_status pfr_recorder_end(pfr_recorder *recorder, pfr_error *err);

/*
 * pfr_recorder_stop - end pfr_recorder_run() soon. Async-signal-safe, callable from any thread.
 *
 * A second call ends the recording at once, without completing the file, as if the recorder had been killed.
 */
void pfr_recorder_stop(pfr_recorder *recorder);

/* pfr_recorder_snapshot - write the ring buffers of `overwrite` now, and begin a new file with `parts`.
   Async-signal-safe, callable from any thread. */
void pfr_recorder_snapshot(pfr_recorder *recorder);

/* pfr_recorder_enable - switch the counters on or off. Async-signal-safe, callable from any thread. */
void pfr_recorder_enable(pfr_recorder *recorder, bool on);

/* pfr_recorder_get_result - get the result. Call it after pfr_recorder_run() or pfr_recorder_end(), also if they
 * failed. */
void pfr_recorder_get_result(const pfr_recorder *recorder, pfr_recorder_result *result);

/* pfr_recorder_close - release everything. A thread that records is stopped first; a command that still waits for its
   exec does not run. NULL is allowed. */
void pfr_recorder_close(pfr_recorder *recorder);

/*
 * pfr_drop_privileges - permanently give up privileges beyond those of the process's real user: set-user-ID,
 * set-group-ID, file capabilities.
 *
 * Only the calling thread gives up its capabilities: call this function before other threads exist. Returns false if
 * privileges remain.
 */
bool pfr_drop_privileges(void);

/* One event that the kernel or this library knows. */
typedef struct pfr_recordable {
    /* Name for pfr_recorder_options.events. */
    const char *name;
    /* "hardware", "software", "cache", "tracepoint", "pmu", "breakpoint" or "raw". */
    const char *kind;
    /* NULL if the event can be recorded, else the reason why not. */
    const char *reason;
    /* Another name of the event; or NULL. */
    const char *alias;
} pfr_recordable;

/*
 * pfr_recordable_list - list the events that can be recorded on this machine by the calling user. To find out, each
 * event is opened once; of the tracepoints only one is opened.
 *
 * `kind` selects one kind; NULL lists all. `row` is called for each event, until it returns false. The strings are
 * valid during the call.
 *
 * Returns PFR_OK; PFR_ERR_USAGE if there is no such kind.
 */
pfr_status pfr_recordable_list(const char *kind, bool (*row)(void *context, const pfr_recordable *what), void *context,
                               pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
