/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SPANS_H
#define PERFRAY_SPANS_H
/*
 * Events with a duration, and single events beside samples: calls of a trace, intervals in which a thread was
 * in one state, marks (losses, throttling, events that a traced program logged).
 *
 * Calls are those of pfr_latency_print: enters and exits paired thread by thread. Ids number them from 1: threads one
 * after the other, in each in the order of their enters, so that a caller has a smaller id than what it called.
 * Batches come thread by thread in the order of exits.
 *
 * Times are ns of the model's clock (pfr_model_meta "clock"), or ticks (pfr_model_ticks).
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
#define PFR_CALL_BACKWARD (1u << 1) /* the clock stepped back: its exit is before its enter, the duration 0 */
#define PFR_CALL_OPEN (1u << 2)     /* never left: duration and self are 0 and mean nothing */
#define PFR_CALL_ARGUMENT (1u << 3) /* `argument` is known: it was recorded, and is that of this call */
#define PFR_CALL_LIMITED                                                                                               \
    (1u << 4) /* memory had no room for its path: stack is 0, parent and depth are not known (0)                       \
               */

typedef struct pfr_call {
    uint64_t start, duration; /* from enter to exit, callees included */
    int64_t self;             /* without its direct callees; below 0 where clocks stepped back */
    uint64_t parent;          /* id of the call it was made in; 0: no caller, or not recorded */
    uint64_t argument;        /* the first, as the trace has it (XRay arg1 logging); with PFR_CALL_ARGUMENT. Not of
                                 calls of threads with PFR_CALL_LIMITED, and of none where calls were too deep */
    uint32_t thread;          /* id */
    uint32_t symbol;          /* id of the function */
    uint32_t stack;           /* id: its path, cut to the innermost pfr_model_options.max_stack calls */
    uint32_t depth;           /* calls around it in its thread */
    uint32_t flags;           /* PFR_CALL_* */
} pfr_call;

typedef struct pfr_calls pfr_calls;

typedef struct pfr_calls_options {
    size_t size;           /* sizeof(pfr_calls_options) */
    uint64_t first, last;  /* calls that overlap this range, both included; last 0: no upper bound. An open call lasts
                              to the end */
    uint64_t min_duration; /* at least so long; open calls are left out unless it is 0 */
    uint32_t thread;       /* of this thread only (id); 0: of all */
    uint32_t symbol;       /* of this function only (id); 0: of all */
} pfr_calls_options;

/* As pfr_sample_batch. */
typedef struct pfr_call_batch {
    uint32_t count;
    const uint64_t *id, *start, *duration;
    const int64_t *self;
    const uint64_t *parent, *argument;
    const uint32_t *thread, *symbol, *stack, *depth, *flags;
} pfr_call_batch;

/* As pfr_samples_open and pfr_samples_next. A recording without a trace has no calls: PFR_END at once. */
pfr_calls *pfr_calls_open(const pfr_model *model, const pfr_calls_options *options, pfr_error *err);
pfr_status pfr_calls_next(pfr_calls *cursor, const pfr_call_batch **batch, pfr_error *err);
pfr_status pfr_calls_rewind(pfr_calls *cursor, pfr_error *err);
void pfr_calls_close(pfr_calls *cursor);
/* Calls of the model, open ones among them; a profile file has sums only: 0. */
uint64_t pfr_model_call_count(const pfr_model *model);

/* --- States of threads, if the recording says when they left and took a cpu: by sched:sched_switch, with wakers by
   sched:sched_waking, or by SWITCH records (record --off-cpu, --switch-events). The intervals of a thread follow each
   other without gaps, from its FORK or the first such event to its EXIT or the last one. See offcpu.h for the meaning
   of states and reasons. pfr_model_options.no_intervals omits them. */

typedef enum pfr_interval_kind {
    PFR_INTERVAL_WAITING,   /* blocked: gave up its cpu, until it was woken */
    PFR_INTERVAL_PREEMPTED, /* runnable: lost its cpu to another thread */
    PFR_INTERVAL_WOKEN,     /* runnable: woken or new, and waiting for a cpu */
    PFR_INTERVAL_RUNNING,
    PFR_INTERVAL_UNKNOWN /* records were lost in between, or contradict each other */
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
    uint32_t stack;           /* id: where it left its cpu; 0: not recorded */
    uint32_t cpu;             /* that it ran on or left; PFR_NO_CPU: not recorded */
    pfr_interval_kind kind;
    pfr_wait_reason reason;
    uint32_t waker, waker_stack; /* ids: the thread that ended a wait, and where it did; 0: not known, or no thread */
    bool open_start, open_end;   /* it began before the first event, or lasted beyond the last one */
} pfr_interval;

/* The name of a reason: "lock", "pipe", ...; "" for PFR_WAIT_NONE. Static text. */
const char *pfr_wait_reason_name(pfr_wait_reason reason);

/* Interval `index` from 0, by start, then by thread; NULL past the end. Lives as long as the model. */
const pfr_interval *pfr_model_interval(const pfr_model *model, uint64_t index);

/* --- Marks. */

typedef enum pfr_mark_kind {
    PFR_MARK_LOST,         /* the kernel dropped `count` records (LOST) */
    PFR_MARK_LOST_SAMPLES, /* `count` samples (LOST_SAMPLES) */
    PFR_MARK_THROTTLE,     /* an event was throttled */
    PFR_MARK_UNTHROTTLE,   /* and went on */
    PFR_MARK_HOLE,         /* an unreadable range of `count` bytes; text says why */
    PFR_MARK_OTHER,        /* of a builder */
    PFR_MARK_CUSTOM,       /* the traced program logged `count` bytes: a custom event of XRay; text if printable */
    PFR_MARK_TYPED         /* the same with a number, `type`: a typed event */
} pfr_mark_kind;

/* The text of PFR_MARK_CUSTOM and PFR_MARK_TYPED is the payload if that is UTF-8 without control characters; tabs and
   ends of lines are allowed, and a NUL at the end is dropped. Of a longer payload it has the first characters, at most
   so many bytes. Otherwise it is NULL. The record at `offset` has the whole payload. */
#define PFR_MARK_TEXT_MOST 4096u

typedef struct pfr_mark {
    uint64_t time;   /* PFR_NO_TIME: not recorded */
    uint64_t count;  /* see the kind */
    uint64_t offset; /* of the record in the file; PFR_NO_OFFSET: not known */
    uint32_t thread; /* id; 0: not known */
    uint32_t cpu;    /* PFR_NO_CPU: not recorded */
    uint32_t event;  /* id; 0: not known */
    pfr_mark_kind kind;
    const char *text; /* may be NULL */
    uint32_t type;    /* of PFR_MARK_TYPED; else 0 */
} pfr_mark;

/* Mark `index` from 0, in file order, those of a recording before those of the trace beside it; NULL past the end.
   Lives as long as the model. Notes that perfray's own runtime leaves in its traces are no marks. */
const pfr_mark *pfr_model_mark(const pfr_model *model, uint64_t index);

#ifdef __cplusplus
}
#endif
#endif
