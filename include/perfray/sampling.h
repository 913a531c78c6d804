/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SAMPLING_H
#define PERFRAY_SAMPLING_H
/*
 * Recording: a command, processes, cpus or the calling program itself, sampled by the kernel's counters into a
 * perf.data file or stream.
 *
 *     open     counters are opened, rings mapped, the file begun; a command is started and waits before its exec
 *     run      samples until the command ends, the targets are gone, or pfr_recorder_stop is called; or
 *     begin    the same in a thread of its own, and pfr_recorder_end waits for it
 *     close    frees
 *
 * The file has its name from the first byte; what a killed recorder leaves can be read up to the last second.
 *
 * A program that samples a part of itself (examples/profile_self.c is a whole one):
 *
 *     pfr_recorder_options options = {.size = sizeof options, .self = true, .output = "part.data"};
 *     pfr_recorder *r = pfr_recorder_open(&options, &err);
 *     pfr_recorder_begin(r, &err);
 *     work();
 *     pfr_recorder_end(r, &err);
 *     pfr_recorder_close(r);
 *
 * A recorder belongs to one thread at a time; pfr_recorder_stop may be called by any thread and by signal handlers.
 */
#include <perfray/alloc.h>
#include <perfray/error.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_recorder pfr_recorder;

typedef enum pfr_record_chains { PFR_CHAINS_NONE, PFR_CHAINS_FP, PFR_CHAINS_DWARF, PFR_CHAINS_LBR } pfr_record_chains;
typedef enum pfr_record_build_ids {
    PFR_BUILD_IDS_OF_HITS, /* of objects that samples hit */
    PFR_BUILD_IDS_IN_MAPS, /* the kernel puts them into MMAP2 records */
    PFR_BUILD_IDS_NONE,
    PFR_BUILD_IDS_OF_ALL /* of all that is mapped */
} pfr_record_build_ids;

/* What is 0 or NULL is as `perfray record` has it without the option. */
typedef struct pfr_recorder_options {
    size_t size;                /* sizeof(pfr_recorder_options) */
    const pfr_alloc *alloc;     /* NULL: malloc */
    const char *const *events;  /* as of -e; ends with NULL; NULL: cycles, or the clock of the cpu */
    const char *const *filters; /* filters[i], or NULL, is of the last event of events[i]; NULL: none */
    const char *cgroups;        /* "a,b": the i-th is of the i-th event, the last of all that follow */
    /* whom: one of these, or all cpus or some; beside others a command only says how long they are recorded */
    const char *const *command; /* its words; ends with NULL */
    const char *pids, *tids;    /* "7,9" */
    const char *user;           /* name or number: what runs now */
    const char *cpus;           /* "0,2-3" */
    bool all_cpus, self, per_thread, no_inherit;
    /* how often */
    uint64_t period;        /* every so many events; 0: by frequency */
    uint32_t frequency;     /* samples a second; 0: 4000 */
    bool highest_frequency; /* the most that the kernel allows */
    bool strict_frequency;  /* one that the kernel does not allow is an error, and is not lowered */
    bool one_group;         /* all events count together, and the first leads */
    bool count_only;        /* no samples */
    /* what a sample has */
    pfr_record_chains chains;
    uint32_t stack_bytes;  /* of user stacks with PFR_CHAINS_DWARF; 0: 8192 */
    const char *branches;  /* "any,u": branch stacks */
    const char *user_regs; /* "ax,bx", "" all */
    const char *intr_regs;
    bool addresses, physical_addresses, data_page_size, code_page_size, weight, raw, cpu, with_period, identifier;
    bool times, transaction;
    bool no_user_chains, no_kernel_chains; /* of call chains that part is left out */
    uint32_t aux_sample;                   /* bytes of AUX area in a sample */
    /* what else is recorded */
    bool namespaces, cgroup_events, switches, counts_per_thread, running_time, only_user, only_kernel;
    bool no_bpf;           /* nothing of BPF programs */
    bool without_recorder; /* tracepoints leave this process out */
    const char
        *synthesize;     /* of what is there at the start: "task,mmap,cgroup" or some of them, "no", "all"; NULL: all */
    const char *clock;   /* "monotonic", "CLOCK_BOOTTIME", 4; NULL: the kernel's own */
    uint64_t ring_bytes; /* 0: 1 MB for each cpu, or half of it */
    uint64_t aux_bytes;  /* of each AUX area; 0: 4 MB */
    bool overwrite;      /* rings keep the newest, and are written at the end or at pfr_recorder_snapshot */
    bool tail_synthesize; /* what runs is told at the end, too; so it is with overwrite */
    uint32_t realtime;    /* priority of the recording thread, SCHED_FIFO; 0: as it is */
    bool unbuffered;      /* each record is drained at once */
    uint64_t drain_least; /* a ring with fewer bytes is not drained before the end; 0: each is */
    const char *on_times; /* "10-20,30-40": events count between these, in ms from the start; not with delay_ms */
    int64_t delay_ms;     /* events count from then on; -1: not before they are enabled */
    const char *control;  /* "fd:3[,4]", "fifo:PATH[,PATH]": enable, disable, snapshot, stop, ping; the other answers */
    /* where to */
    const char *output; /* NULL: perf.data, whose forerunner becomes perf.data.old; "-": a stream on standard output,
                           and what the command prints goes to standard error */
    bool compress;
    int level; /* of zstd; 0: 1 */
    pfr_record_build_ids build_ids;
    bool drop_privileges; /* those beyond the user's (set-user-ID, file capabilities) end, for the whole process, as
                             soon as counters are open, and for the command */
    uint64_t max_bytes;   /* ends when the file is as long; 0: any length */
    bool parts;           /* pfr_recorder_snapshot begins a new file: OUTPUT.TIME, each readable alone */
    uint64_t part_bytes;  /* a new part by itself; 0: not */
    uint64_t part_ns;
    uint32_t parts_most;      /* of those that are finished only the newest so many stay; 0: all */
    bool dated;               /* the file is OUTPUT.TIME without parts, too */
    const char *const *words; /* the command line, for the header; ends with NULL */
    const char *version;      /* who records, for the header */
    void (*note)(void *context, const char *sentence); /* told what was given up, or may be NULL */
    void *context;
} pfr_recorder_options;

typedef struct pfr_recorder_result {
    uint64_t samples;       /* counted when build-ids are looked for, else 0 */
    uint64_t bytes;         /* of the file */
    uint64_t lost;          /* samples and records that the kernel could not put into a ring */
    uint64_t aux_truncated; /* how often an AUX area was full */
    uint64_t wakes;         /* how often rings were drained */
    uint64_t plain_bytes;   /* before compression; 0: not compressed */
    uint32_t parts;         /* files */
    bool has_status;        /* of the command: */
    int status;             /* as waitpid(2) tells */
    bool is_full;           /* ended at max_bytes */
} pfr_recorder_result;

/* NULL on failure: USAGE, PERMISSION (the text names the sysctl or capability), IO, MEMORY. */
pfr_recorder *pfr_recorder_open(const pfr_recorder_options *options, pfr_error *err);

/* What would be opened: one sentence for each event, through options->note. Nothing is opened. */
pfr_status pfr_recorder_plan(const pfr_recorder_options *options, pfr_error *err);

/* Until the end. PFR_OK: all that was recorded is in the file. */
pfr_status pfr_recorder_run(pfr_recorder *recorder, pfr_error *err);

/* Returns as soon as counters count. PFR_ERR_IO: there is no thread to be had. */
pfr_status pfr_recorder_begin(pfr_recorder *recorder, pfr_error *err);
pfr_status pfr_recorder_end(pfr_recorder *recorder, pfr_error *err);

/* Ends pfr_recorder_run soon. Safe in signal handlers, and more than once: the second time the file is left as it is.
 */
void pfr_recorder_stop(pfr_recorder *recorder);
/* Overwriting rings are written now, and with `parts` a new file begins. Safe in signal handlers. */
void pfr_recorder_snapshot(pfr_recorder *recorder);
/* Counters count, or do not. Safe in signal handlers. */
void pfr_recorder_enable(pfr_recorder *recorder, bool on);

/* After run or end. */
void pfr_recorder_told(const pfr_recorder *recorder, pfr_recorder_result *result);

/* A command that still waits for its exec is killed. NULL is fine. */
void pfr_recorder_close(pfr_recorder *recorder);

/* Privileges beyond those of the process's user (set-user-ID, file capabilities) end for good; false: they do not. Of
   threads the calling one alone loses capabilities: call it before there are others. */
bool pfr_drop_privileges(void);

/* What can be recorded here, one row at a time, and why the rest cannot. */
typedef struct pfr_recordable {
    const char *name;
    const char *kind;   /* "hardware", "software", "cache", "tracepoint", "pmu", "breakpoint", "raw" */
    const char *reason; /* NULL: it can; else why not */
    const char *alias;  /* the other name that it has; NULL: none */
} pfr_recordable;

/* Tells each to `row`, whose texts live for the call, until it returns false. kind NULL: all. */
pfr_status pfr_recordable_list(const char *kind, bool (*row)(void *context, const pfr_recordable *what), void *context,
                               pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
