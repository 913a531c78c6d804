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
    struct slice *slices;  /* that its samples are read from; NULL: `columns` has all of them */
    uint64_t *slice_first; /* number of the first sample of each slice, and of all at the end */
    uint32_t nr_slices;
    struct pick_places *places; /* by event: as the profile had them */
    struct pfr_fact *facts, *meta;
    size_t nr_facts, facts_room, nr_meta, meta_room;
    struct model_calls *traced; /* calls of a trace; NULL: no trace */
    uint32_t traced_event;      /* id of the event that they are; 0 */
    uint64_t unmatched_exits, limited_calls;
    char release[128]; /* of the recorded kernel; "": not told */
    bool ticks, lossy;
};

/* --- model_tables.c */

/* One more row, a copy of `row`; rows may move. Errors: memory, limit (also for 2^32 - 1 rows). */
pfr_status rows_add(struct pfr_model *m, struct id_table *rows, const void *row, size_t size, uint32_t *id,
                    const char *table, pfr_error *err);
static inline void *row_at(const struct id_table *rows, uint32_t id, size_t size) {
    return id && id <= rows->count ? (uint8_t *)rows->at + id * size : NULL;
}
void model_init(struct pfr_model *m, struct memory *memory);
void model_sort_intervals(struct pfr_model *m); /* by start */
/* A text of the model's own; NULL stays NULL. */
pfr_status model_text(struct pfr_model *m, const char *text, size_t length, const char **own, pfr_error *err);
pfr_status columns_grow(struct memory *memory, struct sample_columns *c, size_t more, pfr_error *err);
void columns_free(struct memory *memory, struct sample_columns *c);
void columns_set(struct sample_columns *c, size_t at, const struct pfr_sample *row);
/* Rows of a batch, into the columns that are kept; and the columns of another one become `to`'s. */
void columns_append(struct sample_columns *c, const pfr_sample_batch *rows);
void columns_join(struct sample_columns *to, struct sample_columns *from);
/* The columns in another order: row i was row from[i]. */
pfr_status columns_permute(struct memory *memory, struct sample_columns *c, const uint32_t *from, pfr_error *err);

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
void stack_tree_init(struct stack_tree *t, struct pfr_model *m);
void stack_tree_free(struct stack_tree *t);
/* For a model that has stacks already. */
pfr_status stack_tree_resume(struct stack_tree *t, pfr_error *err);
/* Before nodes are added below `parent`: marks the symbols of it and of its callers. */
pfr_status stack_tree_begin(struct stack_tree *t, uint32_t parent, pfr_error *err);
/* A child of `parent`, which is the parent of stack_tree_begin or the child that was found last. */
pfr_status stack_tree_child(struct stack_tree *t, uint32_t parent, uint32_t frame, bool apart, uint32_t *id,
                            pfr_error *err);

/* --- model_frames.c */

struct frame_numbers {
    struct pfr_model *model;
    uint32_t *frame_of;  /* by the profile's frame; 0: not asked yet */
    uint32_t *object_of; /* by the state's object */
    size_t nr_frames, nr_objects;
    uint32_t unknown, limited; /* objects; 0: not made yet */
};
pfr_status frame_numbers_init(struct frame_numbers *n, struct pfr_model *m, pfr_error *err);
void frame_numbers_free(struct frame_numbers *n);
pfr_status frame_number(struct frame_numbers *n, uint32_t frame, uint32_t *id, pfr_error *err);
pfr_status frame_number_limited(struct frame_numbers *n, uint32_t *id, pfr_error *err);
/* Rows by what makes them equal; for the builder, too. */
pfr_status model_put_symbol(struct pfr_model *m, const pfr_model_symbol *symbol, bool inlined, uint32_t *id,
                            pfr_error *err);
pfr_status model_put_frame(struct pfr_model *m, const pfr_model_frame *frame, uint32_t *id, pfr_error *err);

/* The stack of each sample: `nodes` become ids of stacks, in place. */
pfr_status model_number_stacks(struct pfr_model *m, uint32_t *nodes, size_t count, pfr_error *err);

/* --- model_threads.c */

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
    return m->reader->events[event].public.attr.sample_type & PFR_SAMPLE_TID;
}
/* Whose the sample is, and what the thread was called: `name` has room for 16 bytes of a made one. */
void thread_look(const struct state *state, const struct profile_row *row, struct thread_view *view,
                 struct thread_key *key, struct intern_text *comm, char made[16]);
/* The rows of threads and comms, which model->thread_keys and model->comms have in the order of samples; and of those
   that no sample names. */
pfr_status model_make_threads(struct pfr_model *m, pfr_error *err);

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
    size_t count, room;
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
void collector_init(struct collector *c, struct pfr_model *m);
void collector_free(struct collector *c);
/* When all is counted: columns, nodes by sample, spans of events, and keys of threads and comms become the model's. */
pfr_status collector_settle(struct collector *c, pfr_error *err);

/* --- model_marks.c */
pfr_status model_make_marks(struct pfr_model *m, pfr_error *err);

/* --- model_intervals.c */
pfr_status model_make_intervals(struct pfr_model *m, pfr_error *err);

/* --- model_facts.c */
pfr_status model_make_facts(struct pfr_model *m, pfr_error *err);
/* What its times are of: "perf", "monotonic", ...; of a trace that was read for its clock. */
const char *model_clock_name(const pfr_reader *reader);

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

/* More rows, at most as many as there is room for; PFR_END: there are no more. Rows that the filters leave out are not
   among them. */
pfr_status samples_decode(struct pfr_samples *c, pfr_error *err);
pfr_status samples_decode_open(struct pfr_samples *c, pfr_error *err);
void samples_decode_rewind(struct pfr_samples *c);
void samples_decode_close(struct pfr_samples *c);
/* From the columns. */
pfr_status samples_copy(struct pfr_samples *c, pfr_error *err);
/* In file order, whatever they come from. */
pfr_status samples_fill(struct pfr_samples *c, pfr_error *err);
static inline bool samples_want(const struct pfr_samples *c, uint64_t time, uint32_t cpu, uint32_t event) {
    const pfr_samples_options *o = &c->options;
    return (!o->by_cpu || o->cpu == cpu) && (!o->event || o->event == event) &&
           (!c->timed || (time != PFR_NO_TIME && time >= o->first && (!o->last || time <= o->last)));
}

pfr_status samples_order_open(struct pfr_samples *c, pfr_error *err);
pfr_status samples_order_next(struct pfr_samples *c, pfr_error *err);
void samples_order_rewind(struct pfr_samples *c);
void samples_order_close(struct pfr_samples *c);

#endif
