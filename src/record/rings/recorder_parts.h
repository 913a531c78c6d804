/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_RECORDER_PARTS_H
#define PFR_RECORD_RECORDER_PARTS_H
/*
 * The steps of a recording, in the order in which they happen:
 *
 *     targets.c      whom: tasks and cpus
 *     plan.c         events and options become attrs
 *     command.c      the command, started and waiting
 *     counters.c     attrs become counters, and what the kernel does not have is given up (fallback.c)
 *     rings.c        what counters write into; aux_areas.c
 *     privileges.c   those that the user does not have end here
 *     begin_file.c   the file with what is true at the start; tasks.c, machine.c, tracing_data.c
 *     loop.c         rings are drained into the file; hotplug.c
 *     finish_file.c  what is known at the end: losses, build-ids of objects that were hit (hit_build_ids.c,
 * hit_objects.c)
 *
 * The functions of each file are declared in the header of its name; what several share is here.
 */
#include <perfray/sampling.h>
#include <perfray/writer.h>
#include <signal.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include "base/io/output.h"
#include "record/event/event.h"

#define ANYWHERE (-1)

struct task_target {
    pid_t tid;
};

struct open_counter {
    int fd;
    uint32_t event, ring;
    int32_t cpu, tid;
    uint64_t id;
    uint64_t lost; /* samples, as written in earlier files */
};

#define CPUS_MOST 4096
struct cpu_list {
    size_t count;
    int32_t at[CPUS_MOST];
};

struct aux_area {
    uint8_t *at;
    size_t bytes;
    uint64_t tail; /* read up to here */
    int fd;        /* of the counter that writes it */
};

struct ring {
    struct perf_event_mmap_page *page;
    size_t bytes;  /* of its data */
    uint64_t tail; /* read up to here; of an overwriting ring where the last reading began */
    int fd;        /* of the counter it was mapped by */
    int32_t cpu, tid;
    bool backward;
    struct aux_area aux; /* at NULL: none */
};

struct recorder_command {
    pid_t pid;   /* 0: none */
    int go;      /* written to: exec; -1 */
    int failed;  /* read from: errno of an exec that failed; -1 */
    int watched; /* pidfd; -1 */
    bool ended, has_status;
    int status;
};

/* BPF programs that are told already, as rows of the features. */
struct bpf_seen {
    bool is_open;
    struct output programs, types;
    uint32_t nr_programs, nr_types, last_program, last_types;
};

/* Of pfr_recorder_start, which records in a thread of its own. */
struct recorder_thread {
    pthread_t thread;
    sem_t is_there, goes;
    pid_t tid;
    bool exists, runs, given_over;
    pfr_error ended_by;
};

struct recorder_clock {
    uint64_t wall_ns, ns; /* read together */
    int id;
};

struct pfr_recorder {
    struct bpf_seen bpf;
    pfr_recorder_options options;
    const struct kernel *kernel;
    struct memory memory;
    struct event_list events;
    uint32_t tracking; /* the event that tells of maps, names and tasks */
    struct task_target *tasks;
    size_t nr_tasks, tasks_room;
    int32_t *cpus;
    size_t nr_cpus, cpus_room; /* those to record on */
    struct cpu_list online;    /* as it was found last, while all are recorded */
    uint64_t looked_ns;
    bool by_cpu, by_task; /* on all tasks of cpus; on tasks */
    bool of_command;      /* on the command, from its exec on; else it says only how long others are recorded */
    struct recorder_command command;
    struct open_counter *counters;
    size_t nr_counters, counters_room;
    struct ring *rings;
    size_t nr_rings, rings_room;
    uint64_t ring_bytes, aux_bytes;
    unsigned given_up;  /* rows of the table of fallbacks that were tried */
    unsigned notes_due; /* those that are in force and not yet told */
    int watch, wake;    /* descriptors: what is waited for; written to by pfr_recorder_stop and the like */
    int control_in, control_out;
    pfr_writer *writer;
    uint64_t hits_memory; /* most that finding the objects hit may take */
    struct arena part;    /* what is needed while the file is written */
    char **kept;          /* paths of finished parts, options.parts_most of them, over and over */
    size_t nr_kept;       /* ever */
    uint64_t *turns;      /* ns from the start: counting on, off, on, ... */
    size_t nr_turns, turns_room;
    uint64_t drain_least;
    unsigned synthesize; /* bits: SYNTHESIZE_ */
    char *path;          /* the file that is written now; in the arena */
    int output;          /* its descriptor, which the writer closes; -1: standard output */
    unsigned displaced;  /* parts whose path led elsewhere when they were finished */
    uint64_t part_start_bytes, part_start_ns, raw_bytes;
    const void *trace_blob; /* in the arena of events; NULL: no tracepoints */
    size_t trace_blob_size;
    struct recorder_clock clock;
    bool enabled; /* counters count */
    volatile sig_atomic_t stops, snapshots, wants_on, wants_off;
    pfr_recorder_result result;
    struct recorder_thread worker;
};

/* option_lists.c: options that are lists of words, and their like */
enum { SYNTHESIZE_TASKS = 1, SYNTHESIZE_MAPS = 2, SYNTHESIZE_CGROUPS = 4 };

static inline size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* ring_mend.c: the first record that is longer than the kernel wrote it: `before` bytes from `from` on stand before it,
   of its `size` bytes `real` are its own; size 0: there is none among the whole records of the stretch. */
#define OVERLONG_MOST 1024u

#endif
