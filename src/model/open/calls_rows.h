/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_ROWS_H
#define PFR_MODEL_CALLS_ROWS_H
/*
 * Calls of a model: one row per call, for each thread in the order of exits. Ids are in the order of enters. Ids,
 * callers and depths are not stored, but computed when rows are read. The depth of a call is that of its path. The
 * order of exits and the depths determine the rest: a call was entered after all calls that had been left by then, and
 * after its callers.
 *
 *     calls_load.c       a trace to rows, functions to symbols, paths to stacks
 *     calls_arguments.c  first arguments, where calls have some
 *     calls_marks.c      events that the program logged, as marks
 *     calls_spill.c      rows in memory and in a temporary file
 *     calls_cursor.c     rows in batches
 */
#include "file/xray/xray_clock.h"
#include "model/calls/calls.h"
#include "model/open/model_parts.h"

struct call_row {
    uint64_t exit, latency; /* ticks; for an open call, its enter and 0 */
    int64_t self;
    uint32_t path, flags; /* flags: PFR_CALL_* */
};

/* Shared by all calls of a path. */
struct call_path_row {
    uint32_t stack, symbol, depth;
};

/* First argument of a call. */
struct call_argument {
    uint64_t number; /* number of the call in its thread, from 0 in the order of enters */
    uint64_t tick;   /* tick of its enter */
    uint64_t value;
};

struct call_thread {
    int32_t pid, tid;      /* 0 where not known */
    uint32_t thread;       /* id */
    bool limited;          /* some paths are unknown: rows are numbered in the order of exits, and have no callers */
    struct call_row *rows; /* from number `spilled` on; earlier rows are in the file: see calls_spill.h */
    size_t count, room, spilled;
    struct call_extent *extents;
    size_t nr_extents, extents_room;
    uint64_t first;                  /* number of calls in the previous threads */
    struct call_argument *arguments; /* by number */
    size_t nr_arguments, arguments_room;
    uint64_t entered; /* number of enters so far, while arguments are read */
};

struct model_calls {
    struct call_thread *threads; /* by pid and tid */
    size_t nr_threads, threads_room;
    struct call_path_row *paths;
    size_t nr_paths;
    uint64_t count, resident; /* rows of all threads; those in memory */
    int file;
    bool has_file;
    uint64_t file_size;
    struct xray_clock clock;
};

/* Loads the calls of a trace, and all other rows of the model to which they refer. */
struct calls_loading {
    struct pfr_model *model;
    const pfr_model_options *options;
    pfr_reader *trace;
    void (*hole)(void *context, const pfr_error *hole);
    void *context;
};
pfr_status model_load_calls(struct calls_loading *l, pfr_error *err);
void model_free_calls(struct pfr_model *m);
int call_threads_compare(const void *a, const void *b); /* by pid and tid */

/* model_load_calls uses it when all calls are read and the threads are sorted. Reads the whole
   trace again. */
pfr_status model_load_arguments(struct pfr_model *m, pfr_reader *trace, pfr_error *err);
/* Finds the row of a thread; makes a row for a thread without calls. */
struct trace_threads {
    pfr_status (*find)(void *context, int32_t pid, int32_t tid, uint32_t *id, pfr_error *err);
    void *context;
};
/* model_load_calls uses it as well, after all calls are read. Reads the whole trace again. */
pfr_status model_load_events(struct pfr_model *m, pfr_reader *trace, const struct trace_threads *threads,
                             pfr_error *err);
void model_free_arguments(struct pfr_model *m, struct call_thread *t);
/* Finds the argument of call `number` of the thread, whose row is `row`. false: the trace does not have it. */
bool call_argument_find(const struct call_thread *t, uint64_t number, const struct call_row *row, uint64_t *value);
/* Adds up the self times by stack, in ticks; a negative sum counts as 0. */
pfr_status calls_add_self(const struct pfr_model *m, uint64_t *self, pfr_error *err);

#endif
