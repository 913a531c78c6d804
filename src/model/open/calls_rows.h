/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_ROWS_H
#define PFR_MODEL_CALLS_ROWS_H
/*
 * Calls of a model: of each thread one row a call, in the order of exits, of which ids, callers and depths are made
 * again when they are read. Ids are in the order of enters. Exits and depths are enough to know that order: a call was
 * entered after all calls that were left before its enter, and after those that it is in.
 *
 *     calls_load.c       a trace to rows, functions to symbols, paths to stacks
 *     calls_arguments.c  first arguments, where calls have some
 *     calls_marks.c      events that the program logged, as marks
 *     calls_cursor.c     rows in batches
 */
#include "file/xray/xray_clock.h"
#include "model/calls/calls.h"
#include "model/open/model_parts.h"

struct call_row {
    uint64_t exit, latency; /* ticks; of an open call its enter, and 0 */
    int64_t self;
    uint32_t path, flags; /* flags: PFR_CALL_* */
};

/* Shared by all calls of a path. */
struct call_path_row {
    uint32_t stack, symbol, depth;
};

/* The first one of a call. */
struct call_argument {
    uint64_t number; /* of the call in its thread, from 0 in the order of enters */
    uint64_t tick;   /* of its enter */
    uint64_t value;
};

struct call_thread {
    int32_t pid, tid; /* 0 where not known */
    uint32_t thread;  /* id */
    bool limited;     /* of some paths nothing is known: rows are numbered as they come, without callers */
    struct call_row *rows;
    size_t count, room;
    uint64_t first;                  /* calls of the threads before */
    struct call_argument *arguments; /* by number */
    size_t nr_arguments, arguments_room;
    uint64_t entered; /* while they are read */
};

struct model_calls {
    struct call_thread *threads; /* by pid and tid */
    size_t nr_threads, threads_room;
    struct call_path_row *paths;
    size_t nr_paths;
    uint64_t count;
    struct xray_clock clock;
};

/* Of a trace; `names` are open. Everything of the model that calls need. */
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

/* After the calls, whose threads are in their order. Reads the whole trace. */
pfr_status model_load_arguments(struct pfr_model *m, pfr_reader *trace, pfr_error *err);
/* The row of a thread, made if it has no calls. */
struct trace_threads {
    pfr_status (*find)(void *context, int32_t pid, int32_t tid, uint32_t *id, pfr_error *err);
    void *context;
};
/* After the calls, too. Reads the whole trace. */
pfr_status model_load_events(struct pfr_model *m, pfr_reader *trace, const struct trace_threads *threads,
                             pfr_error *err);
void model_free_arguments(struct pfr_model *m, struct call_thread *t);
/* Of call `number` of its thread, which is `row`; false: the trace does not have it. */
bool call_argument_find(const struct call_thread *t, uint64_t number, const struct call_row *row, uint64_t *value);
/* Self time by stack, in ticks; what is below 0 counts as 0. */
pfr_status calls_add_self(const struct pfr_model *m, uint64_t *self, pfr_error *err);

#endif
