/* SPDX-License-Identifier: Apache-2.0 */
/* Index of a flight recorder's buffers, by thread and time: see calls_parts.h. */
#include "file/xray/fdr_records.h"
#include "model/calls/calls_index.h"
#include "model/calls/calls_totals.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/sizes.h"

void calls_index_init(struct calls_index *x, struct memory *memory) {
    *x = (struct calls_index){.memory = memory};
    intern_init(&x->threads, memory);
}

void calls_index_free(struct calls_index *x) {
    mem_free(x->memory, x->pieces, x->room, sizeof *x->pieces);
    mem_free(x->memory, x->thread_begins, x->thread_begins ? (size_t)x->threads.count + 1 : 0,
             sizeof *x->thread_begins);
    mem_free(x->memory, x->by_size, x->by_size ? x->threads.count : 0, sizeof *x->by_size);
    intern_free(&x->threads);
    calls_index_init(x, x->memory);
}

pfr_status calls_thread_number(struct intern_table *threads, const struct calls_thread *thread, uint32_t *number,
                               pfr_error *err) {
    struct calls_thread key;
    memset(&key, 0, sizeof key); /* equal threads must have equal bytes */
    key.pid = thread->has_pid ? thread->pid : 0;
    key.tid = thread->has_tid ? thread->tid : 0;
    key.has_pid = thread->has_pid;
    key.has_tid = thread->has_tid;
    return intern_put(threads, &key, sizeof key, number, err);
}

static pfr_status add_piece(struct calls_index *x, const struct calls_piece *piece, pfr_error *err) {
    void *more = mem_grow(x->memory, x->pieces, x->count, &x->room, 64, sizeof *x->pieces);
    if (!more)
        return mem_fail(x->memory, err, "buffers");
    x->pieces = more;
    x->pieces[x->count] = *piece;
    x->pieces[x->count].place = (uint32_t)x->count;
    x->count++;
    return PFR_OK;
}

/* --- Sorting. */

static int by_thread_and_time(const void *a, const void *b) {
    const struct calls_piece *p = a, *q = b;
    if (p->thread != q->thread)
        return p->thread < q->thread ? -1 : 1;
    if (p->time != q->time)
        return p->time < q->time ? -1 : 1;
    return p->slice.at < q->slice.at ? -1 : p->slice.at > q->slice.at;
}

struct thread_size {
    uint64_t bytes;
    uint32_t thread;
};

static int by_size(const void *a, const void *b) {
    const struct thread_size *p = a, *q = b;
    if (p->bytes != q->bytes)
        return p->bytes > q->bytes ? -1 : 1;
    return p->thread < q->thread ? -1 : p->thread > q->thread;
}

static void measure_threads(struct calls_index *x, struct thread_size *lengths) {
    size_t at = 0;
    for (uint32_t t = 0; t < x->threads.count; t++) {
        lengths[t] = (struct thread_size){0, t};
        x->thread_begins[t] = at;
        for (; at < x->count && x->pieces[at].thread == t; at++)
            lengths[t].bytes += x->pieces[at].slice.until - x->pieces[at].slice.at;
    }
    x->thread_begins[x->threads.count] = at;
}

static pfr_status put_in_order(struct calls_index *x, pfr_error *err) {
    const size_t threads = x->threads.count;
    if (x->count)
        qsort(x->pieces, x->count, sizeof *x->pieces, by_thread_and_time);
    x->thread_begins = mem_alloc(x->memory, threads + 1, sizeof *x->thread_begins);
    x->by_size = mem_alloc(x->memory, threads, sizeof *x->by_size);
    struct thread_size *lengths = mem_alloc(x->memory, threads, sizeof *lengths);
    const bool all = x->thread_begins && x->by_size && lengths;
    const pfr_status st = all ? PFR_OK : mem_fail(x->memory, err, "buffers");
    if (all) {
        measure_threads(x, lengths);
        if (threads)
            qsort(lengths, threads, sizeof *lengths, by_size);
        for (size_t i = 0; i < threads; i++)
            x->by_size[i] = lengths[i].thread;
    }
    mem_free(x->memory, lengths, threads, sizeof *lengths);
    return st;
}

/* --- Hopping from buffer to buffer. */

static pfr_status add_buffer(struct calls_index *x, const struct xray_buffer *b, pfr_error *err) {
    struct calls_piece piece = {.slice = b->slice, .time = b->time};
    const struct calls_thread thread = {b->pid, b->tid, b->has_pid, true};
    PFR_TRY(calls_thread_number(&x->threads, &thread, &piece.thread, err));
    x->buffers++;
    return add_piece(x, &piece, err);
}

pfr_status calls_index_hop(struct calls_index *x, pfr_reader *r, pfr_error *err) {
    struct xray_buffer b;
    pfr_status st;
    uint64_t at = TRACE_FIRST_BUFFER;
    if (r->damage.nr_findings || r->limits.records != UINT64_MAX)
        return PFR_HOLE; /* the later pass over all records reports the damage */
    while ((st = xray_buffer_at(r, at, &b, err)) == PFR_OK) {
        PFR_TRY(add_buffer(x, &b, err));
        at = b.next;
    }
    return st == PFR_END ? put_in_order(x, err) : st;
}

/* --- Reading every record. */

struct index_walk {
    struct calls_index *index;
    pfr_reader *reader;
    const pfr_trace_point *point;
    struct calls_piece piece;
    struct calls_thread thread; /* thread of the piece */
    uint64_t buffer;            /* number of the piece's buffer; 0: no buffer yet */
    size_t first;               /* first piece of the buffer */
    uint64_t base;              /* ticks to which the current record adds its delta */
    bool timed;
    uint64_t time; /* time of the buffer */
    bool has_time, any_call;
    bool worth; /* the piece has a call or an event */
};

static pfr_status end_piece(struct index_walk *w, pfr_error *err) {
    if (!w->worth)
        return PFR_OK;
    w->worth = false;
    PFR_TRY(calls_thread_number(&w->index->threads, &w->thread, &w->piece.thread, err));
    return add_piece(w->index, &w->piece, err);
}

static bool is_same_thread(const struct index_walk *w) {
    const pfr_trace_point *p = w->point;
    return w->thread.tid == p->tid && w->thread.pid == p->pid && w->thread.has_tid == p->has_tid &&
           w->thread.has_pid == p->has_pid;
}

/* In version 1 a buffer may continue from the time base of the thread's previous buffer. */
static void begin_piece(struct index_walk *w, const pfr_record *rec) {
    const pfr_trace_point *p = w->point;
    const struct xray_trace *t = w->reader->trace;
    const bool is_extents = rec->type == PFR_TRACE_BUFFER_EXTENTS;
    w->thread = (struct calls_thread){p->pid, p->tid, p->has_pid, p->has_tid};
    w->piece.slice =
        (struct xray_slice){rec->offset + (is_extents ? rec->size : 0), 0, t->buffer.end, w->base, w->timed};
    if (t->version == 1 && !w->timed)
        w->piece.slice.timed = fdr_kept_base(w->reader, &w->piece.slice.base);
}

/* Sets the buffer's time in all its pieces. */
static void end_buffer(struct index_walk *w) {
    for (size_t i = w->first; i < w->index->count; i++)
        w->index->pieces[i].time = w->time;
    w->first = w->index->count;
}

static void begin_buffer(struct index_walk *w) {
    w->has_time = w->any_call = w->timed = false;
    w->time = w->base = 0;
    w->buffer = w->point->buffer;
    w->index->buffers++;
}

/* The time of a buffer is that of its first NewCPUId, or of a call or event before it. */
static void note_time(struct index_walk *w, const pfr_record *rec) {
    const bool is_call =
        rec->type == PFR_TRACE_FUNCTION || rec->type == PFR_TRACE_CUSTOM_EVENT || rec->type == PFR_TRACE_TYPED_EVENT;
    if (!w->has_time && (is_call || rec->type == PFR_TRACE_NEW_CPU_ID)) {
        w->has_time = true;
        w->time = w->point->tsc;
    }
    w->worth = w->worth || is_call;
}

static pfr_status walk_record(struct index_walk *w, const pfr_record *rec, pfr_error *err) {
    struct xray_call calls[CALLS_BATCH];
    const bool other_buffer = w->point->buffer != w->buffer;
    if (other_buffer || !is_same_thread(w)) {
        PFR_TRY(end_piece(w, err));
        if (other_buffer) {
            end_buffer(w);
            begin_buffer(w);
        }
        begin_piece(w, rec);
    }
    note_time(w, rec);
    w->piece.slice.until = rec->offset + rec->size;
    while (xray_take_calls(w->reader, calls, sizes.calls_batch) > 0)
        w->piece.slice.until = w->reader->cursor.at;
    w->base = w->reader->trace->buffer.base;
    w->timed = w->point->timed;
    return PFR_OK;
}

static pfr_status walk_all(struct index_walk *w, const struct calls_request *request, struct calls_totals *totals,
                           pfr_error *err) {
    pfr_record rec;
    pfr_status st;
    PFR_TRY(pfr_rewind(w->reader, err));
    while ((st = pfr_next(w->reader, &rec, err)) >= 0 && st != PFR_END)
        if (st == PFR_HOLE)
            calls_report_hole(request, totals, err);
        else
            PFR_TRY(walk_record(w, &rec, err));
    PFR_TRY(st);
    PFR_TRY(end_piece(w, err));
    end_buffer(w);
    return PFR_OK;
}

pfr_status calls_index_walk(struct calls_index *x, pfr_reader *reader, const struct calls_request *request,
                            struct calls_totals *totals, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    struct index_walk w = {.index = x, .reader = reader, .point = pfr_get_trace_point(reader)};
    PFR_TRY(walk_all(&w, request, totals, err));
    return put_in_order(x, err);
}
