/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stretch of a trace (calls_stretch.c) does not know what is open where it begins, so that its whole paths are its
 * own for each thread: several times as many as there are, which are more than the caches near a processor hold. Where
 * threads lie mixed in the file there is another way, which has none but the paths that there are. Lanes take pieces of
 * a few buffers, in the order of the file, and read what a piece has of one thread after the other, in whatever order
 * they can be had: each when all that comes before it of that thread was read. What is open in the thread goes to the
 * lane with it.
 *
 *     the file    1 2 3 1 2 3 | 1 2 3 1 2 3 | 1 2 3 1 2 3     buffers of threads 1, 2, 3
 *     lane 0      1 1 2 2 3 3                 1 1 2 2 3 3
 *     lane 1          1 1 2 2   3 3
 */
#include "model/calls_parts.h"

#define MET_IN_A_PLACE 4u
#define PIECE_BYTES ((uint64_t)128 << 10)
#define PIECE_MOST 256u                /* buffers */
#define THREADS_MOST 256u              /* each has a stack of open calls */
#define MOVES_FREE ((uint64_t)1 << 16) /* open calls that may go to other lanes, whatever there is to read, */
#define MOVE_BYTES 16u                 /* and one more for so many bytes: else it is not worth it */

struct turn_thread {
    struct calls_reading reading; /* its lane is the one that had it last */
    struct memory memory;         /* what is open is of no lane */
    uint64_t last;                /* time of its last buffer that was found */
    uint64_t found, read;         /* buffers */
};

/* A buffer, to be read when so many others of its thread were. */
struct turn {
    struct trace_slice slice;
    struct turn_thread *thread; /* NULL: it was read */
    uint64_t before;
};

/* What a lane reads until it asks for more; none: nothing is left. */
struct turns_piece {
    struct turn at[PIECE_MOST];
    unsigned count, left;
    uint64_t end;
    uint64_t bytes, moved; /* of this and all before it: what was read, and open calls that came from other lanes */
};

struct turns {
    struct calls_lanes *lanes;
    struct memory memory;
    pthread_mutex_t finding; /* of what comes next, down to `ended`, and of what was found of threads */
    struct intern_table threads;
    struct turn_thread *at; /* by number, room for THREADS_MOST */
    uint64_t next, buffers, piece_bytes;
    bool ended;
    pthread_mutex_t lock; /* of what was read of threads, and whose they are */
    pthread_cond_t changed;
    bool stop;
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

pfr_status calls_turns_meet(struct calls_met *met, pfr_reader *reader, const struct trace_buffer *first,
                            pfr_error *err) {
    struct trace_buffer b = *first;
    bool alone = true;
    meet(met, first);
    for (unsigned i = 1; i < MET_IN_A_PLACE; i++) {
        const pfr_status st = trace_buffer_at(reader, b.next, &b, err);
        if (st != PFR_OK)
            return st < 0 ? st : PFR_OK; /* who reads it is told */
        meet(met, &b);
        alone = alone && b.pid == first->pid && b.tid == first->tid;
    }
    met->places++;
    met->alone += alone;
    return PFR_OK;
}

/* None has more than three quarters of a lane's part, so that there is mostly another one to go on with; those that
   were not counted came late, and are few. */
bool calls_turns_wanted(const struct calls_met *met, unsigned lanes) {
    for (unsigned i = 0; i < met->threads; i++)
        if (met->at[i].count * lanes * 4 > met->buffers * 3)
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

/* PFR_END: there is none that is of this piece. */
static pfr_status add_buffer(struct turns *all, const struct trace_buffer *b, struct turns_piece *piece,
                             pfr_error *err) {
    struct turn_thread *thread;
    const pfr_status st = find_thread(all, b, &thread, err);
    if (st != PFR_OK)
        return st;
    piece->at[piece->count++] = (struct turn){b->slice, thread, thread->found++};
    piece->end = all->next = b->next;
    all->buffers++;
    return PFR_OK;
}

/* All buffers that the window of the lane's reader holds as a whole; at least one. */
static pfr_status find_piece(struct turns *all, pfr_reader *reader, struct turns_piece *piece, pfr_error *err) {
    const uint64_t until = all->next + all->piece_bytes;
    struct trace_buffer b;
    do {
        pfr_status st = trace_buffer_ahead(reader, all->next, until, &b, err);
        all->ended = st == PFR_END;
        if (st == PFR_OK && b.next > until && piece->count)
            break;
        if (st == PFR_OK)
            st = add_buffer(all, &b, piece, err);
        if (st != PFR_OK)
            return all->ended ? PFR_OK : st;
    } while (piece->count < PIECE_MOST && all->next + TRACE_PREAMBLE_MOST <= until);
    return PFR_OK;
}

static pfr_status next_piece(struct turns *all, struct calls_runner *me, struct turns_piece *piece, pfr_error *err) {
    pfr_status st = PFR_OK;
    piece->count = 0;
    pthread_mutex_lock(&all->finding);
    if (!all->ended)
        st = find_piece(all, me->reader, piece, err);
    all->ended = all->ended || st != PFR_OK;
    pthread_mutex_unlock(&all->finding);
    piece->left = piece->count;
    return st;
}

/* --- Turns. */

/* The first buffer whose turn it is; `count`: there is none. */
static unsigned choose(const struct turns_piece *piece) {
    unsigned i = 0;
    while (i < piece->count && (!piece->at[i].thread || piece->at[i].thread->read != piece->at[i].before))
        i++;
    return i;
}

/* So many buffers of the thread were read, NULL: none; the next one of this piece whose turn it is or comes. Nobody
   goes on where one failed. */
static unsigned next_turn(struct turns *all, const struct turns_piece *piece, struct turn_thread *thread,
                          unsigned count, pfr_status st) {
    unsigned next = piece->count;
    pthread_mutex_lock(&all->lock);
    if (thread)
        thread->read += count;
    all->stop = all->stop || st != PFR_OK;
    pthread_cond_broadcast(&all->changed);
    while (!all->stop && piece->left > 0 && (next = choose(piece)) == piece->count)
        pthread_cond_wait(&all->changed, &all->lock);
    pthread_mutex_unlock(&all->lock);
    return next;
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

static bool is_worth_it(const struct calls_lane_state *l, struct turns_piece *piece, const struct calls_reading *g) {
    piece->moved += g->lane == l ? 0 : g->calls.depth;
    return piece->moved <= MOVES_FREE + piece->bytes / MOVE_BYTES;
}

/* What the piece has of the thread of that buffer, which is the first one that it has of it. */
static pfr_status read_thread(struct calls_runner *me, struct turns_piece *piece, unsigned from, pfr_error *err) {
    struct turn_thread *thread = piece->at[from].thread;
    if (!is_worth_it(&me->lane, piece, &thread->reading))
        return PFR_END;
    pfr_status st = take_over(&me->lane, &thread->reading, err);
    for (unsigned i = from; st == PFR_OK && i < piece->count; i++) {
        struct turn *turn = &piece->at[i];
        if (turn->thread != thread)
            continue;
        trace_slice_move(me->reader, &turn->slice, piece->end);
        st = calls_read_piece(me, &thread->reading, &turn->slice, err);
        turn->thread = NULL;
        piece->left--;
        piece->bytes += turn->slice.until - turn->slice.at;
    }
    return st;
}

static pfr_status read_piece(struct calls_runner *me, struct turns_piece *piece, pfr_error *err) {
    struct turns *all = me->all->turns;
    pfr_status st = PFR_OK;
    unsigned next = next_turn(all, piece, NULL, 0, st);
    while (next < piece->count) {
        struct turn_thread *thread = piece->at[next].thread;
        const unsigned left = piece->left;
        st = read_thread(me, piece, next, err);
        next = next_turn(all, piece, thread, left - piece->left, st);
    }
    return st;
}

static void *run_lane(void *context) {
    struct calls_runner *me = context;
    struct turns_piece piece = {.count = 0};
    do {
        me->status = next_piece(me->all->turns, me, &piece, &me->err);
        if (me->status == PFR_OK)
            me->status = read_piece(me, &piece, &me->err);
    } while (me->status == PFR_OK && piece.count > 0 && piece.left == 0);
    if (me->status == PFR_OK)
        me->status = pair_flush(&me->lane, &me->err);
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

/* The first lane has all, as if it had met all threads. PFR_END: it has no room for it. */
static pfr_status join(struct turns *all, pfr_error *err) {
    struct calls_lanes *lanes = all->lanes;
    struct calls_lane_state *to = &lanes->at[0].lane;
    if (met_limit(lanes))
        return PFR_END;
    for (uint32_t i = 0; i < all->threads.count; i++) {
        PFR_TRY(take_over(to, &all->at[i].reading, err));
        if (all->at[i].reading.told)
            PFR_TRY(lane_thread(to, &all->at[i].reading.thread, err));
    }
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

pfr_status calls_turns_run(struct calls_lanes *lanes, unsigned nr_lanes, uint64_t like, struct calls_totals *totals,
                           pfr_error *err) {
    struct turns all = {.lanes = lanes, .next = TRACE_FIRST_BUFFER};
    all.piece_bytes = like < PIECE_BYTES ? PIECE_BYTES - PIECE_BYTES % like : PIECE_BYTES;
    lanes->turns = &all;
    memory_share(&all.memory, lanes->memory);
    intern_init(&all.threads, &all.memory);
    pthread_mutex_init(&all.finding, NULL);
    pthread_mutex_init(&all.lock, NULL);
    pthread_cond_init(&all.changed, NULL);
    all.at = mem_zeroed(&all.memory, THREADS_MOST, sizeof *all.at);
    const pfr_status st = all.at ? read_all(&all, nr_lanes, totals, err) : mem_fail(&all.memory, err, "threads");
    free_turns(&all);
    lanes->turns = NULL;
    pthread_cond_destroy(&all.changed);
    pthread_mutex_destroy(&all.lock);
    pthread_mutex_destroy(&all.finding);
    return st;
}
