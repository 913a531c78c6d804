/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_MODEL_PARTS_H
#define PFR_MODEL_MODEL_PARTS_H
/*
 * The public model (perfray/model.h), one file per concern:
 *
 *     model_open.c      options to a profile_request, the steps of loading
 *     model_collect.c   data of each sample, while the profile counts
 *     model_threads.c   threads, processes and comms
 *     model_frames.c    objects, symbols and frames of the profile, each once, by ids
 *     model_stacks.c    joins the profile's trees into one, numbered by the samples in file order
 *     model_marks.c     losses, ends of threads
 *     model_intervals.c states of threads
 *     model_tables.c    rows by id
 *     model_facts.c     quality and metadata of the recording
 *     model_weights.c   sums by stack; model_sums.c: by symbol, and by comm and symbol
 *     model_symbolize.c any address of the recording
 *     model_build.c     a model of rows that the caller adds
 *     calls_load.c, calls_cursor.c   calls of traces (calls_rows.h)
 *     samples_cursor.c  samples in batches
 *     samples_decode.c  samples read again from the slices of the recording
 *     samples_order.c   samples in order of time
 *
 * Ids depend only on the recording and the options: samples are numbered in file order, and other
 * rows in the order in which samples first refer to them. Neither the number of worker threads nor
 * the numbering of the profile affects ids.
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

/* Samples by column. Columns that are not kept are NULL. */
struct sample_columns {
    uint64_t *time, *weight, *period;
    uint32_t *thread, *comm, *cpu, *event, *stack;
    uint8_t *mode;
    size_t count, rooms[9]; /* rooms: of each column, in the order of model_tables.c */
    uint32_t kept;          /* PFR_COLUMN_* */
};

#define ALL_COLUMNS                                                                                                    \
    (PFR_COLUMN_TIME | PFR_COLUMN_THREAD | PFR_COLUMN_CPU | PFR_COLUMN_EVENT | PFR_COLUMN_MODE | PFR_COLUMN_WEIGHT |   \
     PFR_COLUMN_PERIOD | PFR_COLUMN_STACK | PFR_COLUMN_COMM)

/* Key of a row of the table of threads; pid and tid are those of the samples. */
struct thread_key {
    uint32_t generation, pid, tid;
};

/* An EXIT record. */
struct thread_end {
    struct record_key key;
    uint64_t time;
    uint32_t pid, tid;
};

struct model_calls;

/* Facts about the recording by name, and counts of exits without an enter and of calls in
   [limit]. */
struct model_facts {
    struct pfr_fact *list, *meta;
    size_t count, room, nr_meta, meta_room;
    uint64_t unmatched_exits, limited_calls;
    uint64_t unknown_states; /* intervals of threads whose state is unknown */
    bool sampled_states;     /* switches or wake-ups were sampled */
};

/* The slices from which samples are read again. */
struct model_slices {
    struct slice *list; /* NULL: `columns` has all samples */
    uint64_t *first;    /* number of the first sample of each slice; at the end the number of all samples */
    uint64_t *least;    /* by number / SAMPLE_BATCH: the earliest time of all samples from there on; NULL: not known */
    size_t nr_least;
    uint32_t count;
};

struct pfr_model {
    struct memory *memory, own; /* own: memory of a built model */
    pfr_reader *reader;         /* NULL: a built model */
    struct profile *profile;    /* NULL: a built model, or only a trace */
    struct id_table events, processes, threads, objects, symbols, frames, stacks, intervals, marks, calls;
    struct intern_table comms;                   /* id - 1 -> name */
    struct intern_table thread_keys;             /* thread id - 1 -> struct thread_key */
    struct intern_table texts;                   /* texts of rows that are not in the profile */
    struct intern_table symbol_keys, frame_keys; /* only while the model is made */
    struct sample_columns columns;
    struct model_slices slices;
    struct pick_places *places; /* by event: offsets of values in its samples, for cursors */
    struct model_facts facts;
    uint32_t *cgroups; /* by thread id: path in the state's names plus 1, 0: unknown; NULL: no samples have cgroups */
    uint32_t nr_cgroups;
    struct thread_end *ends; /* ends of threads that have no rows yet */
    size_t nr_ends, ends_room;
    struct model_calls *traced; /* calls of a trace; NULL: no trace */
    uint32_t traced_event;      /* id of the event of these calls; 0: no trace */
    bool ticks, lossy;
    bool has_slots; /* the model is of a store: the time of a sample is the start of its slot */
};

/* --- model_tables.c */

static inline void *row_at(const struct id_table *rows, uint32_t id, size_t size) {
    return id && id <= rows->count ? (uint8_t *)rows->at + id * size : NULL;
}

/* --- model_stacks.c, for the profile and for the builder */

/* Finds or makes nodes of the model's tree. */
struct stack_tree {
    struct pfr_model *model;
    uint32_t *slots; /* hash table of the stacks whose id does not directly follow that of their parent */
    size_t slot_count, used;
    uint32_t *stamps; /* by symbol: equal to `stamp` if the symbol is in the current path */
    size_t stamps_room;
    uint32_t stamp;
    bool is_copy; /* all children to add are different, so they need no hash table */
};

/* --- model_frames.c */

struct frame_numbers {
    struct pfr_model *model;
    uint32_t *frame_of;  /* by frame of the profile; 0: not requested yet */
    uint32_t *object_of; /* by object of the state */
    size_t nr_frames, nr_objects;
    uint32_t unknown, limited; /* ids of objects; 0: not made yet */
    bool merged;               /* two frames of the profile are one of the model */
};

#define THREAD_MEMOS 512u
struct thread_memo {
    uint64_t from, until; /* timestamp keys between which thread and name do not change */
    uint32_t pid, tid, thread, comm;
    bool used;
};
/* Finds the threads and names of samples; each worker thread has its own. */
struct thread_finder {
    const struct state *state;
    struct thread_memo memos[THREAD_MEMOS];
};
/* The cached thread of a sample. NULL: not cached; fill *empty. */
static inline struct thread_memo *thread_known(struct thread_finder *f, uint32_t pid, uint32_t tid, uint64_t moment,
                                               struct thread_memo **empty) {
    struct thread_memo *memo = &f->memos[tid % THREAD_MEMOS];
    *empty = memo;
    return memo->used && memo->tid == tid && memo->pid == pid && memo->from < moment && moment < memo->until ? memo
                                                                                                             : NULL;
}
/* Whether samples of the event contain pid and tid. */
static inline bool model_has_thread(const struct pfr_model *m, uint32_t event) {
    return m->reader->events.list[event].public.attr.sample_type & PFR_SAMPLE_TID;
}

/* --- model_collect.c */

/* Distinct keys with the first sample of each: run << 32 | number in the run. */
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
    unsigned nr_workers, allotted; /* number of open workers; number of allocated ones */
    uint32_t nr_runs, nr_events;
    bool keeps_columns;      /* there is one run, whose samples cannot be read again */
    struct record_key *keys; /* keys of its rows, if they do not come in file order */
    size_t keys_room;
    bool keeps_keys;
    struct profile_each each;
    /* With a watch (model_watch.h), `columns` has each stack once, in the order of its first sample. */
    const struct model_watch *watch;
    uint32_t *number_of; /* by node: number of the stack, + 1; 0: no sample has it yet */
    size_t numbers_room;
    uint32_t limited; /* the same for [limit] */
    uint64_t watched; /* number of samples */
};

/* --- Cursors. */

#define SAMPLE_BATCH 1024u

/* Rows of the batch that is being made. */
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
    bool timed; /* there is a filter by time */
    struct sample_rows rows;
    pfr_sample_batch batch;
    uint64_t next; /* number of the next sample */
    /* samples_decode.c */
    pfr_reader *reader;
    uint32_t slice; /* the next slice; slices.count: there are no more */
    bool in_slice;
    struct thread_finder *finder;
    pfr_record *records; /* records of the batch, with options.records */
    uint8_t *bytes;      /* bytes of these records */
    size_t bytes_room, nr_bytes, record_at[SAMPLE_BATCH];
    struct sample_order *order; /* samples_order.c; NULL: file order */
};

static inline bool samples_want(const struct pfr_samples *c, uint64_t time, uint32_t cpu, uint32_t event) {
    const pfr_samples_options *o = &c->options;
    return (!o->by_cpu || o->cpu == cpu) && (!o->event || o->event == event) &&
           (!c->timed || (time != PFR_NO_TIME && time >= o->first && (!o->last || time <= o->last)));
}

#endif
