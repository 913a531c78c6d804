/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stretch of a trace (calls_stretch.c) does not know what is open where it begins, so that its whole paths are its
 * own for each thread: several times as many as there are, which are more than the caches near a processor hold. Where
 * threads lie mixed in the file there is another way, which has none but the paths that there are: lanes take buffers
 * in the order of the file, each those of a thread of which no other lane reads, and what is open in that thread goes
 * to the lane with them.
 *
 *     the file   | 1 | 2 | 1 | 3 | 2 | 1 | 3 | 2 |     buffers of threads 1, 2, 3
 *     lane 0       1       1           1
 *     lane 1           2           2           2       and 3 goes to whoever has none of his own
 *
 * Who wants buffers finds some more first, by their headers: a window of those that nobody took. A lane goes on with
 * threads that it had before as long as there are any, since another lane has to look for the paths of what is open
 * anew.
 */
#include "model/calls_parts.h"

#define MET_IN_A_PLACE 4u
#define WINDOW 64u
#define TURN_MOST 4u      /* buffers that are taken at once, all of one thread */
#define THREADS_MOST 256u /* others are not worth it: each is looked at whenever buffers are taken */
#define DEPTH_MOST 4096u  /* open calls beyond which a thread stays with its lane */

struct turn_thread {
    struct calls_reading reading; /* its lane is the one that had it last */
    struct memory memory;         /* what is open is of no lane */
    uint64_t last;                /* time of its last buffer that was found */
    bool taken;
};

struct turn_buffer {
    struct trace_slice slice;
    struct turn_thread *thread;
};

/* What a lane reads until it asks for more; none: nothing is left. */
struct turn {
    struct trace_slice at[TURN_MOST];
    unsigned count;
    struct turn_thread *thread;
};

/* All of it under the lock, except what a lane has taken. */
struct turns {
    struct calls_lanes *lanes;
    struct memory memory;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* there may be a buffer for who found none */
    struct intern_table threads;
    struct turn_thread *at; /* by thread, room for THREADS_MOST */
    struct turn_buffer window[WINDOW];
    unsigned waiting; /* in it, in the order of the file */
    uint64_t next;    /* where the next buffer is */
    uint64_t buffers;
    bool ended, stop;
};

/* --- Whether it is worth it. */

static void meet(struct calls_met *met, const struct trace_buffer *b) {
    unsigned i = 0;
    met->buffers++;
    while (i < met->threads && (met->at[i].pid != b->pid || met->at[i].tid != b->tid))
        i++;
    if (i == TURNS_MET)
        return;
    met->at[i].pid = b->pid;
    met->at[i].tid = b->tid;
    met->at[i].count++;
    met->threads += i == met->threads;
}

pfr_status calls_turns_meet(struct calls_met *met, pfr_reader *reader, uint64_t at, pfr_error *err) {
    struct trace_buffer first = {.tid = 0}, b;
    bool alone = true;
    for (unsigned i = 0; i < MET_IN_A_PLACE; i++, at = b.next) {
        const pfr_status st = trace_buffer_at(reader, at, &b, err);
        if (st != PFR_OK)
            return st < 0 ? st : PFR_OK; /* who reads it is told */
        meet(met, &b);
        first = i ? first : b;
        alone = alone && b.pid == first.pid && b.tid == first.tid;
    }
    met->places++;
    met->alone += alone;
    return PFR_OK;
}

/* None has more than its part, and a quarter of it; those that were not counted came late, and are few. */
bool calls_turns_wanted(const struct calls_met *met, unsigned lanes) {
    for (unsigned i = 0; i < met->threads; i++)
        if (met->at[i].count * lanes * 4 > met->buffers * 5)
            return false;
    return met->places > 0 && met->alone * 4 <= met->places;
}

/* --- Buffers, as they are found. */

static pfr_status add_thread(struct turns *all, uint32_t number, pfr_error *err) {
    struct turn_thread *t = &all->at[number];
    memory_share(&t->memory, all->lanes->memory);
    t->reading.thread = calls_thread_at(&all->threads, number);
    return thread_calls_init(&t->reading.calls, &t->memory, err);
}

/* PFR_END: its buffers are not in the order of time, or it is one too many. */
static pfr_status find_thread(struct turns *all, const struct trace_buffer *b, struct turn_thread **thread,
                              pfr_error *err) {
    const struct calls_thread who = {b->pid, b->tid, b->has_pid, true};
    const uint32_t known = all->threads.count;
    uint32_t number;
    if (known > THREADS_MOST)
        return PFR_END;
    PFR_TRY(calls_thread_number(&all->threads, &who, &number, err));
    if (number == THREADS_MOST)
        return PFR_END;
    *thread = &all->at[number];
    PFR_TRY(number == known ? add_thread(all, number, err) : PFR_OK);
    if (b->time < (*thread)->last)
        return PFR_END;
    (*thread)->last = b->time;
    return PFR_OK;
}

static pfr_status find_buffer(struct turns *all, pfr_reader *reader, pfr_error *err) {
    struct trace_buffer b;
    struct turn_thread *thread;
    pfr_status st = trace_buffer_at(reader, all->next, &b, err);
    all->ended = st == PFR_END;
    if (st != PFR_OK)
        return st == PFR_END ? PFR_OK : st;
    st = find_thread(all, &b, &thread, err);
    if (st != PFR_OK)
        return st;
    all->window[all->waiting++] = (struct turn_buffer){b.slice, thread};
    all->next = b.next;
    all->buffers++;
    return PFR_OK;
}

/* As many as there is room for. */
static pfr_status find_buffers(struct turns *all, pfr_reader *reader, pfr_error *err) {
    const unsigned had = all->waiting;
    pfr_status st = PFR_OK;
    while (st == PFR_OK && all->waiting < WINDOW && !all->ended)
        st = find_buffer(all, reader, err);
    if (all->waiting > had)
        pthread_cond_broadcast(&all->changed);
    return st;
}

/* --- Turns. */

/* The first one of a thread that this lane had, else of one that it may have; `waiting`: there is none. */
static unsigned choose(const struct turns *all, const struct calls_lane_state *lane) {
    unsigned other = all->waiting;
    for (unsigned i = 0; i < all->waiting; i++) {
        const struct turn_thread *t = all->window[i].thread;
        if (!t->taken && t->reading.lane == lane)
            return i;
        if (!t->taken && other == all->waiting && t->reading.calls.depth <= DEPTH_MOST)
            other = i;
    }
    return other;
}

/* The buffer there, and those of the same thread that follow. */
static void take(struct turns *all, unsigned from, struct turn *turn) {
    unsigned left = from;
    turn->thread = all->window[from].thread;
    turn->thread->taken = true;
    for (unsigned i = from; i < all->waiting; i++)
        if (all->window[i].thread == turn->thread && turn->count < TURN_MOST)
            turn->at[turn->count++] = all->window[i].slice;
        else
            all->window[left++] = all->window[i];
    all->waiting = left;
}

static void give_back(struct turns *all, struct turn *turn) {
    if (turn->thread)
        turn->thread->taken = false;
    *turn = (struct turn){.count = 0};
    pthread_cond_broadcast(&all->changed);
}

/* As long as all that was found is of threads that others read, those give one back. */
static pfr_status next_turn(struct turns *all, struct calls_runner *me, struct turn *turn, pfr_error *err) {
    while (!all->stop) {
        PFR_TRY(find_buffers(all, me->reader, err));
        const unsigned at = choose(all, &me->lane);
        if (at < all->waiting)
            return take(all, at, turn), PFR_OK;
        if (all->waiting == 0)
            return PFR_OK;
        pthread_cond_wait(&all->changed, &all->lock);
    }
    return PFR_OK;
}

/* What is open there is of this lane's paths from now on. */
static pfr_status take_over(struct calls_lane_state *l, struct calls_reading *g, pfr_error *err) {
    struct open_call *open = g->calls.open;
    const bool had = g->lane == l;
    g->lane = l;
    for (size_t i = 1; i <= g->calls.depth && !had; i++)
        PFR_TRY(lane_child(l, open[i - 1].node, open[i].function, &open[i].node, err));
    return PFR_OK;
}

static pfr_status read_turn(struct calls_runner *me, const struct turn *turn, pfr_error *err) {
    struct calls_reading *g = &turn->thread->reading;
    pfr_status st = take_over(&me->lane, g, err);
    for (unsigned i = 0; st == PFR_OK && i < turn->count; i++) {
        trace_slice_move(me->reader, &turn->at[i], turn->at[i].until);
        st = calls_read_piece(me, g, &turn->at[i], err);
    }
    return st;
}

/* Gives back the turn that was read, and asks for another one. Nobody goes on where one failed. */
static pfr_status ask(struct turns *all, struct calls_runner *me, struct turn *turn, pfr_status st, pfr_error *err) {
    pthread_mutex_lock(&all->lock);
    give_back(all, turn);
    if (st == PFR_OK)
        st = next_turn(all, me, turn, err);
    all->stop = all->stop || st != PFR_OK;
    pthread_mutex_unlock(&all->lock);
    return st;
}

static void *run_lane(void *context) {
    struct calls_runner *me = context;
    struct turns *all = me->all->turns;
    struct turn turn = {.count = 0};
    pfr_status st = ask(all, me, &turn, PFR_OK, &me->err);
    while (st == PFR_OK && turn.count > 0) {
        st = read_turn(me, &turn, &me->err);
        st = ask(all, me, &turn, st, &me->err);
    }
    me->status = st == PFR_OK ? pair_flush(&me->lane, &me->err) : st;
    return NULL;
}

/* --- All of them. */

/* Whose path has no room when threads come mixed is another one's than when they come one by one. */
static bool met_limit(const struct calls_lanes *lanes) {
    bool limited = false;
    for (unsigned i = 0; i < lanes->count; i++)
        limited = limited || lanes->at[i].lane.totals.limited > 0;
    return limited;
}

/* The first lane has all. PFR_END: it has no room for it. */
static pfr_status join(struct turns *all, pfr_error *err) {
    struct calls_lanes *lanes = all->lanes;
    struct calls_lane_state *to = &lanes->at[0].lane;
    if (met_limit(lanes))
        return PFR_END;
    for (uint32_t i = 0; i < all->threads.count; i++)
        PFR_TRY(take_over(to, &all->at[i].reading, err));
    pfr_status st = PFR_OK;
    for (unsigned i = 1; st == PFR_OK && i < lanes->count; i++)
        st = join_sums(to, &lanes->at[i].lane, err);
    return st;
}

static pfr_status end_threads(struct turns *all, struct calls_totals *totals, pfr_error *err) {
    totals->buffers = all->buffers;
    for (uint32_t i = 0; i < all->threads.count; i++)
        PFR_TRY(reading_end(&all->at[i].reading, err));
    return calls_lanes_end(all->lanes, totals, err);
}

static pfr_status read_all(struct turns *all, unsigned nr_lanes, struct calls_totals *totals, pfr_error *err) {
    struct calls_lanes *lanes = all->lanes;
    PFR_TRY(lanes->wish->sink->begin(lanes->wish->context, nr_lanes, err));
    pfr_status st = calls_lanes_open(lanes, nr_lanes, err);
    if (st == PFR_OK)
        st = calls_lanes_start(lanes, run_lane, err);
    if (st == PFR_OK)
        st = join(all, err);
    return st == PFR_OK ? end_threads(all, totals, err) : st;
}

static void free_turns(struct turns *all) {
    for (uint32_t i = 0; all->at && i < all->threads.count && i < THREADS_MOST; i++)
        reading_free(&all->at[i].reading);
    mem_free(&all->memory, all->at, all->at ? THREADS_MOST : 0, sizeof *all->at);
    intern_free(&all->threads);
}

pfr_status calls_turns_run(struct calls_lanes *lanes, unsigned nr_lanes, struct calls_totals *totals, pfr_error *err) {
    struct turns all = {.lanes = lanes, .next = TRACE_FIRST_BUFFER};
    lanes->turns = &all;
    memory_share(&all.memory, lanes->memory);
    intern_init(&all.threads, &all.memory);
    pthread_mutex_init(&all.lock, NULL);
    pthread_cond_init(&all.changed, NULL);
    all.at = mem_zeroed(&all.memory, THREADS_MOST, sizeof *all.at);
    const pfr_status st = all.at ? read_all(&all, nr_lanes, totals, err) : mem_fail(&all.memory, err, "threads");
    free_turns(&all);
    lanes->turns = NULL;
    pthread_cond_destroy(&all.changed);
    pthread_mutex_destroy(&all.lock);
    return st;
}
