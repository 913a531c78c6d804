/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of each thread: see xray_pieces.h. */
#include "model/calls/xray_pieces.h"

#include "base/memory/fail.h"
#include "file/xray/xray_calls.h"

#include <stdlib.h>

/* State of the pass over all records, and the current piece. */
struct finder {
    struct xray_pieces *pieces;
    pfr_reader *reader;
    const pfr_trace_point *point;
    struct xray_piece piece;
    struct xray_base base;
    uint64_t buffer, key; /* number of the buffer; pid and tid of the piece */
    uint64_t time;        /* time of the buffer */
    bool is_open;         /* a piece was begun */
    bool is_timed;        /* `time` is known */
};

static pfr_status end_piece(struct finder *f, uint64_t end, pfr_error *err) {
    struct xray_pieces *p = f->pieces;
    if (!f->is_open)
        return PFR_OK;
    struct xray_piece *grown = mem_grow(p->memory, p->at, p->count, &p->room, 64, sizeof *p->at);
    if (!grown)
        return mem_fail(p->memory, err, "pieces");
    p->at = grown;
    f->piece.end = end;
    p->at[p->count++] = f->piece;
    f->is_open = false;
    return PFR_OK;
}

static uint64_t key_of(const pfr_trace_point *point) {
    return (uint64_t)(uint32_t)point->pid << 32 | (uint32_t)point->tid;
}

static pfr_status begin_piece(struct finder *f, const pfr_record *rec, pfr_error *err) {
    struct xray_pieces *p = f->pieces;
    bool is_new;
    f->key = key_of(f->point);
    const uint64_t *thread = u64_map_at(&p->threads, f->key, p->facts.threads, &is_new);
    if (!thread)
        return mem_fail(p->memory, err, "threads");
    p->facts.threads += is_new;
    const bool in_buffer = f->point->buffer > 0;
    f->piece = (struct xray_piece){.begin = in_buffer ? f->point->buffer_offset : rec->offset,
                                   .from = rec->offset,
                                   .time = f->time,
                                   .base = f->base,
                                   .thread = (uint32_t)*thread};
    f->is_open = true;
    return PFR_OK;
}

static void note_time(struct finder *f) {
    struct xray_order_facts *facts = &f->pieces->facts;
    const uint64_t tsc = f->point->tsc;
    if (!f->point->timed)
        return;
    facts->first = tsc < facts->first ? tsc : facts->first;
    facts->last = tsc > facts->last ? tsc : facts->last;
}

static void count_events(struct finder *f, size_t count) {
    const uint32_t left = UINT32_MAX - f->piece.events;
    f->piece.events += count < left ? (uint32_t)count : left;
}

/* Skips the rest of a run. All its calls have the thread and CPU of its first call, and their times do not decrease. */
static void pass_run(struct finder *f) {
    struct xray_call calls[256];
    size_t count;
    while ((count = xray_take_calls(f->reader, calls, sizeof calls / sizeof *calls)) > 0) {
        f->pieces->facts.untimed += f->point->timed ? 0 : count;
        count_events(f, count);
    }
    note_time(f);
}

static pfr_status take_event(struct finder *f, const pfr_record *rec, unsigned kind, pfr_error *err) {
    if (f->is_open && f->key != key_of(f->point))
        PFR_TRY(end_piece(f, rec->offset, err));
    if (!f->is_open)
        PFR_TRY(begin_piece(f, rec, err));
    f->pieces->facts.untimed += !f->point->timed && kind != TRACE_ARGUMENT;
    note_time(f);
    count_events(f, 1);
    if (kind == TRACE_ENTER)
        pass_run(f);
    return PFR_OK;
}

static pfr_status take_record(struct finder *f, const pfr_record *rec, pfr_error *err) {
    const unsigned kind = xray_kind_of(rec->type);
    if (f->point->buffer != f->buffer) {
        PFR_TRY(end_piece(f, rec->offset, err));
        f->buffer = f->point->buffer;
        f->time = 0;
        f->is_timed = false;
    }
    if (rec->type == PFR_TRACE_NEW_BUFFER)
        xray_base_of(f->reader, &f->base);
    if (!f->is_timed && f->point->timed && f->buffer > 0) {
        f->is_timed = true;
        f->time = f->point->tsc;
    }
    return kind < TRACE_EVENT_KINDS ? take_event(f, rec, kind, err) : PFR_OK;
}

static int in_order(const void *a, const void *b) {
    const struct xray_piece *p = a, *q = b;
    if (p->thread != q->thread)
        return p->thread < q->thread ? -1 : 1;
    if (p->time != q->time)
        return p->time < q->time ? -1 : 1;
    return p->from < q->from ? -1 : p->from > q->from;
}

pfr_status xray_pieces_find(struct xray_pieces *pieces, pfr_reader *reader, struct memory *memory,
                            const struct xray_order_watch *watch, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    struct finder f = {.pieces = pieces, .reader = reader, .point = pfr_get_trace_point(reader)};
    pfr_record rec;
    pfr_status st;
    *pieces = (struct xray_pieces){.memory = memory, .facts.first = UINT64_MAX};
    u64_map_init(&pieces->threads, memory);
    while ((st = pfr_next(reader, &rec, err)) >= 0 && st != PFR_END) {
        if (st == PFR_OK) {
            PFR_TRY(take_record(&f, &rec, err));
            continue;
        }
        pieces->facts.lossy = true;
        if (watch && watch->hole)
            watch->hole(watch->context, err);
    }
    PFR_TRY(st);
    PFR_TRY(end_piece(&f, UINT64_MAX, err));
    if (pieces->count)
        qsort(pieces->at, pieces->count, sizeof *pieces->at, in_order);
    return PFR_OK;
}

void xray_pieces_free(struct xray_pieces *pieces) {
    mem_free(pieces->memory, pieces->at, pieces->room, sizeof *pieces->at);
    u64_map_free(&pieces->threads);
    pieces->at = NULL;
    pieces->count = pieces->room = 0;
}
