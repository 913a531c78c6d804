/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_XRAY_ORDER_H
#define PFR_MODEL_XRAY_ORDER_H
/*
 * The events of a trace's threads, merged in order of time.
 *
 *    struct xray_order *o;
 *    xray_order_open(&o, reader, memory, &watch, &err);
 *    while ((st = xray_order_next(o, &event, &err)) == PFR_OK)
 *        ...
 *    xray_order_close(o);
 *
 * The flight recorder stores buffers in any order. The trace is read once to find the pieces of each thread and the
 * unusable ranges. Then each thread is read piece by piece, some events at a time, and the earliest event of all
 * threads is returned. Memory holds a few words per piece and an event queue per thread.
 *
 * The records of a thread keep their order, even if its clock steps back. The pieces of a thread are ordered by the
 * time of their first record; in a basic log, by offset. At equal times, the thread that appears first in the file
 * comes first.
 */
#include <perfray/trace.h>

#include "base/memory/memory.h"

/* Calls have the values of pfr_trace_action. */
enum xray_event_kind {
    TRACE_ENTER,
    TRACE_EXIT,
    TRACE_TAIL_EXIT,
    TRACE_ENTER_ARGUMENT,
    TRACE_CUSTOM_EVENT,
    TRACE_TYPED_EVENT,
    TRACE_ARGUMENT, /* not preceded by a call */
    TRACE_EVENT_KINDS
};

struct xray_event {
    uint64_t tsc;
    uint64_t offset;    /* offset of the record */
    uint64_t argument;  /* the first argument of a call */
    uint32_t function;  /* function of a call */
    uint32_t count;     /* calls: number of arguments after the call; events: bytes of the payload */
    int32_t pid, tid;   /* 0 if unknown */
    uint32_t thread;    /* number of (pid, tid), from 0 in file order */
    uint16_t cpu, type; /* type: number of a typed event */
    uint8_t kind;
    bool timed, has_pid, has_tid;
};

struct xray_order_watch {
    void (*hole)(void *context, const pfr_error *hole); /* may be NULL; called in file order, before the first event */
    void *context;
};

/* Facts of all events with a time; first > last: there are no such events. */
struct xray_order_facts {
    uint64_t first, last; /* ticks */
    uint64_t untimed;     /* events before the first time in their buffer; their ticks count from 0 */
    uint32_t threads;
    bool lossy; /* there were holes */
};

struct xray_order;

/*
 * The reader must be new or rewound. Nothing else may read from it until xray_order_close(); then it must be rewound. A
 * negative status is described by *err, and *order is NULL. PFR_ERR_FORMAT: a profile, which only has sums of calls;
 * PFR_ERR_USAGE: a stream without spool.
 */
pfr_status xray_order_open(struct xray_order **order, pfr_reader *reader, struct memory *memory,
                           const struct xray_order_watch *watch, pfr_error *err);
void xray_order_close(struct xray_order *order); /* NULL is allowed */

/* PFR_OK: *event is valid until the next call. PFR_END: no more events. < 0: failure, described by *err. */
pfr_status xray_order_next(struct xray_order *order, const struct xray_event **event, pfr_error *err);

/* Gets argument `index` of a call. The first one has index 0; `index` must be less than event->count. */
pfr_status xray_order_argument(struct xray_order *order, const struct xray_event *event, uint32_t index,
                               uint64_t *value, pfr_error *err);
/* Copies up to `length` bytes of an event's payload, from byte `from` on. */
pfr_status xray_order_payload(struct xray_order *order, const struct xray_event *event, uint32_t from, void *to,
                              size_t length, size_t *got, pfr_error *err);

const struct xray_order_facts *xray_order_facts(const struct xray_order *order);

#endif
