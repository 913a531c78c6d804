/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_THREAD_STATES_H
#define PFR_MODEL_THREAD_STATES_H
/*
 * States of threads over time, made from scheduler events in order of time. A thread is always in
 * exactly one state, from its start in the recording to its end, so its intervals add up to its
 * wall time.
 *
 *     thread_states_init(&states, memory, begin, &sources);
 *     states.each = take; states.context = ...;
 *     thread_states_note(&states, &event, &err);         for each event
 *     thread_states_end(&states, end, &err);             closes what is open
 *
 * If events contradict each other, or records were lost during an interval, its state is THREAD_UNKNOWN, so that it is
 * not taken for a long wait. Unknown intervals are counted.
 */
#include "base/memory/fail.h"
#include "base/tables/hashmap.h"
#include "model/sched/sched_event.h"

enum thread_state {
    THREAD_UNSEEN, /* nothing is known since the start of the thread; no interval has this state */
    THREAD_RUNNING,
    THREAD_PREEMPTED, /* runnable: it lost its cpu */
    THREAD_WOKEN,     /* runnable: it was woken, or is new, and waits for a cpu */
    THREAD_BLOCKED,
    THREAD_UNKNOWN,
    THREAD_DEAD, /* no interval has this state */
};

/* Kind of the waker that ended a wait. */
enum waker_kind {
    WAKER_NONE,      /* not recorded, or the wait had not ended */
    WAKER_THREAD,    /* `waker` ended it by its own action */
    WAKER_SOFTIRQ,   /* a soft interrupt that interrupted `waker` */
    WAKER_INTERRUPT, /* a hardware interrupt that interrupted `waker` */
    WAKER_IDLE,      /* the idle task of a CPU, not marked as an interrupt */
};

#define NO_SYSCALL UINT64_MAX

struct thread_interval {
    uint64_t start, end;
    uint64_t syscall;           /* number of the system call that it blocked in; NO_SYSCALL: not recorded */
    uint64_t address;           /* of its futex; 0: not recorded */
    uint64_t cgroup;            /* id of its cgroup in its last sample, or its parent's; 0: not recorded */
    uint32_t life, tid;         /* life: number that distinguishes threads with the same tid, from 0 */
    uint32_t cpu;               /* the CPU on which it ran or which it left; SCHED_NO_CPU: not recorded */
    uint32_t sample;            /* sample in which it left its CPU (struct sched_event) */
    uint32_t waker, waker_life; /* tid of the waker, or SCHED_NOBODY; its life */
    uint32_t waker_sample;      /* sample of the waker */
    uint8_t state;              /* enum thread_state */
    uint8_t waker_kind;
    bool open_start, open_end; /* the interval began before the recording, or lasted beyond the end of the recording */
};

/* One life of a tid. */
struct sched_thread {
    uint64_t since, exited; /* exited: time of its EXIT; 0: none */
    uint64_t syscall, address, cgroup;
    uint64_t losses; /* counts of losses when its state began: of all CPUs, and of its own CPU */
    uint64_t cpu_losses;
    uint32_t tid, life, cpu;
    uint32_t shown;         /* its tid in the recorder's pid namespace, as in all records but tracepoints */
    uint32_t sample, stack; /* stack: the sample of context-switches to use when it leaves its CPU next */
    uint32_t waker, waker_life, waker_sample;
    uint8_t state, waker_kind;
    bool open_start, by_tracepoint; /* by_tracepoint: it was in a sched_switch */
};

struct sched_cpu {
    uint32_t current; /* tid of the thread that runs there, by the last sched_switch */
    bool known;
    uint64_t losses, contradictions;
    uint64_t to_idle, from_idle; /* sched_switch events to its idle task and from it */
};

#define SCHED_CPUS_NAMED 4u
/* CPUs whose idle tasks lack events: Linux 6.18 sometimes drops all events of a CPU's idle task. */
struct sched_idle_gap {
    uint32_t cpus[SCHED_CPUS_NAMED], count; /* the first of these CPUs, and their number */
    uint64_t to_idle, from_idle;            /* sums of these CPUs */
};

/* Counts of a walk. */
struct sched_counts {
    uint64_t switches, wakings;   /* switches: sched_switch events and SWITCH records in both directions */
    uint64_t losses;              /* LOST records */
    uint64_t contradictions;      /* events that contradict earlier ones */
    uint64_t most_contradictions; /* on most_cpu, the CPU with most of them */
    uint32_t most_cpu;            /* SCHED_NO_CPU: the CPUs of contradictions were not recorded */
    struct sched_idle_gap idle_gap;
    uint64_t unknown, unknown_ns; /* number and total time of unknown intervals */
    uint64_t late;                /* events older than a FINISHED_ROUND allows */
};

/* The place of a tid, + 1; 0: unused. */
struct sched_memo {
    uint32_t tid, place;
};
#define SCHED_MEMOS 1024u

struct thread_states {
    struct memory *memory;
    struct u64_map of;                    /* tid -> place in `threads` */
    struct sched_memo memos[SCHED_MEMOS]; /* by tid % SCHED_MEMOS: a recent find in `of` */
    struct u64_map outer; /* tid of the recorder's pid namespace -> tid of tracepoints, where they differ */
    struct sched_thread *threads;
    size_t count, room;
    struct sched_cpu *cpus;
    size_t nr_cpus, cpus_room;
    uint64_t begin;
    uint32_t lives;
    bool wakings, records, tracepoints; /* the recording has these events */
    bool wide;                          /* all threads of a CPU are recorded: the idle task was seen */
    struct sched_counts counts;
    pfr_status (*each)(void *context, const struct thread_interval *interval, pfr_error *err);
    void *context;
};

/* The recording begins at `begin`; `sources` states which events it has. */
void thread_states_init(struct thread_states *all, struct memory *memory, uint64_t begin,
                        const struct sched_sources *sources);
void thread_states_free(struct thread_states *all);
/* Errors: memory, limit, those of `each`. */
pfr_status thread_states_note(struct thread_states *all, const struct sched_event *event, pfr_error *err);
pfr_status thread_states_end(struct thread_states *all, uint64_t end, pfr_error *err);

#endif
