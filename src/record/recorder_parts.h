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
 */
#include <perfray/sampling.h>
#include <perfray/writer.h>
#include <signal.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include "base/io/output.h"
#include "record/event.h"

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
    uint64_t clock_wall_ns, clock_ns; /* read together */
    int clock_id;
    bool enabled; /* counters count */
    volatile sig_atomic_t stops, snapshots, wants_on, wants_off;
    pfr_recorder_result result;
    pthread_t thread;
    sem_t thread_is, thread_goes;
    pid_t thread_tid;
    bool has_thread, thread_runs, given_over;
    pfr_error ended_by; /* of the thread */
};

/* targets.c */
pfr_status targets_find(pfr_recorder *r, pfr_error *err);
void targets_free(pfr_recorder *r);
/* Adds the threads of a process. */
pfr_status targets_add_threads(pfr_recorder *r, pid_t pid, pid_t but, pfr_error *err);
pfr_status targets_add_task(pfr_recorder *r, pid_t tid, pfr_error *err);
/* The cpus that run; false: unknown. */
bool targets_online(const struct kernel *kernel, struct cpu_list *list);
pfr_status targets_add_cpu(pfr_recorder *r, int32_t cpu, pfr_error *err);
bool targets_are_gone(const pfr_recorder *r);

/* plan.c */
pfr_status plan_events(pfr_recorder *r, pfr_error *err);

/* option_lists.c: options that are lists of words, and their like */
enum { SYNTHESIZE_TASKS = 1, SYNTHESIZE_MAPS = 2, SYNTHESIZE_CGROUPS = 4 };
pfr_status plan_synthesis(pfr_recorder *r, pfr_error *err);
/* When counting is switched, by delay_ms or on_times. */
pfr_status plan_turns(pfr_recorder *r, pfr_error *err);
/* Once rings are there. */
pfr_status plan_drain(pfr_recorder *r, pfr_error *err);

/* command.c */
pfr_status command_start(pfr_recorder *r, pfr_error *err);
pfr_status command_go(pfr_recorder *r, pfr_error *err);
/* Whether it has ended; its status is kept where there is one. */
bool command_ended(struct recorder_command *command);
void command_end(struct recorder_command *command);

/* privileges.c: those beyond the user's, for good. */
bool privileges_drop(void);
/* The same where the options ask for it. */
pfr_status privileges_end(const pfr_recorder *r, pfr_error *err);

/* counters.c, fallback.c */
pfr_status counters_open(pfr_recorder *r, pfr_error *err);
/* All events on one cpu more; on failure none. */
pfr_status counters_open_cpu(pfr_recorder *r, int32_t cpu, pfr_error *err);
/* Maps and tasks are told from now on, whenever counting begins. */
void counters_track(pfr_recorder *r);
void counters_switch(pfr_recorder *r, bool on);
void counters_close(pfr_recorder *r);
/* Makes the attrs ask for less, because the kernel answered `why` to event e; false: nothing is left to give up. */
bool fallback_next(pfr_recorder *r, struct typed_event *e, int why);
/* Says what was given up, once all counters are open. */
void fallback_tell(pfr_recorder *r);
pfr_status fallback_failed(const pfr_recorder *r, const struct typed_event *e, int why, pfr_error *err);

/* rings.c */
pfr_status rings_map(pfr_recorder *r, pfr_error *err);
pfr_status rings_map_from(pfr_recorder *r, size_t counter, pfr_error *err);
/* Whether anything was there. */
pfr_status rings_drain(pfr_recorder *r, bool *any, pfr_error *err);
pfr_status rings_snapshot(pfr_recorder *r, pfr_error *err);
bool rings_are_filling(const pfr_recorder *r);
/* While there is much else to do. */
pfr_status rings_drain_filling(pfr_recorder *r, pfr_error *err);
void rings_free(pfr_recorder *r);
static inline size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}
/* ring_copy.c */
const uint8_t *ring_data(const struct ring *ring);
/* Bytes out of the ring, which may go on at its start. */
void ring_copy(const struct ring *ring, uint64_t from, void *to, size_t length);

/* ring_mend.c: the first record that is longer than the kernel wrote it: `before` bytes from `from` on stand before it,
   of its `size` bytes `real` are its own; size 0: there is none among the whole records of the stretch. */
#define OVERLONG_MOST 1024u
struct overlong {
    uint64_t before;
    uint32_t size, real;
};
struct overlong ring_find_overlong(const pfr_recorder *r, const struct ring *ring, uint64_t from, uint64_t length);

/* aux_areas.c */
bool aux_is_recorded(const pfr_recorder *r);
/* Whether samples of the event carry a piece of the area. */
bool aux_samples(const pfr_recorder *r, const struct typed_event *e);
pfr_status aux_check(const pfr_recorder *r, pfr_error *err);
void aux_plan(const pfr_recorder *r, struct typed_event *e);
pfr_status aux_map(pfr_recorder *r, const struct open_counter *counter, struct ring *ring, pfr_error *err);
void aux_unmap(pfr_recorder *r, struct ring *ring);
pfr_status aux_put_info(pfr_recorder *r, pfr_error *err);
pfr_status aux_put_clock(pfr_recorder *r, pfr_error *err);
pfr_status aux_drain(pfr_recorder *r, struct ring *ring, bool *any, pfr_error *err);
void aux_look(pfr_recorder *r, const struct ring *ring, uint64_t from, uint64_t length);

/* begin_file.c */
pfr_status file_begin(pfr_recorder *r, pfr_error *err);
/* CLOCK_DATA, at the end with a second pair of times. */
pfr_status file_put_clocks(pfr_recorder *r, pfr_error *err);
/* Which counter is which, from one on. */
pfr_status file_put_ids(pfr_recorder *r, size_t counter, pfr_error *err);
/* put_record.c */
pfr_status put_record(pfr_recorder *r, uint32_t type, uint16_t misc, const void *body, size_t size, pfr_error *err);
/* tasks.c */
pfr_status tasks_put_kernel(pfr_recorder *r, pfr_error *err);
pfr_status tasks_put_tail(pfr_recorder *r, pfr_error *err);
pfr_status tasks_put_all(pfr_recorder *r, pfr_error *err);
/* machine.c, machine_cpus.c */
pfr_status machine_put(pfr_recorder *r, pfr_error *err);
pfr_status machine_put_events(pfr_recorder *r, pfr_error *err);
pfr_status machine_put_cpus(pfr_recorder *r, pfr_error *err);
/* machine_feature.c: a feature for the file; its parts */
pfr_status machine_feature(pfr_recorder *r, uint32_t bit, struct output *payload, pfr_error *err);
void feature_u32(struct output *payload, uint32_t value);
void feature_u64(struct output *payload, uint64_t value);
void feature_text(struct output *payload, const char *text);
/* bpf_programs.c: records and features of those that are there; features of those that came since */
pfr_status bpf_put_all(pfr_recorder *r, pfr_error *err);
pfr_status bpf_put_late(pfr_recorder *r, pfr_error *err);
void bpf_forget(pfr_recorder *r);
/* tracing_data.c: read before privileges end, written into each file */
pfr_status trace_blob_read(pfr_recorder *r, pfr_error *err);
pfr_status trace_blob_put(pfr_recorder *r, pfr_error *err);

/* loop.c */
pfr_status loop_run(pfr_recorder *r, pfr_error *err);
/* recorder_note.c */
void recorder_note(const pfr_recorder *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* hotplug.c: looks every half second, and where the recorder has nothing to do */
pfr_status hotplug_look(pfr_recorder *r, bool idle, uint64_t now_ns, pfr_error *err);

/* control.c */
pfr_status control_open(pfr_recorder *r, pfr_error *err);
void control_obey(pfr_recorder *r);
void control_close(pfr_recorder *r);

/* finish_file.c, hit_build_ids.c */
pfr_status file_finish(pfr_recorder *r, pfr_error *err);
pfr_status file_next(pfr_recorder *r, pfr_error *err);
void parts_forget(pfr_recorder *r);
struct finished_file {
    pfr_writer *writer;
    const char *path;
    int fd; /* the writer's own; -1: standard output */
};
struct hit_times {
    uint64_t first, last; /* of samples; 0: none has one */
};
/* The build-ids of a file whose records are all written, read by the writer's own descriptor; rings that fill are
   drained meanwhile where r has a writer and it is not this one. */
pfr_status hits_put(pfr_recorder *r, const struct finished_file *file, struct hit_times *times, pfr_error *err);

/* The same as pfr_recorder_open on another kernel. */
pfr_recorder *recorder_open_on(const struct kernel *kernel, const pfr_recorder_options *options, pfr_error *err);

#endif
