/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_RECORDER_PARTS_H
#define PFR_RECORD_RECORDER_PARTS_H
/*
 * The steps of a recording, in order:
 *
 *  targets.c      tasks and CPUs to record
 *  plan.c         turns events and options into attrs
 *  command.c      starts the command, which waits before exec
 *  counters.c     opens counters; fallback.c drops features that the kernel does not have
 *  rings.c        maps the rings of counters; aux_areas.c maps their AUX areas
 *  privileges.c   drops privileges beyond the user's own
 *  begin_file.c   writes the start of the file (tasks.c, machine.c, tracing_data.c)
 *  loop.c         drains rings into the file, and watches CPUs (hotplug.c)
 *  finish_file.c  writes the end of the file: losses, build-ids (hit_build_ids.c, hit_objects.c)
 *
 * The functions of each file are declared in a header of the same name; this header has the types that several files
 * share.
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
    uint64_t lost; /* samples reported lost in earlier files */
};

#define CPUS_MOST 4096
struct cpu_list {
    size_t count;
    int32_t at[CPUS_MOST];
};

struct aux_area {
    uint8_t *at;
    size_t bytes;
    uint64_t tail; /* the area is read up to this position */
    int fd;        /* descriptor of the counter that writes the area */
};

struct ring {
    struct perf_event_mmap_page *page;
    size_t bytes;  /* size of the data of the ring */
    uint64_t tail; /* the ring is read up to this position; in an overwriting ring, the start of the last snapshot */
    int fd;        /* descriptor of the counter with which the ring was mapped */
    int32_t cpu, tid;
    bool backward;
    struct aux_area aux; /* aux.at NULL: the ring has no AUX area */
};

struct recorder_command {
    pid_t pid;   /* 0: no command */
    int go;      /* pipe: a byte makes the command call exec; -1: closed */
    int failed;  /* pipe: the command writes errno if exec fails; -1: closed */
    int watched; /* pidfd of the command, or -1 */
    bool ended, has_status;
    int status;
};

/* BPF programs found so far, as rows of the features BPF_PROG_INFO and BPF_BTF. */
struct bpf_seen {
    bool is_open;
    struct output programs, types;
    uint32_t nr_programs, nr_types, last_program, last_types;
};

/* For pfr_recorder_begin, which records in a separate thread. */
struct recorder_thread {
    pthread_t thread;
    sem_t is_there, goes;
    pid_t tid;
    bool exists, runs, given_over;
    pfr_error ended_by;
};

struct recorder_clock {
    uint64_t wall_ns, ns; /* the times of both clocks, read at the same time */
    int id;
};

/* The tasks and CPUs that are recorded. */
struct recorder_targets {
    struct task_target *tasks;
    size_t nr_tasks, tasks_room;
    int32_t *cpus;
    size_t nr_cpus, cpus_room; /* CPUs to record */
    struct cpu_list online;    /* if all CPUs are recorded: the list as last read */
    uint64_t looked_ns;
    bool by_cpu, by_task; /* by_cpu: all tasks on CPUs are recorded; by_task: tasks are recorded */
    bool of_command;      /* the command is recorded from its exec on; else it only determines the duration */
};

/* Switches counting on and off, and wakes the recorder. */
struct recorder_control {
    int watch, wake; /* epoll descriptor; eventfd by which functions such as pfr_recorder_stop wake the recorder */
    int in, out;
    uint64_t *turns; /* ns from the start at which counting is switched: on, off, on, ... */
    size_t nr_turns, turns_room;
    bool enabled; /* counters are enabled */
    volatile sig_atomic_t stops, snapshots, wants_on, wants_off;
};

/* The file being written, and the parts before it. */
struct recorder_file {
    pfr_writer *writer;
    uint64_t hits_memory; /* memory limit for finding the objects that were hit */
    struct arena part;    /* memory of data about the file being written */
    char **kept;          /* paths of the newest finished parts; a ring of options.parts_most entries */
    size_t nr_kept;       /* number of paths ever added to `kept` */
    char *path;           /* path of the file being written; allocated in `part` */
    int output;           /* descriptor of that file, which the writer closes; -1: standard output */
    unsigned displaced;   /* number of parts whose path led to another file when they were finished */
    uint64_t part_start_ns, raw_bytes;
    const void *tracing_blob; /* allocated in the arena of `events`; NULL: there are no tracepoints */
    size_t tracing_blob_size;
};

struct pfr_recorder {
    struct bpf_seen bpf;
    pfr_recorder_options options;
    const struct kernel *kernel;
    struct memory memory;
    struct event_list events;
    uint32_t tracking; /* index of the event that reports maps, names and tasks */
    struct recorder_targets targets;
    struct recorder_command command;
    struct open_counter *counters;
    size_t nr_counters, counters_room;
    struct ring *rings;
    size_t nr_rings, rings_room;
    uint64_t ring_bytes, aux_bytes;
    unsigned given_up;  /* bits of the rows of the fallback table that were tried */
    unsigned notes_due; /* bits of the rows that were applied but not yet reported */
    struct recorder_control control;
    struct recorder_file file;
    uint64_t drain_least;
    unsigned synthesize; /* bits: SYNTHESIZE_* */
    struct recorder_clock clock;
    pfr_recorder_result result;
    struct recorder_thread worker;
};

/* option_lists.c: bits for --synth */
enum { SYNTHESIZE_TASKS = 1, SYNTHESIZE_MAPS = 2, SYNTHESIZE_CGROUPS = 4 };

static inline size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* ring_mend.c: records longer than this are not corrected. */
#define OVERLONG_MOST 1024u

#endif
