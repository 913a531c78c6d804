/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorders mostly write buffers in the order in which they were begun. In that case, and if the thread of a call does
 * not matter, the trace is read in file order, without an index of its buffers: by one worker as a whole, or by several
 * workers in chunks. A chunk begins at bytes that look like the start of a buffer. Whether a buffer really starts there
 * is known when the worker of the previous chunk reaches that place. Calls open at the start of a chunk are resolved at
 * the end (calls_pending.c).
 *
 * The trace is divided into units, and each worker begins with a chunk of about equal size. A worker that has finished
 * its chunk looks for the chunk with the most units that are not begun yet, and takes the last half of these units as a
 * new chunk.
 *
 * The order of buffers in time is first sampled at some places, so that a ring buffer that wrapped around is detected
 * early, and then checked at each buffer. If buffers are out of order, or if anything else is unusual, PFR_END makes
 * the caller read by an index.
 */
#include "file/xray/recorder_notes.h"
#include "file/xray/xray.h"
#include "model/calls/calls_chunk.h"
#include "model/calls/calls_gather.h"
#include "model/calls/calls_index.h"
#include "model/calls/calls_join.h"
#include "model/calls/calls_pair.h"
#include "model/calls/calls_pending.h"
#include "model/calls/calls_round_robin.h"
#include "model/calls/calls_worker.h"

#include "base/memory/sizes.h"

/* Minimum bytes of a trace per worker, unless the request sets the number of workers. */
#define WORKER_BYTES_LEAST ((uint64_t)1 << 20)
#define POINTS 8u         /* number of units of a single worker, unless the trace is small */
#define UNITS 32u         /* number of units of all workers together, if there are several workers */
#define FASTER 16u        /* with whole paths, the first worker begins with 1/FASTER more units than an equal share */
#define LEFT_LEAST 3u     /* with fewer units left, a chunk is not divided: each new chunk needs paths of its own */
#define MEET_EACH 2u      /* threads are examined at one in this many units */
#define THREADS_MOST 256u /* every worker has a stack of open calls for each thread */

struct chunk_thread {
    struct calls_reading reading;
    uint64_t first, last; /* times of its first and last buffer */
};

struct xray_chunk {
    struct calls_worker_state *worker; /* the worker that reads the chunk */
    unsigned first;                    /* index of its first unit */
    unsigned next, until;              /* units not begun; protected by the lock */
    struct intern_table threads;       /* struct calls_thread, by number */
    struct chunk_thread *at;           /* by number of the thread; `count` elements are in use */
    size_t room;
    uint32_t count;
    uint64_t buffers;
};

struct chunks {
    struct calls_workers workers;
    pthread_mutex_t lock;  /* protects what other workers may take */
    struct xray_chunk *at; /* room for one per unit; the workers' initial chunks come first */
    unsigned count;
    uint64_t *points; /* offsets of the units, and the end */
    unsigned units, nr_workers;
    bool stop; /* a worker found that this method does not apply; atomic */
};

static void begin_chunk(struct chunks *all, struct calls_worker_state *worker, unsigned first, unsigned until) {
    struct xray_chunk *s = &all->at[all->count++];
    *s = (struct xray_chunk){.worker = worker, .first = first, .next = first, .until = until};
    intern_init(&s->threads, &worker->memory);
}

/* --- One chunk. */

static pfr_status add_thread(struct calls_worker_state *l, struct xray_chunk *s, uint32_t number, uint64_t time,
                             pfr_error *err) {
    if (number == THREADS_MOST)
        return PFR_END;
    void *more = mem_grow(&l->memory, s->at, number, &s->room, 8, sizeof *s->at);
    if (!more)
        return mem_fail(&l->memory, err, "threads");
    s->at = more;
    s->at[number] = (struct chunk_thread){.first = time, .last = time};
    s->count = number + 1;
    PFR_TRY(reading_begin(&s->at[number].reading, l, &s->threads, number, err));
    return s->first > 0 ? pending_begin(l, &s->at[number].reading.calls, err) : PFR_OK;
}

/* PFR_END: the buffers of the thread are not in order of time. */
static pfr_status find_thread(struct calls_worker_state *l, struct xray_chunk *s, const struct calls_thread *who,
                              uint64_t time, struct chunk_thread **thread, pfr_error *err) {
    const uint32_t known = s->threads.count;
    uint32_t number;
    *thread = NULL;
    PFR_TRY(calls_thread_number(&s->threads, who, &number, err));
    const pfr_status st = number == known ? add_thread(l, s, number, time, err) : PFR_OK;
    if (st == PFR_OK)
        *thread = &s->at[number];
    return st != PFR_OK ? st : time < s->at[number].last ? PFR_END : PFR_OK;
}

static pfr_status read_buffer(struct calls_runner *me, struct xray_chunk *s, const struct xray_buffer *b, uint64_t end,
                              pfr_error *err) {
    const struct calls_thread who = {b->pid, b->tid, b->has_pid, true};
    struct chunk_thread *thread;
    const pfr_status st = find_thread(&me->worker, s, &who, b->time, &thread, err);
    if (st != PFR_OK)
        return st;
    thread->last = b->time;
    s->buffers++;
    xray_slice_move(me->reader, &b->slice, end);
    const pfr_status read = calls_read_piece(me, &thread->reading, &b->slice, err);
    return read == PFR_OK && thread->reading.calls.pending.too_many ? PFR_END : read;
}

static pfr_status read_unit(struct calls_runner *me, struct xray_chunk *s, unsigned unit, pfr_error *err) {
    const struct chunks *all = me->all->chunks;
    const uint64_t end = all->points[unit + 1];
    struct xray_buffer b;
    uint64_t at = all->points[unit];
    while (at < end && !__atomic_load_n(&all->stop, __ATOMIC_RELAXED)) {
        pfr_status st = xray_buffer_ahead(me->reader, at, end, &b, err);
        if (st == PFR_OK)
            st = b.next > end ? PFR_END : read_buffer(me, s, &b, end, err);
        if (st != PFR_OK)
            return st;
        at = b.next;
    }
    return PFR_OK;
}

/* Delivers the collected calls to the sink, while other workers may do the same. If chunks are joined as sums, only
   adds the batched calls to the sums, which are delivered after join_sums(). */
static pfr_status end_chunk(struct calls_runner *me, struct xray_chunk *s, pfr_error *err) {
    for (uint32_t i = 0; s->first > 0 && i < s->count; i++)
        PFR_TRY(pending_end(&s->at[i].reading.calls, err));
    return join_takes_sums(me->worker.request) ? pair_flush(&me->worker, err) : gather_end(&me->worker, err);
}

/* The next unit of a chunk; false: no unit is left. */
static bool take_unit(struct chunks *all, struct xray_chunk *s, unsigned *unit) {
    pthread_mutex_lock(&all->lock);
    const bool any = s->next < s->until;
    *unit = any ? s->next++ : 0;
    pthread_mutex_unlock(&all->lock);
    return any;
}

static pfr_status read_chunk(struct calls_runner *me, struct xray_chunk *s, pfr_error *err) {
    unsigned unit;
    while (take_unit(me->all->chunks, s, &unit)) {
        const pfr_status st = read_unit(me, s, unit, err);
        if (st != PFR_OK)
            return st;
    }
    return end_chunk(me, s, err);
}

/* Number of units that other workers may take: all but the first unit, which keeps the chunk from becoming empty. */
static unsigned count_left(const struct xray_chunk *s) {
    const unsigned from = s->next > s->first ? s->next : s->first + 1;
    return s->until > from ? s->until - from : 0;
}

/* Takes half of the remaining units, the last ones, from the chunk that has the most, as a new chunk of this worker.
   NULL: no chunk has enough units left. */
static struct xray_chunk *take_over(struct chunks *all, struct calls_worker_state *worker) {
    struct xray_chunk *from = &all->at[0], *mine = NULL;
    pthread_mutex_lock(&all->lock);
    for (unsigned i = 1; i < all->count; i++)
        if (count_left(&all->at[i]) > count_left(from))
            from = &all->at[i];
    const unsigned left = count_left(from), count = (left + 1) / 2;
    if (left >= LEFT_LEAST && !__atomic_load_n(&all->stop, __ATOMIC_RELAXED)) {
        mine = &all->at[all->count];
        begin_chunk(all, worker, from->until - count, from->until);
        from->until -= count;
    }
    pthread_mutex_unlock(&all->lock);
    return mine;
}

static void *run_worker(void *context) {
    struct calls_runner *me = context;
    struct chunks *all = me->all->chunks;
    struct xray_chunk *s = &all->at[me->worker.public.number];
    for (; s && me->status == PFR_OK; s = take_over(all, &me->worker))
        me->status = read_chunk(me, s, &me->err);
    if (me->status != PFR_OK)
        __atomic_store_n(&all->stop, true, __ATOMIC_RELAXED);
    return NULL;
}

/* --- All chunks. */

/* Pairs the pending events of a thread of the chunk with the calls that the earlier chunks, already joined, left open
   in that thread. */
static pfr_status join_thread(struct chunks *all, const struct xray_chunk *s, uint32_t number, pfr_error *err) {
    struct calls_worker_state *l = &all->workers.at[0].worker;
    const struct chunk_thread *from = &s->at[number];
    const struct calls_thread who = calls_thread_at(&s->threads, number);
    struct chunk_thread *to;
    const pfr_status st = find_thread(l, &all->at[0], &who, from->first, &to, err);
    if (st != PFR_OK)
        return st;
    to->last = from->last;
    if (from->reading.reported)
        PFR_TRY(reading_report(&to->reading, err));
    return pending_replay(l, &to->reading.calls, s->worker, &from->reading.calls, err);
}

/* Whether a worker met a limit. If so, the result would not be that of a single worker: each worker has limits
   of its own, and which paths get no memory depends on the order in which the calls of the threads are read. */
static bool met_limits(const struct chunks *all) {
    const bool sums = join_takes_sums(all->workers.request);
    for (unsigned i = 0; i < all->nr_workers; i++) {
        const struct calls_totals *totals = &all->workers.at[i].worker.totals;
        if ((totals->limited && (sums || all->nr_workers > 1)) || (totals->too_deep && all->nr_workers > 1))
            return true;
    }
    return false;
}

static const struct xray_chunk *chunk_from(const struct chunks *all, unsigned unit) {
    const struct xray_chunk *s = all->at;
    while (s->first != unit)
        s++;
    return s;
}

/* Joins the chunks in file order. */
static pfr_status join_chunks(struct chunks *all, pfr_error *err) {
    for (unsigned unit = all->at[0].until; unit < all->units;) {
        const struct xray_chunk *s = chunk_from(all, unit);
        for (uint32_t k = 0; k < s->count; k++) {
            const pfr_status st = join_thread(all, s, k, err);
            if (st != PFR_OK)
                return st;
        }
        unit = s->until;
    }
    return PFR_OK;
}

static pfr_status join(struct chunks *all, pfr_error *err) {
    const bool sums = join_takes_sums(all->workers.request);
    struct calls_worker_state *to = &all->workers.at[0].worker;
    pfr_status st = met_limits(all) ? PFR_END : PFR_OK;
    for (unsigned i = 0; st == PFR_OK && i < all->nr_workers; i++)
        st = join_begin(&all->workers.at[i].worker, err);
    if (st == PFR_OK)
        st = join_chunks(all, err);
    for (unsigned i = 0; sums && st == PFR_OK && i < all->nr_workers; i++)
        st = join_sums(to, &all->workers.at[i].worker, err);
    return st;
}

/* Several workers may have counted the same thread, so the threads are counted again here. */
static pfr_status end_threads(struct chunks *all, struct calls_totals *totals, pfr_error *err) {
    struct xray_chunk *s = &all->at[0];
    totals->buffers = 0;
    for (unsigned i = 0; i < all->count; i++)
        totals->buffers += all->at[i].buffers;
    for (unsigned i = 0; i < all->nr_workers; i++)
        all->workers.at[i].worker.totals.threads = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        all->workers.at[0].worker.totals.threads += s->at[i].reading.reported;
        PFR_TRY(reading_end(&s->at[i].reading, err));
    }
    return PFR_OK;
}

static void free_chunks(struct chunks *all) {
    for (unsigned i = 0; i < all->count; i++) {
        struct xray_chunk *s = &all->at[i];
        for (uint32_t k = 0; k < s->count; k++)
            reading_free(&s->at[k].reading);
        mem_free(&s->worker->memory, s->at, s->room, sizeof *s->at);
        intern_free(&s->threads);
    }
}

/* First unit of a worker. With whole paths the first worker gets more units: it is faster, because only its paths are
   common to all threads. */
static unsigned home_of(const struct chunks *all, unsigned worker) {
    const unsigned each = all->units / all->nr_workers, more = all->workers.request->reach ? 0 : each / FASTER;
    return worker == 0 ? 0 : worker == all->nr_workers ? all->units : worker * each + more;
}

static pfr_status read_all(struct chunks *all, struct calls_totals *totals, pfr_error *err) {
    const struct calls_request *request = all->workers.request;
    PFR_TRY(request->sink->begin(request->context, all->nr_workers, err));
    pfr_status st = calls_workers_open(&all->workers, all->nr_workers, err);
    for (unsigned i = 0; i < all->workers.count; i++)
        begin_chunk(all, &all->workers.at[i].worker, home_of(all, i), home_of(all, i + 1));
    if (st == PFR_OK)
        st = calls_workers_start(&all->workers, run_worker, err);
    if (st == PFR_OK)
        st = join(all, err);
    if (st == PFR_OK)
        st = end_threads(all, totals, err);
    return st == PFR_OK ? calls_workers_end(&all->workers, totals, err) : st;
}

/* --- Start of the units. */

struct chunk_points {
    bool meet; /* also examine which threads the buffers belong to */
    struct calls_met met;
    uint64_t at, time; /* offset and time of the last point */
    uint64_t like;     /* bytes of the first buffer */
    uint64_t size, step;
};

/* The buffer at which a unit begins. PFR_END: not found, or older than the buffer of the previous unit. */
static pfr_status find_point(pfr_reader *reader, struct chunk_points *p, unsigned unit, pfr_error *err) {
    const uint64_t step = p->step, from = step * unit;
    struct xray_buffer b;
    if (from <= p->at)
        return PFR_END;
    const pfr_status st = xray_buffer_near(reader, from, from + step, p->like, &b, &p->at, err);
    if (st != PFR_OK)
        return st;
    const uint64_t before = p->time;
    p->time = b.time;
    if (b.time < before)
        return PFR_END;
    return p->meet && unit % MEET_EACH == 0 ? calls_turns_meet(&p->met, reader, &b, err) : PFR_OK;
}

static pfr_status place_units(struct chunks *all, pfr_reader *reader, struct chunk_points *p, pfr_error *err) {
    all->points[0] = TRACE_FIRST_BUFFER;
    for (unsigned i = 1; i < all->units; i++) {
        const pfr_status st = find_point(reader, p, i, err);
        if (st != PFR_OK)
            return st;
        all->points[i] = p->at;
    }
    all->points[all->units] = p->size;
    return PFR_OK;
}

/* Chooses the number of workers and of units. PFR_END: the trace cannot be read in chunks. */
static pfr_status count_workers(const struct calls_request *request, uint64_t size, struct chunks *all,
                                struct chunk_points *p) {
    const unsigned jobs = calls_jobs(request);
    const uint64_t parts = size / sizes.calls_chunk,
                   workers = size / (request->jobs ? sizes.calls_chunk : WORKER_BYTES_LEAST);
    if (!request->mixed || (jobs > 1 && !join_can_be(request)))
        return PFR_END;
    const unsigned count = workers > jobs ? jobs : workers ? (unsigned)workers : 1;
    const uint64_t each = count > 1 ? (UNITS + count - 1) / count : POINTS, most = parts / count;
    all->nr_workers = count;
    all->units = count * (unsigned)(most > each ? each : most ? most : 1);
    p->size = size;
    p->step = size / all->units;
    return PFR_OK;
}

static pfr_status look(struct chunks *all, pfr_reader *reader, struct chunk_points *p, pfr_error *err) {
    struct xray_buffer b;
    pfr_status st = count_workers(all->workers.request, input_size(&reader->parts[0].in), all, p);
    if (st != PFR_OK)
        return st;
    if (reader->damage.nr_findings || reader->limits.records != UINT64_MAX)
        return PFR_HOLE; /* the later pass over all records reports the damage */
    st = xray_buffer_at(reader, TRACE_FIRST_BUFFER, &b, err);
    if (st == PFR_OK && recorder_missing(reader, input_size(&reader->parts[0].in)))
        return PFR_HOLE;
    if (st != PFR_OK || reader->trace->slot_size)
        return st != PFR_OK ? st : PFR_END;
    p->at = TRACE_FIRST_BUFFER;
    p->time = b.time;
    p->like = b.next - TRACE_FIRST_BUFFER;
    p->meet = all->nr_workers > 1 && all->workers.request->reach == 0;
    return PFR_OK;
}

static pfr_status read_chunks(struct chunks *all, struct calls_totals *totals, pfr_error *err) {
    pthread_mutex_init(&all->lock, NULL);
    const pfr_status st = read_all(all, totals, err);
    pthread_mutex_destroy(&all->lock);
    free_chunks(all);
    return st;
}

static pfr_status place_and_read(struct chunks *all, struct chunk_points *p, struct calls_totals *totals,
                                 pfr_error *err) {
    pfr_status st = place_units(all, all->workers.reader, p, err);
    if (st != PFR_OK)
        return st;
    if (p->meet && calls_turns_wanted(&p->met, all->nr_workers))
        st = calls_turns_run(&all->workers, all->nr_workers, p->like, totals, err);
    else
        st = read_chunks(all, totals, err);
    calls_workers_close(&all->workers);
    return st;
}

pfr_status calls_chunks_run(pfr_reader *reader, const struct calls_request *request, struct calls_totals *totals,
                            pfr_error *err) {
    struct chunks all = {
        .workers = {.request = request, .reader = reader, .memory = &reader->memory, .clean = true, .chunks = &all}};
    struct memory *memory = &reader->memory;
    struct chunk_points p = {.size = 0};
    pfr_status st = look(&all, reader, &p, err);
    if (st != PFR_OK)
        return st;
    all.at = mem_zeroed(memory, all.units, sizeof *all.at);
    all.points = all.at ? mem_alloc(memory, all.units + 1, sizeof *all.points) : NULL;
    st = all.points ? place_and_read(&all, &p, totals, err) : mem_fail(memory, err, "calls");
    mem_free(memory, all.points, all.points ? all.units + 1 : 0, sizeof *all.points);
    mem_free(memory, all.at, all.at ? all.units : 0, sizeof *all.at);
    return st;
}
