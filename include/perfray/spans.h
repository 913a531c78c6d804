/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SPANS_H
#define PERFRAY_SPANS_H
/*
 * Data of a model other than samples: calls of a trace, intervals in which a thread was in one state, and marks, which
 * are single events (losses, throttling, events that a traced program logged).
 *
 * Calls are those of pfr_latency_print(): entries and exits are paired thread by thread. Call ids count from 1, thread
 * after thread, within a thread in the order of entries, so that a caller has a smaller id than its callees. Batches
 * come thread by thread in the order of exits.
 *
 * Times are in ns of the model's clock (pfr_model_meta "clock"), or in ticks (pfr_model_ticks).
 *
 * Example, calls that took longer than a millisecond:
 *
 *     pfr_calls_options options = {.size = sizeof options, .min_duration = 1000000};
 *     pfr_calls *cursor = pfr_calls_open(model, &options, &err);
 *     const pfr_call_batch *b;
 *     while (pfr_calls_next(cursor, &b, &err) == PFR_OK)
 *         for (uint32_t i = 0; i < b->count; i++)
 *             use(b->start[i], b->duration[i], b->symbol[i]);
 *     pfr_calls_close(cursor);
 */
#include <perfray/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* pfr_call.flags */
#define PFR_CALL_TAIL (1u << 0)     /* left by a tail exit */
#define PFR_CALL_BACKWARD (1u << 1) /* the clock stepped back: the exit is before the entry, and the duration is 0 */
#define PFR_CALL_OPEN (1u << 2)     /* no exit was recorded: duration and self are 0 and have no meaning */
#define PFR_CALL_ARGUMENT (1u << 3) /* `argument` is known */
#define PFR_CALL_LIMITED                                                                                               \
    (1u << 4) /* there was no memory for its call path: stack, parent and depth are 0, which means unknown */

typedef struct pfr_call {
    uint64_t start, duration; /* from entry to exit, including callees */
    int64_t self;             /* duration without the direct callees; negative if clocks stepped back */
    uint64_t parent;          /* id of the calling call; 0: no caller, or not recorded */
    uint64_t argument;        /* first argument of the function (XRay arg1 logging), with PFR_CALL_ARGUMENT. Unknown in
                                 threads with PFR_CALL_LIMITED, and in traces with calls nested too deep */
    uint32_t thread;          /* id */
    uint32_t symbol;          /* id of the function */
    uint32_t stack;           /* id of its call path, cut to the innermost pfr_model_options.max_stack calls */
    uint32_t depth;           /* number of its callers in its thread */
    uint32_t flags;           /* PFR_CALL_* */
} pfr_call;

typedef struct pfr_calls pfr_calls;

typedef struct pfr_calls_options {
    size_t size;           /* sizeof(pfr_calls_options) */
    uint64_t first, last;  /* only calls that overlap this range, both ends included; last 0: no upper bound. An
                              unfinished call lasts to the end of the trace */
    uint64_t min_duration; /* only calls of at least this duration; unless 0, unfinished calls are left out */
    uint32_t thread;       /* only calls of this thread (id); 0: of all */
    uint32_t symbol;       /* only calls of this function (id); 0: of all */
} pfr_calls_options;

/* Columns of `count` calls, with the same rules as pfr_sample_batch. */
typedef struct pfr_call_batch {
    uint32_t count;
    const uint64_t *id, *start, *duration;
    const int64_t *self;
    const uint64_t *parent, *argument;
    const uint32_t *thread, *symbol, *stack, *depth, *flags;
} pfr_call_batch;

/* As pfr_samples_open and pfr_samples_next. A model without a trace has no calls: pfr_calls_next() returns PFR_END at
   once. It returns PFR_ERR_IO if the temporary file of a large trace cannot be read. */
pfr_calls *pfr_calls_open(const pfr_model *model, const pfr_calls_options *options, pfr_error *err);
pfr_status pfr_calls_next(pfr_calls *cursor, const pfr_call_batch **batch, pfr_error *err);
pfr_status pfr_calls_rewind(pfr_calls *cursor, pfr_error *err);
void pfr_calls_close(pfr_calls *cursor);
/* Number of calls in the model, including unfinished ones. */
uint64_t pfr_model_call_count(const pfr_model *model);

/* --- States of threads, if the recording contains the times at which threads left a CPU or got one: events
   sched:sched_switch, with sched:sched_waking for wakers, or SWITCH records (record --off-cpu, --switch-events). The
   intervals of a thread follow each other without gaps, from its FORK or the first such event to its EXIT or the last
   such event. offcpu.h defines states and reasons. pfr_model_options.no_intervals omits intervals. */

typedef enum pfr_interval_kind {
    PFR_INTERVAL_WAITING,   /* blocked: since the thread gave up its CPU, until it was woken */
    PFR_INTERVAL_PREEMPTED, /* runnable: lost its CPU to another thread */
    PFR_INTERVAL_WOKEN,     /* runnable: woken or new, and waiting for a CPU */
    PFR_INTERVAL_RUNNING,
    PFR_INTERVAL_UNKNOWN /* records were lost in this interval, or contradict each other */
} pfr_interval_kind;

typedef enum pfr_wait_reason {
    PFR_WAIT_NONE, /* not PFR_INTERVAL_WAITING */
    PFR_WAIT_OTHER,
    PFR_WAIT_LOCK,
    PFR_WAIT_PIPE,
    PFR_WAIT_SOCKET,
    PFR_WAIT_DISK,
    PFR_WAIT_TIMER,
    PFR_WAIT_FAULT,
    PFR_WAIT_CHILD,
    PFR_WAIT_SIGNAL
} pfr_wait_reason;

typedef struct pfr_interval {
    uint64_t start, duration; /* ns */
    uint32_t thread;          /* id */
    uint32_t stack;           /* id of the thread's stack when it left its CPU; 0: not recorded */
    uint32_t cpu;             /* the CPU on which it ran or which it left; PFR_NO_CPU: not recorded */
    pfr_interval_kind kind;
    pfr_wait_reason reason;
    uint32_t waker, waker_stack; /* ids of the thread that ended a wait, and of its stack then; 0: not known, or no
                                    thread */
    bool open_start, open_end;   /* the interval began before the first event; it ended after the last event */
} pfr_interval;

/* The name of a reason: "lock", "pipe", ...; "" for PFR_WAIT_NONE. Static text. */
const char *pfr_wait_reason_name(pfr_wait_reason reason);

/* Interval `index`, from 0, ordered by start, then by thread; NULL after the last one. Valid until the model is
   closed. */
const pfr_interval *pfr_model_interval(const pfr_model *model, uint64_t index);

/* --- Marks. */

typedef enum pfr_mark_kind {
    PFR_MARK_LOST,         /* the kernel dropped `count` records (LOST) */
    PFR_MARK_LOST_SAMPLES, /* the kernel dropped `count` samples (LOST_SAMPLES) */
    PFR_MARK_THROTTLE,     /* an event was throttled */
    PFR_MARK_UNTHROTTLE,   /* an event was resumed */
    PFR_MARK_HOLE,         /* an unreadable range of `count` bytes; text says why */
    PFR_MARK_OTHER,        /* added by pfr_build_mark() */
    PFR_MARK_CUSTOM,       /* the traced program logged `count` bytes: a custom event of XRay; text if printable */
    PFR_MARK_TYPED         /* the same with a number, `type`: a typed event */
} pfr_mark_kind;

/* The text of PFR_MARK_CUSTOM and PFR_MARK_TYPED is the payload if it is UTF-8 without control characters (tabs and
   ends of lines are allowed, a NUL at the end is dropped); otherwise the text is NULL. It is cut to this many bytes,
   between characters. The record at `offset` has the whole payload. */
#define PFR_MARK_TEXT_MOST 4096u

typedef struct pfr_mark {
    uint64_t time;   /* PFR_NO_TIME: not recorded */
    uint64_t count;  /* see the kind */
    uint64_t offset; /* offset of the record in the file; PFR_NO_OFFSET: not known */
    uint32_t thread; /* id; 0: not known */
    uint32_t cpu;    /* PFR_NO_CPU: not recorded */
    uint32_t event;  /* id; 0: not known */
    pfr_mark_kind kind;
    const char *text; /* may be NULL */
    uint32_t type;    /* of PFR_MARK_TYPED; else 0 */
} pfr_mark;

/* Mark `index`, from 0, in file order; NULL after the last one. In a model with `beside`, the marks of the recording
   precede those of the trace. Valid until the model is closed. Notes that perfray's own runtime writes to its traces
   are not marks. */
const pfr_mark *pfr_model_mark(const pfr_model *model, uint64_t index);

#ifdef __cplusplus
}
#endif
#endif
