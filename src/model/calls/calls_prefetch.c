/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trace with one worker, for which several threads decode ahead. Used if most of the calls are in one thread of
 * the trace. Buffers are independent until calls are paired, so batches of them are decoded in parallel
 * (base/threads/workers.h); the worker takes them in order.
 */
#include "base/memory/sizes.h"
#include "base/threads/workers.h"
#include "file/xray/xray.h"
#include "model/calls/calls_prefetch.h"
#include "model/calls/calls_totals.h"
#include "model/calls/calls_worker.h"

#define PIECE_MOST ((uint64_t)1 << 20) /* larger pieces are not decoded as a whole */
#define SLOTS_MOST 12u

/* Pieces of one thread, from `at` to `end`, and their calls. */
struct ahead_batch {
    uint32_t thread;
    size_t at, end;
    bool begins, ends; /* has the first piece of the thread; has the last piece of the thread */
    struct xray_call *calls;
    size_t count, room;
    struct calls_totals totals; /* totals of records other than calls */
    pfr_status status;
    pfr_error err;
};

struct ahead {
    struct calls_workers *all;
    struct calls_worker_state *worker;
    struct workers *workers;
    pfr_reader **readers; /* by decoding thread; the first is the worker's own */
    struct memory *own;   /* memory of the readers */
    unsigned jobs;
    struct ahead_batch batches[SLOTS_MOST];
    uint32_t thread; /* thread of the next batch, index in by_size */
    size_t piece;    /* first piece of the next batch; SIZE_MAX: the thread's first piece */
    struct calls_reading reading;
    bool reads; /* `reading` has begun */
};

bool calls_ahead_wanted(const struct calls_index *x, unsigned jobs) {
    uint64_t all = 0, most = 0;
    if (jobs < 2 || x->threads.count == 0)
        return false;
    const size_t begin = x->thread_begins[x->by_size[0]], end = x->thread_begins[x->by_size[0] + 1];
    for (size_t i = 0; i < x->count; i++) {
        const uint64_t bytes = x->pieces[i].slice.until - x->pieces[i].slice.at;
        if (bytes > PIECE_MOST)
            return false;
        all += bytes;
        most += i >= begin && i < end ? bytes : 0;
    }
    return all > 2 * sizes.calls_ahead && most > all / jobs + all / jobs / 3;
}

/* --- Decoding, by any thread. */

static void add_calls(struct ahead_batch *b, const pfr_reader *r, size_t count) {
    b->totals.untimed += r->trace->point.timed ? 0 : count;
    calls_note_times(&b->totals, b->calls + b->count, count);
    b->count += count;
}

static pfr_status decode_piece(struct ahead_batch *b, pfr_reader *r, uint64_t until, bool clean) {
    pfr_record rec;
    size_t count;
    while (r->cursor.at < until) {
        const pfr_status st = pfr_next(r, &rec, &b->err);
        if (st < 0 || (st == PFR_HOLE && clean))
            return st;
        if (st == PFR_END)
            break;
        if (st == PFR_HOLE) /* already reported by the pass over all records */
            continue;
        if (!xray_call_of(r, &rec, &b->calls[b->count])) {
            calls_count_event(&b->totals, &rec);
            continue;
        }
        add_calls(b, r, 1);
        while ((count = xray_take_calls(r, b->calls + b->count, b->room - b->count)) > 0)
            add_calls(b, r, count);
    }
    return PFR_OK;
}

static void decode(void *context, unsigned worker, size_t slot) {
    struct ahead *a = context;
    struct ahead_batch *b = &a->batches[slot];
    pfr_reader *r = a->readers[worker];
    const struct calls_index *x = a->all->index;
    for (size_t i = b->at; i < b->end && b->status == PFR_OK; i++) {
        xray_slice_move(r, &x->pieces[i].slice, calls_read_ahead(x, i, b->end));
        b->status = decode_piece(b, r, x->pieces[i].slice.until, a->all->clean);
    }
}

/* --- Batches. */

/* A call has at least 8 bytes, so all calls fit. */
static pfr_status make_room(struct ahead *a, struct ahead_batch *b, uint64_t bytes, pfr_error *err) {
    const size_t room = (size_t)(bytes / FDR_FUNCTION) + 1;
    if (room <= b->room)
        return PFR_OK;
    struct xray_call *more = mem_alloc(&a->worker->memory, room, sizeof *more);
    if (!more)
        return mem_fail(&a->worker->memory, err, "calls");
    mem_free(&a->worker->memory, b->calls, b->room, sizeof *b->calls);
    b->calls = more;
    b->room = room;
    return PFR_OK;
}

/* Adds the next pieces of the current thread to a batch. false: no more pieces. */
static bool plan(struct ahead *a, struct ahead_batch *b, uint64_t *bytes) {
    const struct calls_index *x = a->all->index;
    if (a->thread == x->threads.count)
        return false;
    b->thread = x->by_size[a->thread];
    const size_t begin = x->thread_begins[b->thread], end = x->thread_begins[b->thread + 1];
    b->at = a->piece == SIZE_MAX ? begin : a->piece;
    *bytes = 0;
    for (b->end = b->at; b->end < end && *bytes < sizes.calls_ahead; b->end++)
        *bytes += x->pieces[b->end].slice.until - x->pieces[b->end].slice.at;
    b->begins = b->at == begin;
    b->ends = b->end == end;
    a->piece = b->ends ? SIZE_MAX : b->end;
    a->thread += b->ends;
    return true;
}

/* Hands out the next batch for decoding. false: nothing is left to decode, or *st is an error. */
static bool give(struct ahead *a, struct ahead_batch *b, pfr_status *st, pfr_error *err) {
    uint64_t bytes;
    if (!plan(a, b, &bytes))
        return false;
    b->count = 0;
    b->totals = (struct calls_totals){.shortest = UINT64_MAX, .first = UINT64_MAX};
    b->status = PFR_OK;
    *st = make_room(a, b, bytes, err);
    if (*st < 0)
        return false;
    workers_give(a->workers);
    return true;
}

/* --- The worker. */

static pfr_status take(struct ahead *a, struct ahead_batch *b, pfr_error *err) {
    if (b->status != PFR_OK) {
        *err = b->err;
        return b->status;
    }
    if (b->begins) {
        a->reads = true;
        PFR_TRY(reading_begin(&a->reading, a->worker, &a->all->index->threads, b->thread, err));
    }
    calls_totals_add(&a->worker->totals, &b->totals);
    if (b->count)
        PFR_TRY(reading_take(&a->reading, b->calls, b->count, err));
    if (!b->ends)
        return PFR_OK;
    const pfr_status st = reading_end(&a->reading, err);
    reading_free(&a->reading);
    a->reads = false;
    return st;
}

static pfr_status work(struct ahead *a, pfr_error *err) {
    pfr_status st = PFR_OK;
    size_t slot, done;
    bool more = true;
    while (st == PFR_OK) {
        while (more && workers_free_slot(a->workers, &slot))
            more = give(a, &a->batches[slot], &st, err);
        if (st < 0 || !workers_oldest(a->workers, true, &done))
            break;
        st = take(a, &a->batches[done], err);
        workers_retire(a->workers);
    }
    return st;
}

/* --- All batches. */

static pfr_status open_readers(struct ahead *a, struct calls_runner *me, unsigned jobs, pfr_error *err) {
    struct memory *memory = a->all->memory;
    a->readers = mem_zeroed(memory, jobs, sizeof *a->readers);
    a->own = a->readers ? mem_zeroed(memory, jobs, sizeof *a->own) : NULL;
    a->jobs = jobs;
    if (!a->own)
        return mem_fail(memory, err, "calls");
    a->readers[0] = me->reader;
    for (unsigned i = 1; i < jobs; i++) {
        memory_share(&a->own[i], memory);
        PFR_TRY(slice_reader_open(&a->readers[i], a->all->reader, &a->own[i], err));
    }
    return PFR_OK;
}

static void close_all(struct ahead *a) {
    struct memory *memory = a->all->memory;
    workers_close(a->workers);
    if (a->reads)
        reading_free(&a->reading);
    for (size_t i = 0; i < SLOTS_MOST; i++)
        mem_free(&a->worker->memory, a->batches[i].calls, a->batches[i].room, sizeof *a->batches[i].calls);
    for (unsigned i = 1; a->own && i < a->jobs; i++)
        slice_reader_close(a->readers[i]);
    mem_free(memory, a->readers, a->readers ? a->jobs : 0, sizeof *a->readers);
    mem_free(memory, a->own, a->own ? a->jobs : 0, sizeof *a->own);
}

pfr_status calls_ahead_run(struct calls_workers *all, unsigned jobs, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    const size_t slots = 2 * jobs + 2 < SLOTS_MOST ? 2 * jobs + 2 : SLOTS_MOST;
    struct ahead a = {.all = all, .worker = &all->at[0].worker, .piece = SIZE_MAX};
    pfr_status st = open_readers(&a, &all->at[0], jobs, err);
    if (st >= 0)
        st = workers_open(&a.workers, all->memory, jobs, slots, decode, &a, err);
    if (st >= 0)
        st = work(&a, err);
    close_all(&a);
    return st;
}
