/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the threads of a trace by time: see xray_order.h. Each thread has a queue of events that were read; when it is
 * empty, the reader returns to the thread's position and refills it. A heap has the thread with the earliest event at
 * its top.
 */
#include "model/calls/xray_order.h"

#include "base/memory/fail.h"
#include "base/memory/sizes.h"
#include "file/xray/xray_calls.h"
#include "model/calls/xray_pieces.h"

#include <perfray/record_structs.h>

#define QUEUE_MOST ((uint32_t)SIZE_MOST_xray_queue)
#define QUEUE_LEAST 32u
#define QUEUES ((size_t)64 << 10) /* number of events in all queues together, unless there are too many threads */
#define ARGUMENT_ROOM 32u

struct order_worker {
    size_t next, end;        /* the next piece, and the end of the pieces */
    struct xray_place place; /* position to continue from */
    bool inside;             /* the position is inside the piece `next`; false: that piece was not begun */
    uint32_t head, count;    /* first event and number of events in the queue */
    uint32_t room;
    struct xray_event *queue;
};

struct xray_order {
    struct memory *memory;
    pfr_reader *reader;
    const pfr_trace_point *point;
    struct xray_pieces pieces;
    struct order_worker *workers; /* by number of the thread */
    struct xray_event *queues;
    uint32_t *heap;
    uint32_t nr_workers, nr_heap;
    size_t queues_room;
    bool is_given; /* the first event of the thread at the top of the heap was returned: remove it first */
    bool is_basic;
};

/* --- Records to events. */

static bool fill_call(struct xray_order *o, const pfr_record *rec, struct xray_event *e) {
    struct xray_call call;
    struct pfr_rec_basic_function basic;
    if (!o->is_basic) {
        if (!xray_call_of(o->reader, rec, &call))
            return false;
        e->kind = (uint8_t)call.action;
        e->function = call.function;
        return true;
    }
    if (pfr_decode(rec, &basic, sizeof basic, NULL) != PFR_OK)
        return false;
    e->kind = (uint8_t)basic.action;
    e->function = basic.function;
    return true;
}

static bool argument_of(const pfr_record *rec, uint64_t *value) {
    union {
        struct pfr_rec_fdr_call_argument fdr;
        struct pfr_rec_basic_argument basic;
    } body;
    const bool is_fdr = rec->type == PFR_TRACE_CALL_ARGUMENT;
    if (pfr_decode(rec, &body, is_fdr ? sizeof body.fdr : sizeof body.basic, NULL) != PFR_OK)
        return false;
    *value = is_fdr ? body.fdr.value : body.basic.value;
    return true;
}

static bool fill_typed(const pfr_record *rec, struct xray_event *e) {
    struct pfr_rec_fdr_typed_event body;
    if (pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return false;
    e->type = body.type;
    e->count = rec->size - FDR_METADATA;
    return true;
}

static bool fill_event(struct xray_order *o, const pfr_record *rec, unsigned kind, struct xray_event *e) {
    e->kind = (uint8_t)kind;
    if (kind == TRACE_ENTER)
        return fill_call(o, rec, e);
    if (kind == TRACE_TYPED_EVENT)
        return fill_typed(rec, e);
    if (kind == TRACE_ARGUMENT)
        return argument_of(rec, &e->argument);
    e->count = rec->size - FDR_METADATA;
    return true;
}

/* Bytes of a call, and of an argument. */
static unsigned call_bytes(const struct xray_order *o) {
    return o->is_basic ? XRAY_HEADER : FDR_FUNCTION;
}

static unsigned argument_bytes(const struct xray_order *o) {
    return o->is_basic ? ARGUMENT_ROOM : FDR_METADATA;
}

static uint64_t place_of_argument(const struct xray_order *o, const struct xray_event *call, uint32_t index) {
    return call->offset + call_bytes(o) + (uint64_t)argument_bytes(o) * index;
}

/* Adds an argument to the last call, if its record directly follows the call or earlier arguments of the call. false:
   the argument does not belong to a call. */
static bool attach(const struct xray_order *o, struct order_worker *worker, const pfr_record *rec) {
    struct xray_event *call = worker->count ? &worker->queue[worker->count - 1] : NULL;
    uint64_t value;
    if (!call || call->kind > TRACE_ENTER_ARGUMENT || rec->offset != place_of_argument(o, call, call->count) ||
        !argument_of(rec, &value))
        return false;
    if (call->count++ == 0)
        call->argument = value;
    return true;
}

static struct xray_event *add_event(const struct xray_order *o, struct order_worker *worker, uint64_t offset) {
    const pfr_trace_point *p = o->point;
    struct xray_event *e = &worker->queue[worker->count++];
    *e = (struct xray_event){.tsc = p->tsc,
                             .offset = offset,
                             .pid = p->pid,
                             .tid = p->tid,
                             .thread = (uint32_t)(worker - o->workers),
                             .cpu = p->cpu,
                             .timed = p->timed,
                             .has_pid = p->has_pid,
                             .has_tid = p->has_tid};
    return e;
}

/* Adds the run of calls that follows the call added last. */
static void add_run(struct xray_order *o, struct order_worker *worker) {
    struct xray_call calls[128];
    const size_t most = sizeof calls / sizeof *calls;
    for (;;) {
        const size_t left = worker->room - worker->count;
        const uint64_t offset = o->reader->cursor.at;
        const size_t count = xray_take_calls(o->reader, calls, left < most ? left : most);
        if (count == 0)
            return;
        for (size_t i = 0; i < count; i++) {
            struct xray_event *e = add_event(o, worker, offset + i * FDR_FUNCTION);
            e->tsc = calls[i].tsc;
            e->kind = (uint8_t)calls[i].action;
            e->function = calls[i].function;
        }
    }
}

static void add_record(struct xray_order *o, struct order_worker *worker, const pfr_record *rec, unsigned kind) {
    struct xray_event *e = add_event(o, worker, rec->offset);
    if (!fill_event(o, rec, kind, e))
        worker->count--;
    else if (rec->type == PFR_TRACE_FUNCTION)
        add_run(o, worker);
}

/* --- One thread. */

static bool is_event_of(const struct xray_piece *piece, const pfr_record *rec) {
    return xray_kind_of(rec->type) < TRACE_EVENT_KINDS && rec->offset >= piece->from;
}

/* Reads the next event of the piece. PFR_END: no more events. *is_odd: the event is at a place where no writer puts
   it. */
static pfr_status next_event(struct xray_order *o, const struct xray_piece *piece, pfr_record *rec, bool *is_odd,
                             pfr_error *err) {
    pfr_error hole;
    uint64_t odd = UINT64_MAX;
    for (;;) {
        const pfr_status st = pfr_next(o->reader, rec, &hole);
        if (st < 0 && err)
            *err = hole;
        if (st < 0 || st == PFR_END)
            return st;
        if (st == PFR_HOLE) /* already reported */
            odd = hole.offset;
        else if (rec->offset >= piece->end)
            return PFR_END;
        else if (is_event_of(piece, rec)) {
            *is_odd = rec->offset == odd;
            return PFR_OK;
        }
    }
}

/* Continues the current piece until the queue is full. A call is read with all its arguments, so reading stops at the
   record after them, which is read again next time. */
static pfr_status read_piece(struct xray_order *o, struct order_worker *worker, pfr_error *err) {
    const struct xray_piece *piece = &o->pieces.at[worker->next];
    pfr_record rec;
    bool is_odd = false;
    for (;;) {
        xray_place_of(o->reader, &worker->place);
        const pfr_status st = next_event(o, piece, &rec, &is_odd, err);
        worker->inside = st == PFR_OK;
        worker->next += st == PFR_END;
        if (st != PFR_OK)
            return st < 0 ? st : PFR_OK;
        const unsigned kind = xray_kind_of(rec.type);
        if (kind == TRACE_ARGUMENT && !is_odd && attach(o, worker, &rec))
            continue;
        if (worker->count == worker->room)
            return PFR_OK;
        add_record(o, worker, &rec, kind);
    }
}

static pfr_status fill(struct xray_order *o, struct order_worker *worker, pfr_error *err) {
    const pfr_quality quality = o->reader->damage.quality; /* kept: xray_pieces_find already counted the damage */
    pfr_status st = PFR_OK;
    worker->head = worker->count = 0;
    while (st == PFR_OK && worker->count < worker->room && worker->next < worker->end) {
        const struct xray_piece *piece = &o->pieces.at[worker->next];
        const struct xray_place begin = {.at = piece->begin, .base = piece->base};
        st = xray_go(o->reader, worker->inside ? &worker->place : &begin, err);
        if (st == PFR_OK)
            st = read_piece(o, worker, err);
    }
    o->reader->damage.quality = quality;
    return st;
}

/* --- All threads. */

static bool comes_before(const struct xray_order *o, uint32_t a, uint32_t b) {
    const struct order_worker *p = &o->workers[a], *q = &o->workers[b];
    const uint64_t x = p->queue[p->head].tsc, y = q->queue[q->head].tsc;
    return x < y || (x == y && a < b);
}

static void sift_down(struct xray_order *o, uint32_t at) {
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < o->nr_heap; child++)
            if (comes_before(o, o->heap[child], o->heap[least]))
                least = child;
        if (least == at)
            return;
        const uint32_t moved = o->heap[at];
        o->heap[at] = o->heap[least];
        o->heap[least] = moved;
        at = least;
    }
}

/* A thread with few events gets room for just these, so that many short threads need little memory. */
static pfr_status make_queues(struct xray_order *o, pfr_error *err) {
    const size_t share = QUEUES / (o->nr_workers ? o->nr_workers : 1);
    const uint32_t wanted = share > QUEUE_MOST ? QUEUE_MOST : share < QUEUE_LEAST ? QUEUE_LEAST : (uint32_t)share;
    const uint32_t most = wanted < sizes.xray_queue ? wanted : (uint32_t)sizes.xray_queue;
    for (size_t i = 0; i < o->pieces.count; i++) {
        struct order_worker *worker = &o->workers[o->pieces.at[i].thread];
        const uint32_t left = most - worker->room, events = o->pieces.at[i].events;
        worker->room += events < left ? events : left;
    }
    for (uint32_t i = 0; i < o->nr_workers; i++)
        o->queues_room += o->workers[i].room;
    o->queues = mem_alloc(o->memory, o->queues_room, sizeof *o->queues);
    if (!o->queues)
        return mem_fail(o->memory, err, "threads");
    struct xray_event *queue = o->queues;
    for (uint32_t i = 0; i < o->nr_workers; i++) {
        o->workers[i].queue = queue;
        queue += o->workers[i].room;
    }
    return PFR_OK;
}

static pfr_status make_workers(struct xray_order *o, pfr_error *err) {
    const uint32_t threads = o->pieces.facts.threads;
    o->workers = mem_zeroed(o->memory, threads, sizeof *o->workers);
    o->heap = mem_alloc(o->memory, threads, sizeof *o->heap);
    if (!o->workers || !o->heap)
        return mem_fail(o->memory, err, "threads");
    for (size_t i = 0; i < o->pieces.count; i++) {
        struct order_worker *worker = &o->workers[o->pieces.at[i].thread];
        worker->next = worker->end ? worker->next : i;
        worker->end = i + 1;
    }
    o->nr_workers = threads;
    return make_queues(o, err);
}

static pfr_status begin(struct xray_order *o, pfr_error *err) {
    PFR_TRY(make_workers(o, err));
    xray_read_at_once(o->reader, sizes.xray_chunk);
    for (uint32_t i = 0; i < o->nr_workers; i++) {
        PFR_TRY(fill(o, &o->workers[i], err));
        if (o->workers[i].count)
            o->heap[o->nr_heap++] = i;
    }
    for (uint32_t i = o->nr_heap; i-- > 0;)
        sift_down(o, i);
    return PFR_OK;
}

pfr_status xray_order_open(struct xray_order **order, pfr_reader *reader, struct memory *memory,
                           const struct xray_order_watch *watch, pfr_error *err) {
    *order = NULL;
    if (!reader->trace || reader->header.format == PFR_XRAY_PROFILE)
        return pfr_fail(err, PFR_ERR_FORMAT, PFR_NO_OFFSET, 0, "trace",
                        "a profile contains sums of calls, not single calls; perfray dump prints them");
    if (!input_seekable(&reader->parts[0].in))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "trace",
                        "a stream can be read only once: open it with spool to read its threads in time order");
    struct xray_order *o = mem_zeroed(memory, 1, sizeof *o);
    if (!o)
        return mem_fail(memory, err, "trace");
    o->memory = memory;
    o->reader = reader;
    o->point = pfr_get_trace_point(reader);
    o->is_basic = reader->header.format == PFR_XRAY_BASIC;
    pfr_status st = xray_pieces_find(&o->pieces, reader, memory, watch, err);
    if (st >= 0)
        st = begin(o, err);
    if (st < 0)
        xray_order_close(o);
    else
        *order = o;
    return st;
}

void xray_order_close(struct xray_order *o) {
    if (!o)
        return;
    const uint32_t threads = o->pieces.facts.threads;
    xray_read_at_once(o->reader, 0);
    mem_free(o->memory, o->queues, o->queues_room, sizeof *o->queues);
    mem_free(o->memory, o->heap, threads, sizeof *o->heap);
    mem_free(o->memory, o->workers, threads, sizeof *o->workers);
    xray_pieces_free(&o->pieces);
    mem_free(o->memory, o, 1, sizeof *o);
}

/* Removes the event that was returned. */
static pfr_status step(struct xray_order *o, pfr_error *err) {
    struct order_worker *worker = &o->workers[o->heap[0]];
    if (++worker->head == worker->count)
        PFR_TRY(fill(o, worker, err));
    if (worker->count == 0)
        o->heap[0] = o->heap[--o->nr_heap];
    sift_down(o, 0);
    return PFR_OK;
}

pfr_status xray_order_next(struct xray_order *o, const struct xray_event **event, pfr_error *err) {
    if (o->is_given)
        PFR_TRY(step(o, err));
    o->is_given = o->nr_heap > 0;
    if (!o->is_given)
        return PFR_END;
    const struct order_worker *worker = &o->workers[o->heap[0]];
    *event = &worker->queue[worker->head];
    return PFR_OK;
}

/* --- Data that do not fit into an event. */

pfr_status xray_order_argument(struct xray_order *o, const struct xray_event *event, uint32_t index, uint64_t *value,
                               pfr_error *err) {
    uint8_t bytes[ARGUMENT_ROOM];
    size_t got;
    const uint64_t offset = place_of_argument(o, event, index);
    const pfr_record rec = {.offset = offset,
                            .type = o->is_basic ? PFR_TRACE_BASIC_ARGUMENT : PFR_TRACE_CALL_ARGUMENT,
                            .size = argument_bytes(o),
                            .event = PFR_NO_EVENT,
                            .bytes = bytes,
                            .context = &o->reader->context};
    *value = event->argument;
    if (index == 0)
        return PFR_OK;
    PFR_TRY(input_read_at(&o->reader->parts[0].in, offset, bytes, rec.size, &got, err));
    if (got == rec.size && argument_of(&rec, value))
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_CHANGED, offset, rec.size, "call_argument",
                    "an argument that was read before is missing");
}

pfr_status xray_order_payload(struct xray_order *o, const struct xray_event *event, uint32_t from, void *to,
                              size_t length, size_t *got, pfr_error *err) {
    const uint32_t left = from < event->count ? event->count - from : 0;
    return input_read_at(&o->reader->parts[0].in, event->offset + FDR_METADATA + from, to,
                         length < left ? length : left, got, err);
}

const struct xray_order_facts *xray_order_facts(const struct xray_order *o) {
    return &o->pieces.facts;
}
