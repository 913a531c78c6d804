/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_MODEL_PARTS_H
#define PFR_MODEL_MODEL_PARTS_H
/*
 * The public model (perfray/model.h), one file per concern:
 *
 *     model_open.c      options to a profile_request, the steps of loading
 *     model_collect.c   what the profile tells of each sample while it counts
 *     model_threads.c   threads, processes and comms
 *     model_frames.c    objects, symbols and frames of the profile, each once, by ids
 *     model_stacks.c    nodes of the profile to one tree, numbered by the samples in file order
 *     model_marks.c     losses, ends of threads
 *     model_intervals.c states of threads
 *     model_tables.c    rows by id
 *     model_facts.c     quality and what the recording says about itself
 *     model_weights.c   sums by stack; model_sums.c: by symbol, and by comm and symbol
 *     model_symbolize.c any address of the recording
 *     model_build.c     a model of rows that a caller puts
 *     calls_load.c, calls_cursor.c   calls of traces (calls_rows.h)
 *     samples_cursor.c  samples in batches
 *     samples_decode.c  out of the recording's slices,
 *     samples_order.c   in the order of time
 *
 * Ids depend on nothing but the recording: samples are numbered in file order, and what they refer to in the order in
 * which they refer to it first. How threads share the counting, and what numbers the profile gives, is not visible.
 */
#include "base/memory/fail.h"
#include "base/tables/intern.h"
#include "file/read/slice.h"
#include "model/profile/count/profile_parts.h"
#include "model/profile/count/profile_pick.h"

#include <perfray/samples.h>
#include <perfray/spans.h>

/* --- Tables. Row 0 of each is all zero. */

struct id_table {
    void *at;
    size_t room;
    uint32_t count; /* the last id */
};

/* Samples by column; those that are not kept are NULL. */
struct sample_columns {
    uint64_t *time, *weight, *period;
    uint32_t *thread, *comm, *cpu, *event, *stack;
    uint8_t *mode;
    size_t count, rooms[9]; /* rooms: of each, in the order of model_tables.c */
    uint32_t kept;          /* PFR_COLUMN_* */
};

#define ALL_COLUMNS                                                                                                    \
    (PFR_COLUMN_TIME | PFR_COLUMN_THREAD | PFR_COLUMN_CPU | PFR_COLUMN_EVENT | PFR_COLUMN_MODE | PFR_COLUMN_WEIGHT |   \
     PFR_COLUMN_PERIOD | PFR_COLUMN_STACK | PFR_COLUMN_COMM)

/* Who a sample belongs to: a row of the table of threads, from which pid and tid are those of the sample. */
struct thread_key {
    uint32_t generation, pid, tid;
};

struct model_calls;

/* Facts about the recording, by name, and what was left out. */
struct model_facts {
    struct pfr_fact *list, *meta;
    size_t count, room, nr_meta, meta_room;
    uint64_t unmatched_exits, limited_calls;
};

/* Where the samples of a recording are read again. */
struct model_slices {
    struct slice *list; /* NULL: `columns` has all samples */
    uint64_t *first;    /* number of the first sample of each slice, and of all at the end */
    uint64_t *least;    /* by number / SAMPLE_BATCH: no sample from there on is earlier; NULL: not known */
    size_t nr_least;
    uint32_t count;
};

struct pfr_model {
    struct memory *memory, own; /* own: of a model that was built */
    pfr_reader *reader;         /* NULL: it was built */
    struct profile *profile;    /* NULL: it was built */
    struct id_table events, processes, threads, objects, symbols, frames, stacks, intervals, marks, calls;
    struct intern_table comms;                   /* id - 1 -> name */
    struct intern_table thread_keys;             /* thread id - 1 -> struct thread_key */
    struct intern_table texts;                   /* of rows, as far as the profile does not have them */
    struct intern_table symbol_keys, frame_keys; /* while it is made */
    struct sample_columns columns;
    struct model_slices slices;
    struct pick_places *places; /* by event: as the profile had them */
    struct model_facts facts;
    struct model_calls *traced; /* calls of a trace; NULL: no trace */
    uint32_t traced_event;      /* id of the event that they are; 0 */
    bool ticks, lossy;
    bool has_slots; /* of a store: each sample has the time at which its slot begins */
};

/* --- model_tables.c */

static inline void *row_at(const struct id_table *rows, uint32_t id, size_t size) {
    return id && id <= rows->count ? (uint8_t *)rows->at + id * size : NULL;
}

/* --- model_stacks.c, for the profile and for the builder */

/* Finds or makes nodes of the one tree. */
struct stack_tree {
    struct pfr_model *model;
    uint32_t *slots; /* ids of stacks that do not follow their parent's */
    size_t slot_count, used;
    uint32_t *stamps; /* by symbol: of the path at hand */
    size_t stamps_room;
    uint32_t stamp;
};

/* --- model_frames.c */

struct frame_numbers {
    struct pfr_model *model;
    uint32_t *frame_of;  /* by the profile's frame; 0: not asked yet */
    uint32_t *object_of; /* by the state's object */
    size_t nr_frames, nr_objects;
    uint32_t unknown, limited; /* objects; 0: not made yet */
};

#define THREAD_MEMOS 128u
struct thread_memo {
    uint64_t from, until; /* moments: between them nothing of it changes */
    uint32_t pid, tid, thread, comm;
    bool used;
};
/* What tells threads and names of samples, for one thread of ours. */
struct thread_finder {
    const struct state *state;
    struct thread_memo memos[THREAD_MEMOS];
};
/* The memo of a sample; NULL, and *empty to be filled: nobody asked yet. */
static inline struct thread_memo *thread_known(struct thread_finder *f, uint32_t pid, uint32_t tid, uint64_t moment,
                                               struct thread_memo **empty) {
    struct thread_memo *memo = &f->memos[tid % THREAD_MEMOS];
    *empty = memo;
    return memo->used && memo->tid == tid && memo->pid == pid && memo->from < moment && moment < memo->until ? memo
                                                                                                             : NULL;
}
/* Whether samples of the event say whose they are. */
static inline bool model_has_thread(const struct pfr_model *m, uint32_t event) {
    return m->reader->events.list[event].public.attr.sample_type & PFR_SAMPLE_TID;
}

/* --- model_collect.c */

/* Distinct keys, and where each was first: run << 32 | number in the run. */
struct first_met {
    struct intern_table keys;
    uint64_t *first; /* by number */
    size_t room;
};
struct collect_worker {
    struct thread_finder finder;
    struct first_met threads, comms;
    struct event_span *spans; /* by event */
};
struct event_span {
    uint64_t first, last;
};
struct collect_run {
    uint32_t *nodes;
    uint64_t *least; /* by number / SAMPLE_BATCH: the earliest time */
    size_t count, room, least_room;
};
struct collector {
    struct pfr_model *model;
    struct collect_worker *workers;
    struct collect_run *runs;
    unsigned nr_workers, allotted; /* that are open; that there is room for */
    uint32_t nr_runs, nr_events;
    bool keeps_columns;      /* there is one run, and nobody can read it again */
    struct record_key *keys; /* of its rows, where they do not come in file order */
    size_t keys_room;
    bool keeps_keys;
    struct profile_each each;
};

/* --- Cursors. */

#define SAMPLE_BATCH 1024u

/* Rows of a batch on their way. */
struct sample_rows {
    uint64_t id[SAMPLE_BATCH], time[SAMPLE_BATCH], weight[SAMPLE_BATCH], period[SAMPLE_BATCH];
    uint32_t thread[SAMPLE_BATCH], comm[SAMPLE_BATCH], cpu[SAMPLE_BATCH], event[SAMPLE_BATCH], stack[SAMPLE_BATCH];
    uint8_t mode[SAMPLE_BATCH];
    uint32_t count;
};

struct pfr_samples {
    const struct pfr_model *model;
    struct memory memory; /* a share of the model's */
    pfr_samples_options options;
    bool filters, timed; /* any; by time */
    struct sample_rows rows;
    pfr_sample_batch batch;
    uint64_t next; /* number of the sample that comes next */
    /* samples_decode.c */
    pfr_reader *reader;
    uint32_t slice; /* that is read; nr_slices: at the end */
    bool in_slice;
    struct thread_finder *finder;
    pfr_record *records; /* of the batch, with options.records */
    uint8_t *bytes;      /* of them */
    size_t bytes_room, nr_bytes, record_at[SAMPLE_BATCH];
    struct sample_order *order; /* samples_order.c; NULL: file order */
};

static inline bool samples_want(const struct pfr_samples *c, uint64_t time, uint32_t cpu, uint32_t event) {
    const pfr_samples_options *o = &c->options;
    return (!o->by_cpu || o->cpu == cpu) && (!o->event || o->event == event) &&
           (!c->timed || (time != PFR_NO_TIME && time >= o->first && (!o->last || time <= o->last)));
}

#endif
