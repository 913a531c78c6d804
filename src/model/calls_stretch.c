/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorders mostly write buffers in the order in which they were begun. Where that holds and nobody asks whose a call
 * is, the trace is read as it lies, without an index of its buffers: by one lane as a whole, by several lanes a stretch
 * each. A stretch begins where a buffer is found near by its looks; that one begins there indeed is known when the lane
 * before comes to its end. What a stretch cannot know of what is open is joined in the end (calls_pending.c).
 *
 * Whether buffers are in the order of time is looked at in some places first, so that a ring that went round is told at
 * once, and at each buffer. Where they are not, or anything else is unusual, PFR_END has all done by an index.
 */
#include "file/xray.h"
#include "model/calls_parts.h"

#define STRETCH_LEAST ((uint64_t)64 << 10) /* bytes of a stretch */
#define LANE_LEAST ((uint64_t)1 << 20)     /* and of one that is worth a lane, unless more lanes are asked for */
#define POINTS 8u                          /* places that are looked at, at least, of a trace that is not small */
#define THREADS_MOST 256u                  /* each has a stack of open calls for each lane */

struct stretch_thread {
    struct calls_reading reading;
    uint64_t first, last; /* time of its buffers */
};

struct stretch {
    uint64_t begin, end;
    struct intern_table threads; /* struct calls_thread, by number */
    struct stretch_thread *at;   /* `count` of them */
    size_t room;
    uint32_t count;
    uint64_t buffers;
};

struct stretches {
    struct calls_lanes lanes;
    struct stretch *at;
    unsigned count;
    bool stop; /* one of them found that it is of no use; atomic */
};

/* --- One stretch. */

static pfr_status add_thread(struct calls_lane_state *l, struct stretch *s, uint32_t number, uint64_t time,
                             pfr_error *err) {
    if (number == THREADS_MOST)
        return PFR_END;
    void *more = mem_grow(&l->memory, s->at, number, &s->room, 8, sizeof *s->at);
    if (!more)
        return mem_fail(&l->memory, err, "threads");
    s->at = more;
    s->at[number] = (struct stretch_thread){.first = time, .last = time};
    s->count = number + 1;
    PFR_TRY(reading_begin(&s->at[number].reading, l, &s->threads, number, err));
    s->at[number].reading.calls.pending.wanted = l->public.number > 0;
    return PFR_OK;
}

/* PFR_END: its buffers are not in the order of time. */
static pfr_status find_thread(struct calls_lane_state *l, struct stretch *s, const struct calls_thread *who,
                              uint64_t time, struct stretch_thread **thread, pfr_error *err) {
    const uint32_t known = s->threads.count;
    uint32_t number;
    *thread = NULL;
    PFR_TRY(calls_thread_number(&s->threads, who, &number, err));
    const pfr_status st = number == known ? add_thread(l, s, number, time, err) : PFR_OK;
    if (st == PFR_OK)
        *thread = &s->at[number];
    return st != PFR_OK ? st : time < s->at[number].last ? PFR_END : PFR_OK;
}

static pfr_status read_buffer(struct calls_runner *me, struct stretch *s, const struct trace_buffer *b,
                              pfr_error *err) {
    const struct calls_thread who = {b->pid, b->tid, b->has_pid, true};
    struct stretch_thread *thread;
    const pfr_status st = find_thread(&me->lane, s, &who, b->time, &thread, err);
    if (st != PFR_OK)
        return st;
    thread->last = b->time;
    s->buffers++;
    trace_slice_move(me->reader, &b->slice, s->end);
    return calls_read_piece(me, &thread->reading, &b->slice, err);
}

static pfr_status read_buffers(struct calls_runner *me, struct stretch *s, const bool *stop, pfr_error *err) {
    struct trace_buffer b;
    uint64_t at = s->begin;
    while (at < s->end && !__atomic_load_n(stop, __ATOMIC_RELAXED)) {
        pfr_status st = trace_buffer_ahead(me->reader, at, s->end, &b, err);
        if (st == PFR_OK)
            st = b.next > s->end ? PFR_END : read_buffer(me, s, &b, err);
        if (st != PFR_OK)
            return st;
        at = b.next;
    }
    return PFR_OK;
}

/* What the lane gathered is given here, where others do the same. */
static pfr_status end_stretch(struct calls_runner *me, struct stretch *s, pfr_error *err) {
    for (uint32_t i = 0; me->lane.public.number > 0 && i < s->count; i++)
        PFR_TRY(pending_end(&me->lane, &s->at[i].reading.calls, err));
    return gather_end(&me->lane, err);
}

static void *run_stretch(void *context) {
    struct calls_runner *me = context;
    struct stretches *all = me->all->stretches;
    struct stretch *s = &all->at[me->lane.public.number];
    me->status = read_buffers(me, s, &all->stop, &me->err);
    if (me->status == PFR_OK)
        me->status = end_stretch(me, s, &me->err);
    if (me->status != PFR_OK)
        __atomic_store_n(&all->stop, true, __ATOMIC_RELAXED);
    return NULL;
}

/* --- All of them. */

/* A thread of a stretch goes on where the first ones left it, which are one by now. */
static pfr_status join_thread(struct stretches *all, const struct stretch *s, uint32_t number, pfr_error *err) {
    struct calls_lane_state *l = &all->lanes.at[0].lane;
    const struct stretch_thread *from = &s->at[number];
    const struct calls_thread who = calls_thread_at(&s->threads, number);
    struct stretch_thread *to;
    const pfr_status st = find_thread(l, &all->at[0], &who, from->first, &to, err);
    if (st != PFR_OK)
        return st;
    to->last = from->last;
    to->reading.told = to->reading.told || from->reading.told;
    return pending_replay(l, &to->reading.calls, &from->reading.calls, err);
}

/* Limits were met by each lane for itself, which is not where one would meet them. */
static bool met_limits(const struct stretches *all) {
    for (unsigned i = 0; all->count > 1 && i < all->count; i++)
        if (all->lanes.at[i].lane.totals.limited || all->lanes.at[i].lane.totals.too_deep)
            return true;
    return false;
}

static pfr_status join(struct stretches *all, pfr_error *err) {
    if (met_limits(all))
        return PFR_END;
    for (unsigned i = 1; i < all->count; i++)
        for (uint32_t k = 0; k < all->at[i].count; k++) {
            const pfr_status st = join_thread(all, &all->at[i], k, err);
            if (st != PFR_OK)
                return st;
        }
    return PFR_OK;
}

/* Each thread was told by all lanes that met it. */
static pfr_status end_threads(struct stretches *all, struct calls_totals *totals, pfr_error *err) {
    struct stretch *s = &all->at[0];
    totals->buffers = 0;
    for (unsigned i = 0; i < all->count; i++) {
        totals->buffers += all->at[i].buffers;
        all->lanes.at[i].lane.totals.threads = 0;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        all->lanes.at[0].lane.totals.threads += s->at[i].reading.told;
        PFR_TRY(reading_end(&s->at[i].reading, err));
    }
    return PFR_OK;
}

static void free_stretches(struct stretches *all) {
    for (unsigned i = 0; i < all->lanes.count; i++) {
        struct stretch *s = &all->at[i];
        for (uint32_t k = 0; k < s->count; k++)
            reading_free(&s->at[k].reading);
        mem_free(&all->lanes.at[i].lane.memory, s->at, s->room, sizeof *s->at);
        intern_free(&s->threads);
    }
}

static pfr_status read_all(struct stretches *all, struct calls_totals *totals, pfr_error *err) {
    const struct calls_wish *wish = all->lanes.wish;
    PFR_TRY(wish->sink->begin(wish->context, all->count, err));
    pfr_status st = calls_lanes_open(&all->lanes, all->count, err);
    for (unsigned i = 0; i < all->lanes.count; i++)
        intern_init(&all->at[i].threads, &all->lanes.at[i].lane.memory);
    if (st == PFR_OK)
        st = calls_lanes_start(&all->lanes, run_stretch, err);
    if (st == PFR_OK)
        st = join(all, err);
    if (st == PFR_OK)
        st = end_threads(all, totals, err);
    return st == PFR_OK ? calls_lanes_end(&all->lanes, totals, err) : st;
}

/* --- Where they begin. */

struct points {
    uint64_t at, time; /* the last one */
    uint64_t like;     /* bytes of the first buffer */
    uint64_t size;
    unsigned count; /* of parts that points make of the trace */
};

/* The point where a part begins. PFR_END: there is none, or its buffer is older than that of the one before. */
static pfr_status find_point(pfr_reader *reader, struct points *p, unsigned part, pfr_error *err) {
    const uint64_t step = p->size / p->count, from = step * part;
    struct trace_buffer b;
    if (from <= p->at)
        return PFR_END;
    const pfr_status st = trace_buffer_near(reader, from, from + step, p->like, &b, &p->at, err);
    if (st != PFR_OK)
        return st;
    const uint64_t before = p->time;
    p->time = b.time;
    return b.time < before ? PFR_END : PFR_OK;
}

static pfr_status place_stretches(struct stretches *all, pfr_reader *reader, struct points *p, pfr_error *err) {
    const unsigned each = p->count / all->count;
    all->at[0].begin = TRACE_FIRST_BUFFER;
    for (unsigned i = 1; i < p->count; i++) {
        const pfr_status st = find_point(reader, p, i, err);
        if (st != PFR_OK)
            return st;
        if (i % each == 0)
            all->at[i / each - 1].end = all->at[i / each].begin = p->at;
    }
    all->at[all->count - 1].end = p->size;
    return PFR_OK;
}

/* How many lanes, and how many points for them; PFR_END: none. */
static pfr_status count_lanes(const struct calls_wish *wish, uint64_t size, struct stretches *all, struct points *p) {
    const unsigned jobs = calls_jobs(wish);
    const uint64_t parts = size / STRETCH_LEAST, lanes = size / (wish->jobs ? STRETCH_LEAST : LANE_LEAST);
    if (!wish->mixed || (jobs > 1 && wish->reach != 1)) /* paths begin above the stretch */
        return PFR_END;
    all->count = lanes > jobs ? jobs : lanes ? (unsigned)lanes : 1;
    const uint64_t each = (POINTS + all->count - 1) / all->count, most = parts / all->count;
    p->count = all->count * (unsigned)(most > each ? each : most ? most : 1);
    p->size = size;
    return PFR_OK;
}

static pfr_status look(struct stretches *all, pfr_reader *reader, struct points *p, pfr_error *err) {
    struct trace_buffer b;
    pfr_status st = count_lanes(all->lanes.wish, input_size(&reader->parts[0].in), all, p);
    if (st != PFR_OK)
        return st;
    if (reader->nr_findings || reader->limits.records != UINT64_MAX)
        return PFR_HOLE; /* which the walk tells */
    st = trace_buffer_at(reader, TRACE_FIRST_BUFFER, &b, err);
    if (st != PFR_OK || reader->trace->slot_size)
        return st != PFR_OK ? st : PFR_END;
    p->at = TRACE_FIRST_BUFFER;
    p->time = b.time;
    p->like = b.next - TRACE_FIRST_BUFFER;
    return PFR_OK;
}

static pfr_status place_and_read(struct stretches *all, struct points *p, struct calls_totals *totals, pfr_error *err) {
    pfr_status st = place_stretches(all, all->lanes.reader, p, err);
    if (st == PFR_OK)
        st = read_all(all, totals, err);
    free_stretches(all);
    calls_lanes_close(&all->lanes);
    return st;
}

pfr_status calls_stretches_run(pfr_reader *reader, const struct calls_wish *wish, struct calls_totals *totals,
                               pfr_error *err) {
    struct stretches all = {
        .lanes = {.wish = wish, .reader = reader, .memory = &reader->memory, .clean = true, .stretches = &all}};
    struct points p = {.count = 0};
    pfr_status st = look(&all, reader, &p, err);
    if (st != PFR_OK)
        return st;
    all.at = mem_zeroed(&reader->memory, all.count, sizeof *all.at);
    if (!all.at)
        return mem_fail(&reader->memory, err, "calls");
    st = place_and_read(&all, &p, totals, err);
    mem_free(&reader->memory, all.at, all.count, sizeof *all.at);
    return st;
}
