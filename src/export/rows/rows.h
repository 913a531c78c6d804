/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_ROWS_H
#define PFR_EXPORT_ROWS_H
/*
 * Formats that need more than the weight of each stack: samples with time, thread, cpu and stack, calls, marks. A row
 * sink is one row in a file of its own, listed in sinks.c. rows_export opens the public model of the recording with
 * what the row needs, opens the output and calls `write`, which walks the model as often as it needs:
 *
 *     static pfr_status put_sample(struct rows *r, const pfr_sample *s, pfr_error *err) { ... }
 *
 *     static pfr_status write_csv(struct rows *r, pfr_error *err) {
 *         const struct row_visit visit = {.sample = put_sample, .in_time_order = true};
 *         return rows_walk(r, &visit, err);
 *     }
 *
 * Calls that were never left have no duration: rows_walk leaves them out and counts them in `open_calls`, unless the
 * visit asks for them.
 */
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
    size_t offset; /* of a bool or a double in the state */
};

struct row_sink {
    pfr_export_format format;
    bool addresses;   /* the model as it is, with a frame for each address; else for each function, and without sampled
                         addresses that are not in their call chain */
    bool sums_events; /* one number for each stack: periods of several events do not add up */
    const struct row_option *options;
    size_t state_size; /* of what the sink keeps: zero at first */
    pfr_status (*write)(struct rows *r, pfr_error *err);
    void (*clear)(struct rows *r); /* always, also after a failure; may be NULL */
};

struct rows {
    const struct row_sink *sink;
    const pfr_selection *of;
    const pfr_export_options *options;
    const void *own;             /* of calls that are no exports by format */
    pfr_reader *reader, *beside; /* beside: the trace of the same run, or NULL */
    struct memory *memory;       /* the reader's */
    pfr_model *model;
    struct choice choice;
    struct output *out;    /* the file; of a format that is a folder NULL */
    struct pfr_output *to; /* the caller's output, also where `out` is a file */
    bool is_traced;        /* has calls */
    bool is_sampled;       /* has samples: both only with a trace beside the recording */
    bool by_weight;        /* outputs that have one number: the weight, not how many */
    uint32_t event;        /* id of the only one wanted; 0: all */
    uint64_t begin;        /* the earliest time of a sample or call, 0: there is no time */
    uint64_t end;          /* the latest */
    uint64_t open_calls;   /* left out by the last walk */
    uint32_t traced_event; /* id; 0: the recording is no trace */
    uint64_t row_id;       /* of the sample or call that a visit is given */
    void *walking;         /* of the visit at hand, where the state is not enough */
    struct output text;    /* of rows_symbol and rows_object_of: their last answer */
    void *state;
};

/* What a walk hands over; a NULL member is not asked for. */
struct row_visit {
    pfr_status (*sample)(struct rows *r, const pfr_sample *sample, pfr_error *err);
    pfr_status (*call)(struct rows *r, const pfr_call *call, pfr_error *err);
    pfr_status (*mark)(struct rows *r, const pfr_mark *mark, pfr_error *err);
    bool in_time_order; /* samples; calls come thread by thread in the order of exits */
    bool open_calls;    /* calls that were never left, too */
    uint32_t thread;    /* of this one only; 0: of all */
};

/* Samples, then calls, then marks, as the selection lets them through. */
pfr_status rows_walk(struct rows *r, const struct row_visit *visit, pfr_error *err);

/* The export of one format. `own` is for the sink, rows.own; `out` NULL: the sink writes nothing. */
pfr_status rows_run(const struct row_sink *sink, pfr_reader *reader, const pfr_export_options *options, const void *own,
                    pfr_output *out, pfr_error *err);

/* --- row_names.c: texts as recorded, to be escaped; valid until the next one. */

/* The function, or its object in brackets where it has no name. */
struct intern_text rows_symbol(struct rows *r, uint32_t symbol);
/* The object of a function as reports call it; empty for 0. */
struct intern_text rows_object_of(const struct rows *r, uint32_t symbol);
struct intern_text rows_comm(const struct rows *r, uint32_t comm);
/* The last name of a thread. */
struct intern_text rows_thread_name(const struct rows *r, uint32_t thread);
uint32_t rows_pid(const struct rows *r, uint32_t thread);
uint32_t rows_tid(const struct rows *r, uint32_t thread);
/* The innermost function of a stack; 0: it is empty. */
uint32_t rows_leaf(const struct rows *r, uint32_t stack);
const char *rows_event_name(const struct rows *r, uint32_t event);
/* What a mark counts, in a word: "lost". */
const char *rows_mark_name(const pfr_mark *mark);
/* An event that the traced program logged, not something that happened to the recording. */
static inline bool rows_is_logged(const pfr_mark *mark) {
    return mark->kind == PFR_MARK_CUSTOM || mark->kind == PFR_MARK_TYPED;
}
/* A fact of the recording, "" where it says nothing. */
const char *rows_meta(const struct rows *r, const char *key);
/* Tells the user, where there is somebody to tell. */
void rows_note(const struct rows *r, const char *sentence);

/* --- row_calls.c: calls of one thread in the order of their enters, callers before what they call. */

struct row_calls {
    pfr_call *at;
    size_t count;
};
typedef pfr_status row_thread_visit(struct rows *r, struct row_calls *calls, pfr_error *err);
/* Calls `visit` for each thread that has calls. A call that was never left ends with the last call inside it, and keeps
   its flag. */
pfr_status rows_each_thread(struct rows *r, row_thread_visit *visit, pfr_error *err);
/* By start instead: the two differ where clocks stepped back, or a thread was traced twice. */
void rows_sort_calls(struct row_calls *calls);
/* feed_rows.c: whether the selection lets the call through. */
bool rows_want_call(const struct rows *r, const pfr_call *call);

/* --- row_weights.c: sums by stack, as report counts them. */

/* Into arrays of pfr_model_count(PFR_TABLE_STACK) + 1 zeros; either may be NULL. `event` 0: all. [0] is what has no
   stack. */
struct row_weights {
    uint64_t *samples, *weight;
    size_t count;
};
pfr_status rows_weigh(struct rows *r, struct row_weights *to, uint32_t event, pfr_error *err);
/* The same in steps, for a sink that sees the samples anyway: zeros, then each sample, then the calls. */
pfr_status rows_weights_make(struct rows *r, struct row_weights *to, pfr_error *err);
void rows_weigh_sample(struct row_weights *to, const pfr_sample *sample);
pfr_status rows_weigh_calls(struct rows *r, struct row_weights *to, pfr_error *err);
void rows_weights_free(struct rows *r, struct row_weights *weights);

#endif
