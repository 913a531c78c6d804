/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_PARTS_H
#define PFR_VIEW_OFFCPU_PARTS_H
/*
 * The steps from a recording to the table of waits, one file for each:
 *
 *     offcpu.c         options, the steps
 *     offcpu_filter.c  which threads, intervals and functions count
 *     offcpu_load.c    intervals to sums by thread, state, stack and waker
 *     offcpu_classes.c intervals to sums while the model is made
 *     offcpu_sums.c    the table of these sums
 *     offcpu_cgroups.c entries by cgroup
 *     offcpu_stacks.c  a stack's reason and the function of the program in it
 *     offcpu_rows.c    order of threads
 *     offcpu_text.c    the tree as text; offcpu_notes.c the lines above it
 *     offcpu_formats.c CSV and JSON
 *     offcpu_path.c    --wakers
 *     offcpu_locks.c   --locks
 */
#include <perfray/offcpu.h>

#include "base/text/public_output.h"
#include "model/open/model_parts.h"
#include "model/open/thread_index.h"
#include "model/open/wait_stacks.h"
#include "model/sched/sched_walk.h"
#include "model/sched/wait_reasons.h"
#include "query/sample_filter.h"
#include "view/offcpu/offcpu_classes.h"
#include "view/offcpu/offcpu_sums.h"

#define NO_THREAD UINT32_MAX

enum offcpu_state { OFFCPU_RUNNING, OFFCPU_RUNNABLE, OFFCPU_BLOCKED, OFFCPU_UNKNOWN, OFFCPU_STATES };

/* A thread, a process with all of its threads, or a cgroup with the threads that were in it. */
struct offcpu_thread {
    uint32_t id; /* row in the model; 0: there is no row */
    uint32_t pid, tid;
    const char *comm;                                     /* NULL: unnamed */
    uint32_t members;                                     /* threads of a process or cgroup */
    uint64_t state[OFFCPU_STATES], blocked[WAIT_REASONS]; /* ns */
    uint64_t preempted;                                   /* part of OFFCPU_RUNNABLE */
    uint64_t ended;        /* ns not on a CPU in waits that ended in the recording; threads are ordered by this time */
    uint64_t intervals;    /* before filters */
    const char *cgroup;    /* path, "unknown", or "" if there is no id; NULL: it is no cgroup */
    uint32_t first_cgroup; /* with BY_CGROUP, for a thread: index in `threads` of the thread's first cgroup; NO_THREAD:
                              not known yet */
    bool is_wanted, is_waker; /* is_waker: the thread ended a wait that is shown */
    bool is_commands;         /* of the recorded command or its descendants, which are printed first */
};

struct offcpu_stack {
    struct wait_stack facts;   /* computed on first use */
    bool is_searched, matches; /* matches: the stack has a requested function; valid if is_searched */
    uint32_t same;             /* see offcpu_program; 0: not yet known */
};

struct offcpu {
    const pfr_offcpu_options *options;
    pfr_reader *reader;
    struct memory *memory;
    struct pfr_model *model;
    char machine[WAIT_MACHINE_ROOM];
    struct sched_walk walk;
    struct sched_walking *walking; /* while the model is made */
    struct memory share;           /* of `memory`, for the thread states meanwhile */
    struct offcpu_classes classes;
    struct thread_index index;
    bool no_numbers; /* stacks of samples are not used, because model and walk counted different numbers of samples */
    uint64_t nr_commands; /* threads, or processes, of the recorded command that are wanted */
    /* filters */
    struct sample_filter filter;
    uint64_t least;
    /* threads */
    struct offcpu_thread *threads;
    size_t nr_threads, threads_room;
    uint32_t *of_id; /* by id in the model: index of the thread + 1 */
    size_t of_id_room;
    struct u64_map of_tid;    /* threads that the model does not have, processes, cgroups */
    struct u64_map in_cgroup; /* cgroup << 32 | thread: the thread is counted as a member of the cgroup */
    uint32_t *of_life;        /* by life: index of the thread + 1 */
    size_t lives, lives_room;
    /* sums */
    struct offcpu_sums sums;
    struct offcpu_stack *stacks;
    size_t nr_stacks;
    struct u64_map frame_texts, chain_texts; /* see offcpu_program */
    /* for --wakers: all intervals, in the order of their ends; for --locks: the waits for locks */
    struct thread_interval *intervals;
    size_t nr_intervals, intervals_room;
    /* order */
    uint32_t *thread_order; /* sorted by the time that they waited */
    size_t shown;
    uint64_t hidden_sleepers; /* threads without any switch */
    bool lossy;
    bool is_muted; /* the recording is read once more: everything was reported */
};

#define OFFCPU_NOTE_ROOM WAIT_NOTE_ROOM

#endif
