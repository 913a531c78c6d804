/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_XRAY_ORDER_H
#define PFR_MODEL_XRAY_ORDER_H
/*
 * What the threads of a trace did, one thing after the other in the order of time.
 *
 *     struct trace_order *o;
 *     trace_order_open(&o, reader, memory, &watch, &err);
 *     while ((st = trace_order_next(o, &event, &err)) == PFR_OK)
 *         ...
 *     trace_order_close(o);
 *
 * Buffers of the flight recorder lie in the file in any order. The trace is read once to learn where the pieces of each
 * thread are, and what of it cannot be used; then each thread is read piece by piece, some of it at a time, and what is
 * earliest of all threads is given. What is held is a word on each piece, and a window on each thread.
 *
 * The order of a thread's own records is kept, also where its clock steps back. Pieces of a thread go by the time of
 * their first record, in a basic log as they lie. Of equal times that of the thread comes first which the file has
 * first.
 */
#include <perfray/trace.h>

#include "base/memory/memory.h"

/* In the order of pfr_trace_action where it is a call. */
enum trace_event_kind {
    TRACE_ENTER,
    TRACE_EXIT,
    TRACE_TAIL_EXIT,
    TRACE_ENTER_ARGUMENT,
    TRACE_CUSTOM_EVENT,
    TRACE_TYPED_EVENT,
    TRACE_ARGUMENT, /* that no call stands before */
    TRACE_EVENT_KINDS
};

struct xray_event {
    uint64_t tsc;
    uint64_t offset;    /* of its record */
    uint64_t argument;  /* the first */
    uint32_t function;  /* of calls */
    uint32_t count;     /* of a call: arguments behind it; of an event: bytes of its payload */
    int32_t pid, tid;   /* 0 where not known */
    uint32_t thread;    /* number of (pid, tid), from 0 in the order of the file */
    uint16_t cpu, type; /* type: of a typed event */
    uint8_t kind;
    bool timed, has_pid, has_tid;
};

struct trace_order_watch {
    void (*hole)(void *context,
                 const pfr_error *hole); /* may be NULL; in the order of the file, before the first event */
    void *context;
};

/* Of all events that have a time; first > last: there is none. */
struct trace_order_facts {
    uint64_t first, last; /* ticks */
    uint64_t untimed;     /* events whose buffer says no time before them; theirs counts from 0 */
    uint32_t threads;
    bool lossy; /* there were holes */
};

struct trace_order;

/* The reader is fresh or was rewound; nobody else may read from it until the close, and it is to be rewound then. < 0:
 *err, and *order is NULL. PFR_ERR_FORMAT: a profile, which has sums of calls alone; PFR_ERR_USAGE: a stream
   without spool. */
pfr_status trace_order_open(struct trace_order **order, pfr_reader *reader, struct memory *memory,
                            const struct trace_order_watch *watch, pfr_error *err);
void trace_order_close(struct trace_order *order); /* NULL is fine */

/* OK: *event is valid until the next call. END. < 0: *err. */
pfr_status trace_order_next(struct trace_order *order, const struct xray_event **event, pfr_error *err);

/* Argument `index` of a call, which has event->count. */
pfr_status trace_order_argument(struct trace_order *order, const struct xray_event *event, uint32_t index,
                                uint64_t *value, pfr_error *err);
/* Up to `length` bytes of an event's payload from `from` on. */
pfr_status trace_order_payload(struct trace_order *order, const struct xray_event *event, uint32_t from, void *to,
                               size_t length, size_t *got, pfr_error *err);

const struct trace_order_facts *trace_order_facts(const struct trace_order *order);

#endif
