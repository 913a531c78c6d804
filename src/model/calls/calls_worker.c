/* SPDX-License-Identifier: Apache-2.0 */
/* Workers: each reads whole threads of a flight recorder's trace, one after the other. See calls_parts.h. */
#include "base/threads/thread_pool.h"
#include "base/memory/cursor.h"
#include "base/memory/sizes.h"
#include "base/threads/thread_start.h"
#include "file/xray/xray.h"
#include "model/calls/calls_worker.h"
#include "model/calls/calls_fast_path.h"
#include "model/calls/calls_pair.h"
#include "model/calls/calls_prefetch.h"
#include "model/calls/calls_totals.h"

#define JOBS_MOST 64u

/* --- One thread of the trace. */

pfr_status reading_begin(struct calls_reading *g, struct calls_worker_state *worker, const struct intern_table *threads,
                         uint32_t thread, pfr_error *err) {
    *g = (struct calls_reading){.worker = worker, .thread = calls_thread_at(threads, thread)};
    return thread_calls_init(&g->calls, &worker->memory, err);
}

void reading_free(struct calls_reading *g) {
    thread_calls_free(&g->calls);
}

/* Reports the thread with its first call: a thread that has only events is not reported. */
pfr_status reading_report(struct calls_reading *g, pfr_error *err) {
    if (g->reported)
        return PFR_OK;
    g->reported = true;
    g->worker->totals.threads++;
    return worker_thread(g->worker, &g->thread, err);
}

pfr_status reading_take(struct calls_reading *g, const struct xray_call *calls, size_t count, pfr_error *err) {
    PFR_TRY(reading_report(g, err));
    return pair_calls(g->worker, &g->calls, calls, count, err);
}

/* Notes the first and last time of a run. Times only increase within a run, so its first and last call suffice, unless
   times wrap at 2^64. The time before the run does not count, because it may not be that of a call. */
static void note_run(struct calls_totals *totals, const struct xray_run *from, const struct xray_run *to) {
    const bool wraps = to->tsc < from->tsc;
    uint64_t tsc = from->tsc;
    for (const uint8_t *at = from->at; at < to->at && (wraps || at == from->at); at += TRACE_CALL) {
        const uint64_t word = load_u64(at, false);
        calls_note_time(totals, tsc += word >> 32);
    }
    if (to->at > from->at)
        calls_note_time(totals, to->tsc);
}

pfr_status reading_take_run(struct calls_reading *g, struct xray_run *run, pfr_error *err) {
    const struct xray_run from = *run;
    PFR_TRY(reading_report(g, err));
    const pfr_status st = pair_run(g->worker, &g->calls, run, err);
    note_run(&g->worker->totals, &from, run);
    return st;
}

pfr_status reading_end(struct calls_reading *g, pfr_error *err) {
    return pair_end(g->worker, &g->calls, err);
}

/* The file offset up to which the pieces from this one on follow each other closely. These pieces are read with
   one request. */
uint64_t calls_read_ahead(const struct calls_index *x, size_t at, size_t end) {
    const uint64_t from = x->pieces[at].slice.at;
    uint64_t until = x->pieces[at].slice.until;
    for (at++; at < end && until - from < CALLS_AHEAD_MOST; at++) {
        const struct xray_slice *next = &x->pieces[at].slice;
        if (!calls_lie_close(until, next->at))
            break;
        until = next->until;
    }
    return until;
}

static void count_untimed(struct calls_runner *me, size_t count) {
    if (!me->reader->trace->point.timed)
        me->worker.totals.untimed += count;
}

static pfr_status take_calls(struct calls_runner *me, struct calls_reading *g, const struct xray_call *calls,
                             size_t count, pfr_error *err) {
    count_untimed(me, count);
    calls_note_times(&me->worker.totals, calls, count);
    return reading_take(g, calls, count, err);
}

/* Takes the runs of calls that follow a call. */
static pfr_status take_runs(struct calls_runner *me, struct calls_reading *g, pfr_error *err) {
    struct xray_call calls[CALLS_BATCH];
    struct xray_run run;
    size_t count;
    while (xray_run_at(me->reader, &run)) {
        const uint8_t *const begin = run.at;
        PFR_TRY(reading_take_run(g, &run, err));
        count_untimed(me, (size_t)(run.at - begin) / TRACE_CALL);
        xray_run_taken(me->reader, &run);
        if (run.at < run.end)
            return PFR_OK;
    }
    while ((count = xray_take_calls(me->reader, calls, sizes.calls_batch)) > 0)
        PFR_TRY(take_calls(me, g, calls, count, err));
    return PFR_OK;
}

static pfr_status take_record(struct calls_runner *me, struct calls_reading *g, const pfr_record *rec, pfr_error *err) {
    struct xray_call call;
    if (xray_call_of(me->reader, rec, &call))
        return take_calls(me, g, &call, 1, err);
    calls_count_event(&me->worker.totals, rec);
    return PFR_OK;
}

pfr_status calls_read_piece(struct calls_runner *me, struct calls_reading *g, const struct xray_slice *slice,
                            pfr_error *err) {
    pfr_reader *r = me->reader;
    pfr_record rec;
    while (r->cursor.at < slice->until) {
        const pfr_status st = pfr_next(r, &rec, err);
        if (st < 0 || (st == PFR_HOLE && me->all->clean))
            return st;
        if (st == PFR_END)
            break;
        if (st == PFR_HOLE) /* already reported by the pass over all records */
            continue;
        PFR_TRY(take_record(me, g, &rec, err));
        PFR_TRY(take_runs(me, g, err));
    }
    return PFR_OK;
}

static pfr_status read_pieces(struct calls_runner *me, struct calls_reading *g, size_t at, size_t end, pfr_error *err) {
    const struct calls_index *x = me->all->index;
    for (; at < end; at++) {
        xray_slice_move(me->reader, &x->pieces[at].slice, calls_read_ahead(x, at, end));
        const pfr_status st = calls_read_piece(me, g, &x->pieces[at].slice, err);
        if (st != PFR_OK)
            return st;
    }
    return reading_end(g, err);
}

static pfr_status read_thread(struct calls_runner *me, uint32_t number, pfr_error *err) {
    const struct calls_index *x = me->all->index;
    struct calls_reading g;
    pfr_status st = reading_begin(&g, &me->worker, &x->threads, number, err);
    if (st >= 0)
        st = read_pieces(me, &g, x->thread_begins[number], x->thread_begins[number + 1], err);
    reading_free(&g);
    return st;
}

/* --- All workers. */

static void *run_worker(void *context) {
    struct calls_runner *me = context;
    struct calls_workers *all = me->all;
    for (;;) {
        const uint32_t i = __atomic_fetch_add(&all->next, 1, __ATOMIC_RELAXED);
        if (i >= all->index->threads.count)
            return NULL;
        me->status = read_thread(me, all->index->by_size[i], &me->err);
        if (me->status != PFR_OK) {
            __atomic_store_n(&all->next, all->index->threads.count,
                             __ATOMIC_RELAXED); /* makes the other workers stop */
            return NULL;
        }
    }
}

unsigned calls_jobs(const struct calls_request *request) {
    const unsigned wanted = request->jobs ? request->jobs : thread_pool_cpus();
    return wanted < JOBS_MOST ? wanted : JOBS_MOST;
}

static unsigned count_workers(const struct calls_workers *all, unsigned jobs) {
    const unsigned threads = all->index->threads.count;
    return jobs < threads ? jobs : threads > 0 ? threads : 1;
}

pfr_status calls_workers_open(struct calls_workers *all, unsigned jobs, pfr_error *err) {
    all->at = mem_zeroed(all->memory, jobs, sizeof *all->at);
    if (!all->at)
        return mem_fail(all->memory, err, "calls");
    all->room = jobs;
    for (; all->count < jobs; all->count++) {
        struct calls_runner *me = &all->at[all->count];
        me->all = all;
        memory_share(&me->own, all->memory);
        PFR_TRY(slice_reader_open(&me->reader, all->reader, &me->own, err));
        const pfr_status st = worker_init(&me->worker, all->count, jobs, all->request, &me->own, err);
        if (st < 0) {
            slice_reader_close(me->reader);
            return st;
        }
    }
    return PFR_OK;
}

void calls_workers_close(struct calls_workers *all) {
    for (unsigned i = 0; i < all->count; i++) {
        worker_free(&all->at[i].worker);
        slice_reader_close(all->at[i].reader);
    }
    mem_free(all->memory, all->at, all->room, sizeof *all->at);
}

/* PFR_HOLE and PFR_END take precedence over errors, because everything then restarts. */
static void add_status(const struct calls_runner *me, pfr_status *st, pfr_error *err) {
    if (me->status < 0 && *st == PFR_OK && err)
        *err = me->err;
    if (me->status > 0 ? me->status > *st : *st == PFR_OK)
        *st = me->status;
}

/* The calling thread does the work of threads that could not be started. */
pfr_status calls_workers_start(struct calls_workers *all, void *(*run)(void *), pfr_error *err) {
    pfr_status st = PFR_OK;
    for (unsigned i = 1; i < all->count; i++)
        all->at[i].runs = thread_begin(&all->at[i].thread, run, &all->at[i]);
    run(&all->at[0]);
    for (unsigned i = 1; i < all->count; i++)
        if (all->at[i].runs)
            pthread_join(all->at[i].thread, NULL);
        else
            run(&all->at[i]);
    for (unsigned i = 0; i < all->count; i++)
        add_status(&all->at[i], &st, err);
    return st;
}

pfr_status calls_workers_end(struct calls_workers *all, struct calls_totals *totals, pfr_error *err) {
    const struct calls_sink *sink = all->request->sink;
    for (unsigned i = 0; i < all->count; i++) {
        calls_totals_add(totals, &all->at[i].worker.totals);
        if (sink->end)
            PFR_TRY(sink->end(all->request->context, &all->at[i].worker.public, err));
    }
    return PFR_OK;
}

pfr_status calls_workers_run(struct calls_workers *all, struct calls_totals *totals, pfr_error *err) {
    const unsigned jobs = calls_jobs(all->request);
    const bool ahead = calls_ahead_wanted(all->index, jobs);
    const unsigned workers = ahead ? 1 : count_workers(all, jobs);
    pfr_status st = all->request->sink->begin(all->request->context, workers, err);
    if (st >= 0)
        st = calls_workers_open(all, workers, err);
    if (st >= 0)
        st = ahead ? calls_ahead_run(all, jobs, err) : calls_workers_start(all, run_worker, err);
    if (st == PFR_OK)
        st = calls_workers_end(all, totals, err);
    calls_workers_close(all);
    return st;
}
