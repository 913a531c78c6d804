/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_ROWS_H
#define PFR_EXPORT_ROWS_H
/*
 * Formats that need more than the weight of each stack: samples with time, thread, cpu and stack; calls; marks. A row
 * sink is one struct in a file of its own, listed in sinks.c. rows_run opens the public model of the recording with
 * the data that the sink needs, opens the output and calls `write`, which walks the model as often as necessary:
 *
 *     static pfr_status put_sample(struct rows *r, const pfr_sample *s, pfr_error *err) { ... }
 *
 *     static pfr_status write_csv(struct rows *r, pfr_error *err) {
 *         const struct row_visit visit = {.sample = put_sample, .in_time_order = true};
 *         return rows_walk(r, &visit, err);
 *     }
 *
 * Unfinished calls have no duration: rows_walk leaves them out and counts them in `open_calls`, unless the visit asks
 * for them.
 */
#include "base/io/external_sort.h"
#include "base/io/output.h"
#include "base/text/public_output.h"
#include "query/selected_samples.h"

#include <perfray/export.h>
#include <perfray/samples.h>
#include <perfray/spans.h>

struct rows;

enum row_option_kind { ROW_FLAG, ROW_PERCENT };

/* An option of one format: NAME or NAME=VALUE in pfr_export_options.settings, kept in the sink's state. */
struct row_option {
    const char *name; /* NULL: end of the list */
    enum row_option_kind kind;
    size_t offset; /* offset of a bool or a double in the state */
};

struct row_sink {
    pfr_export_format format;
    bool addresses;   /* true: the unchanged model, with a frame for each address; false: a frame for each function; a
                         sampled address that is not in the sample's callchain is left out */
    bool no_marks;    /* the format has neither marks nor ends of threads, which need a pass over the recording */
    bool sums_events; /* the format has one number per stack: exports of the periods of several events are refused */
    const struct row_option *options;
    size_t state_size; /* size of the sink's state, which is zeroed first */
    pfr_status (*write)(struct rows *r, pfr_error *err);
    void (*clear)(struct rows *r); /* always called, even after a failure; may be NULL */
};

struct rows {
    const struct row_sink *sink;
    const pfr_selection *of;
    const pfr_export_options *options;
    const void *own;             /* argument of rows_run */
    pfr_reader *reader, *beside; /* beside: the trace of the same run, or NULL */
    struct memory *memory;       /* the reader's */
    pfr_model *model;
    struct choice choice;
    struct output *out;    /* the file; NULL if the format is a folder */
    struct pfr_output *to; /* the caller's output, even if `out` is a file */
    bool is_traced;        /* the recording has calls */
    bool is_sampled;     /* the recording has samples; is_traced and is_sampled are both set only if `beside` is set */
    bool by_weight;      /* formats with one number use the weight instead of the count */
    uint32_t event;      /* id of the only selected event; 0: all */
    uint64_t begin;      /* the earliest time of a sample or call; 0: there are no times */
    uint64_t end;        /* the latest time of a sample or call */
    uint64_t open_calls; /* number of open calls that the last walk left out */
    uint32_t traced_event; /* event id of the calls; 0: the recording is not a trace */
    uint64_t row_id;       /* id of the sample or call passed to a visit */
    void *walking;         /* the sink's data for the current visit, besides the state */
    struct output text;    /* last result of rows_symbol */
    void *state;
};

/* Callbacks of a walk. If a callback is NULL, its data is skipped. */
struct row_visit {
    pfr_status (*sample)(struct rows *r, const pfr_sample *sample, pfr_error *err);
    pfr_status (*call)(struct rows *r, const pfr_call *call, pfr_error *err);
    pfr_status (*mark)(struct rows *r, const pfr_mark *mark, pfr_error *err);
    bool in_time_order; /* for samples; calls come thread by thread in the order of exits */
    bool open_calls;    /* include unfinished calls */
    uint32_t thread;    /* only this thread; 0: all */
};

/* Visits the selected samples, then calls, then marks. */
pfr_status rows_walk(struct rows *r, const struct row_visit *visit, pfr_error *err);

/* Runs the export of one format. `own` becomes rows.own, for the sink; `out` NULL: the sink writes no output. */
pfr_status rows_run(const struct row_sink *sink, pfr_reader *reader, const pfr_export_options *options, const void *own,
                    pfr_output *out, pfr_error *err);

/* --- row_names.c: texts as recorded, not escaped; a text is valid until the next call. */

/* The function's name; if it has no name, its object in brackets. */
struct intern_text rows_symbol(struct rows *r, uint32_t symbol);
/* The name of a function's object, as in perfray report; empty for symbol 0. */
struct intern_text rows_object_of(const struct rows *r, uint32_t symbol);
struct intern_text rows_comm(const struct rows *r, uint32_t comm);
/* The last name of a thread. */
struct intern_text rows_thread_name(const struct rows *r, uint32_t thread);
uint32_t rows_pid(const struct rows *r, uint32_t thread);
uint32_t rows_tid(const struct rows *r, uint32_t thread);
/* The innermost function of a stack; 0: the stack is empty. */
uint32_t rows_leaf(const struct rows *r, uint32_t stack);
const char *rows_event_name(const struct rows *r, uint32_t event);
/* Returns a word for the mark's kind, such as "lost" or "throttle". */
const char *rows_mark_name(const pfr_mark *mark);
/* Whether marks of this kind are events that the traced program logged; other marks are about the recording itself. */
static inline bool rows_kind_is_logged(pfr_mark_kind kind) {
    return kind == PFR_MARK_CUSTOM || kind == PFR_MARK_TYPED;
}
static inline bool rows_is_logged(const pfr_mark *mark) {
    return rows_kind_is_logged(mark->kind);
}
/* Returns the value of a fact about the recording; "" if the recording does not have it. */
const char *rows_meta(const struct rows *r, const char *key);
/* Passes a sentence to the user if the caller wants notes. */
void rows_note(const struct rows *r, const char *sentence);

/* --- row_calls.c: calls of one thread ordered by entry, callers before their callees. They are sorted in bounded
 * memory: see external_sort.h. */

struct row_call {
    uint64_t id, start, duration;
    int64_t self;
    uint32_t symbol, stack, depth, flags;
};

struct row_calls {
    uint32_t thread;
    uint64_t count, unfinished; /* unfinished: how many of them have no duration */
    struct rows *rows;
    struct external_sort by_entry, by_start;
    struct external_sort *now; /* the order in which they are read */
    bool only_finished;
};
typedef pfr_status row_thread_visit(struct rows *r, struct row_calls *calls, pfr_error *err);
/* Calls `visit` for each thread that has calls. */
pfr_status rows_each_thread(struct rows *r, row_thread_visit *visit, pfr_error *err);
/* Calls `visit` once, even if the thread has no calls. */
pfr_status rows_thread_calls(struct rows *r, uint32_t thread, row_thread_visit *visit, pfr_error *err);
/* Begins to read the calls, or reads them again. */
pfr_status row_calls_begin(struct row_calls *calls, pfr_error *err);
/* *call is valid until the next one is read. PFR_END: there are no more. */
pfr_status row_calls_next(struct row_calls *calls, const struct row_call **call, pfr_error *err);
/* From now on reads only finished calls, ordered by start time instead of by id, the order of entries in the trace. The
   two orders differ if a clock went back or a thread was traced twice. */
pfr_status row_calls_by_start(struct row_calls *calls, pfr_error *err);

/* The calls that are open while a thread's calls are read by entry. */
struct row_frame {
    uint64_t end; /* of an unfinished call: the latest end of a call directly inside it, so far */
    uint32_t symbol, depth;
    bool is_finished;
};

struct row_frames {
    struct row_frame *at;
    size_t count, room;
};
/* Removes the innermost frame and copies it to *left. Returns false if there is no frame, or if the innermost frame is
   less deep than `depth`, so that it stays open around a call of that depth. */
bool row_frames_pop(struct row_frames *frames, uint32_t depth, struct row_frame *left);
pfr_status row_frames_push(struct rows *r, struct row_frames *frames, const struct row_call *call, pfr_error *err);
void row_frames_free(struct rows *r, struct row_frames *frames);
/* feed_rows.c: whether the call is selected. */
bool rows_want_call(const struct rows *r, const pfr_call *call);

/* --- row_weights.c: sums by stack, as in perfray report. */

/* The sums of one stack; stack 0: samples without a stack. */
struct row_weight {
    uint64_t samples, weight;
    uint32_t stack;
};

/* Most stacks are only callers and have no sums, so sums are kept only for the others. */
struct row_weights {
    struct row_weight *at; /* ascending by stack once they are settled */
    size_t count, room;
    uint32_t *sum_of; /* by stack: its sum, from 1; 0: no sum. NULL once they are settled */
    size_t nr_stacks; /* PFR_TABLE_STACK, and one for stack 0 */
};
/* Sums all selected samples and calls, and settles the sums. `event` 0: all events. */
pfr_status rows_weigh(struct rows *r, struct row_weights *to, uint32_t event, pfr_error *err);
/* Computes the same sums in steps, for a sink that walks the samples anyway: after rows_weights_make the sink adds each
   sample, then adds the calls, and at the end settles the sums. */
pfr_status rows_weights_make(struct rows *r, struct row_weights *to, pfr_error *err);
pfr_status rows_weigh_sample(struct rows *r, struct row_weights *to, const pfr_sample *sample, pfr_error *err);
pfr_status rows_weigh_calls(struct rows *r, struct row_weights *to, pfr_error *err);
pfr_status rows_weights_settle(struct rows *r, struct row_weights *weights, pfr_error *err);
void rows_weights_free(struct rows *r, struct row_weights *weights);

#endif
