/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls open at the start of a chunk of a trace are not known (calls_chunk.c), so each thread of a chunk has its
 * own copies of whole paths. Together these copies are too many for the CPU's caches: several times as many as there
 * are distinct paths. If threads are mixed in the file, this method avoids the copies. Workers find pieces of a few
 * buffers, in file order, and read the buffers of a piece thread by thread. A buffer is read after all earlier buffers
 * of its thread; the order is free otherwise. The open calls of a thread move to the worker that reads its next buffer.
 *
 *    the file    1 2 3 1 2 3 | 1 2 3 1 2 3 | 1 2 3 1 2 3     buffers of threads 1, 2, 3
 *    worker 0    1 1 2 2 3 3                 1 1 2 2 3 3
 *    worker 1        1 1 2 2   3 3
 *
 * The bytes of a piece are in the read buffer of the worker that found it, so that worker reads the piece itself if
 * possible. If it has to wait for another worker, it waits briefly. If that does not suffice, the other worker was
 * descheduled; then the waiting worker finds other pieces, and reads pieces that other workers found.
 */
#include "model/calls/calls_round_robin.h"
#include "model/calls/calls_index.h"
#include "model/calls/calls_join.h"
#include "model/calls/calls_pair.h"
#include "model/calls/calls_worker.h"

#include <errno.h>
#include <time.h>

#include "base/memory/sizes.h"

#define MET_IN_A_PLACE 4u
#define PIECE_MOST 64u                /* maximum number of buffers in a piece */
#define WAITING_MOST (4 * PIECE_MOST) /* maximum number of found buffers that no worker has begun */
#define TURN_MOST 8u                  /* maximum number of buffers in a turn; then another worker may take the thread */
#define MOMENT_NS 200000              /* maximum wait for other workers; then `haste` begins */
#define TURNS_IN_HASTE 64u /* number of turns in haste: the worker reads any buffers instead of waiting for its own */
#define THREADS_MOST 256u  /* each thread has a stack of open calls */
/* A worker may take over MOVES_FREE open calls from other workers, and one more per MOVE_BYTES bytes that it reads. If
   it would have to take over more, this method is not worthwhile and is given up. */
#define MOVES_FREE ((uint64_t)1 << 16)
#define MOVE_BYTES 16u

struct turn_thread {
    struct calls_reading reading; /* reading.worker is the worker that read the thread last */
    struct memory memory;         /* the open calls are in no worker's memory */
    uint64_t last;                /* time of the last buffer of the thread that was found */
    uint64_t found, read;         /* number of its buffers found, and number of its buffers read */
};

/* A buffer, which may be read once the `before` earlier buffers of its thread have been read. */
struct turn_buffer {
    struct xray_slice slice;
    struct turn_thread *thread;
    uint64_t before;
};

/* Buffers that a worker found and that no worker has begun, in file order. Other workers rarely read this list, so it
   stays in the cache of the worker's CPU. */
struct turns_found {
    struct turn_buffer at[WAITING_MOST];
    unsigned count;
};

/* Buffers that a worker reads before it asks for more. An empty turn means that nothing is left. */
struct turn {
    struct xray_slice at[TURN_MOST];
    unsigned count;
    struct turn_thread *thread;
    unsigned haste;        /* remaining turns in which the worker reads any buffers instead of waiting for its own */
    uint64_t bytes, moved; /* sums over all turns: bytes read, and open calls that came from other workers */
};

struct thread_turns {
    struct calls_workers *workers;
    struct memory memory;
    pthread_mutex_t finding; /* protects finding the next buffers, and `last` and `found` of threads */
    struct intern_table threads;
    struct turn_thread *at; /* by number, room for THREADS_MOST */
    uint64_t next, buffers, piece_bytes;
    pthread_mutex_t lock; /* protects the members below and `read` of threads; taken after `finding` */
    pthread_cond_t changed;
    struct turns_found *found; /* by worker */
    unsigned nr_workers;
    unsigned waiting; /* number of found buffers that no worker has begun, of all workers */
    bool ended, stop;
};

/* --- Whether this method is worthwhile. */

static void meet(struct calls_met *met, const struct xray_buffer *b) {
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

pfr_status calls_turns_meet(struct calls_met *met, pfr_reader *reader, const struct xray_buffer *first,
                            pfr_error *err) {
    struct xray_buffer b = *first;
    bool alone = true;
    meet(met, first);
    for (unsigned i = 1; i < MET_IN_A_PLACE; i++) {
        const pfr_status st = xray_buffer_at(reader, b.next, &b, err);
        if (st != PFR_OK)
            return st < 0 ? st : PFR_OK; /* reported when the buffer is read */
        meet(met, &b);
        alone = alone && b.pid == first->pid && b.tid == first->tid;
    }
    met->places++;
    met->alone += alone;
    return PFR_OK;
}

/* No thread may have more than three quarters of a worker's share of the buffers, so that a worker can usually continue
   with another thread. Threads that did not fit into `met` are ignored. */
bool calls_turns_wanted(const struct calls_met *met, unsigned workers) {
    for (unsigned i = 0; i < met->threads; i++)
        if (met->at[i].count * workers * 4 > met->buffers * 3)
            return false;
    return met->places > 0 && met->alone * 4 <= met->places;
}

/* --- Finding buffers. */

static pfr_status add_thread(struct thread_turns *all, uint32_t number, pfr_error *err) {
    struct turn_thread *t = &all->at[number];
    memory_share(&t->memory, all->workers->memory);
    t->reading.thread = calls_thread_at(&all->threads, number);
    return thread_calls_init(&t->reading.calls, &t->memory, err);
}

/* PFR_END: the buffers of the thread are not in order of time, or there are too many threads. */
static pfr_status find_thread(struct thread_turns *all, const struct xray_buffer *b, struct turn_thread **thread,
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

/* Finds all buffers that are completely in the read buffer; at least one, unless the trace ends. */
static pfr_status find_buffers(struct thread_turns *all, pfr_reader *reader, struct turn_buffer *found, unsigned *count,
                               pfr_error *err) {
    const uint64_t until = all->next + all->piece_bytes;
    struct xray_buffer b;
    do {
        struct turn_thread *thread;
        pfr_status st = xray_buffer_ahead(reader, all->next, until, &b, err);
        if (st == PFR_END || (st == PFR_OK && b.next > until && *count))
            break;
        if (st == PFR_OK)
            st = find_thread(all, &b, &thread, err);
        if (st != PFR_OK)
            return st;
        found[(*count)++] = (struct turn_buffer){b.slice, thread, thread->found++};
        all->next = b.next;
    } while (*count < PIECE_MOST && all->next + TRACE_PREAMBLE_MOST <= until);
    all->buffers += *count;
    return PFR_OK;
}

static bool may_find(const struct thread_turns *all) {
    return !all->ended && !all->stop && all->waiting + PIECE_MOST <= WAITING_MOST;
}

/* Adds buffers to the worker's list. find_piece() checked that there is room, and only this worker adds to the list. */
static void add_found(struct thread_turns *all, unsigned worker, const struct turn_buffer *found, unsigned count,
                      pfr_status st) {
    struct turns_found *to = &all->found[worker];
    pthread_mutex_lock(&all->lock);
    memcpy(to->at + to->count, found, count * sizeof *found);
    to->count += count;
    all->waiting += count;
    all->ended = count == 0;
    all->stop = all->stop || st != PFR_OK;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
}

static pfr_status find_piece(struct thread_turns *all, struct calls_runner *me, pfr_error *err) {
    struct turn_buffer found[PIECE_MOST];
    unsigned count = 0;
    pfr_status st = PFR_OK;
    pthread_mutex_lock(&all->finding);
    pthread_mutex_lock(&all->lock);
    const bool may = may_find(all);
    pthread_mutex_unlock(&all->lock);
    if (may) {
        st = find_buffers(all, me->reader, found, &count, err);
        add_found(all, me->worker.public.number, found, count, st);
    }
    pthread_mutex_unlock(&all->finding);
    return st;
}

/* --- Turns. */

/* Takes the first buffer that may be read now, and the next buffers of its thread. false: no buffer may be read. */
static bool take(struct thread_turns *all, struct turns_found *from, struct turn *turn) {
    unsigned first = 0;
    while (first < from->count && from->at[first].thread->read != from->at[first].before)
        first++;
    if (first == from->count)
        return false;
    const uint64_t before = from->at[first].before;
    unsigned left = first;
    turn->thread = from->at[first].thread;
    for (unsigned i = first; i < from->count; i++) {
        const struct turn_buffer *b = &from->at[i];
        if (b->thread == turn->thread && b->before == before + turn->count && turn->count < TURN_MOST)
            turn->at[turn->count++] = b->slice;
        else
            from->at[left++] = *b;
    }
    from->count = left;
    all->waiting -= turn->count;
    return true;
}

static void give_back(struct thread_turns *all, struct turn *turn) {
    if (turn->count == 0)
        return;
    turn->thread->read += turn->count;
    turn->count = 0;
    pthread_cond_broadcast(&all->changed);
}

/* Takes buffers that this worker found. In haste, or if this worker has no buffers and can find no more, also takes
   buffers that other workers found. */
static bool take_any(struct thread_turns *all, unsigned worker, struct turn *turn) {
    struct turns_found *own = &all->found[worker];
    bool taken = take(all, own, turn);
    if (turn->haste == 0 && (own->count > 0 || may_find(all)))
        return taken;
    for (unsigned i = 0; i < all->nr_workers && !taken; i++)
        taken = take(all, &all->found[i], turn);
    return taken;
}

/* Waits, usually briefly. If a wait takes MOMENT_NS, the worker reading the thread was descheduled: haste begins. */
static void wait_for_others(struct thread_turns *all, struct turn *turn) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += MOMENT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (turn->haste > 0)
        pthread_cond_wait(&all->changed, &all->lock);
    else if (pthread_cond_timedwait(&all->changed, &all->lock, &until) == ETIMEDOUT)
        turn->haste = TURNS_IN_HASTE;
}

static pfr_status next_turn(struct thread_turns *all, struct calls_runner *me, struct turn *turn, pfr_error *err) {
    const unsigned worker = me->worker.public.number;
    turn->haste -= turn->haste > 0;
    while (!all->stop && !(all->ended && all->waiting == 0) && !take_any(all, worker, turn)) {
        if (!may_find(all) || (all->found[worker].count > 0 && turn->haste == 0)) {
            wait_for_others(all, turn);
            continue;
        }
        pthread_mutex_unlock(&all->lock);
        const pfr_status st = find_piece(all, me, err);
        pthread_mutex_lock(&all->lock);
        if (st != PFR_OK)
            return st;
    }
    return PFR_OK;
}

/* Marks the buffers of the turn as read, and takes the next turn. After a failure all workers stop. */
static pfr_status ask(struct thread_turns *all, struct calls_runner *me, struct turn *turn, pfr_status st,
                      pfr_error *err) {
    pthread_mutex_lock(&all->lock);
    give_back(all, turn);
    if (st == PFR_OK)
        st = next_turn(all, me, turn, err);
    all->stop = all->stop || st != PFR_OK;
    pthread_mutex_unlock(&all->lock);
    return st;
}

/* Converts the thread's open calls to this worker's paths. */
static pfr_status take_over(struct calls_worker_state *l, struct calls_reading *g, pfr_error *err) {
    struct open_call *open = g->calls.open;
    const bool had = g->worker == l;
    g->worker = l;
    for (size_t i = 1; i <= g->calls.depth && !had; i++)
        PFR_TRY(worker_child(l, open[i - 1].node, open[i].function, &open[i].node, err));
    return PFR_OK;
}

static bool is_worth_it(const struct calls_worker_state *l, struct turn *turn) {
    const struct calls_reading *g = &turn->thread->reading;
    turn->moved += g->worker == l ? 0 : g->calls.depth;
    return turn->moved <= MOVES_FREE + turn->bytes / MOVE_BYTES;
}

static pfr_status read_turn(struct calls_runner *me, struct turn *turn, pfr_error *err) {
    struct calls_reading *g = &turn->thread->reading;
    if (!is_worth_it(&me->worker, turn))
        return PFR_END;
    pfr_status st = take_over(&me->worker, g, err);
    for (unsigned i = 0; st == PFR_OK && i < turn->count; i++) {
        const struct xray_slice *slice = &turn->at[i];
        xray_slice_move(me->reader, slice, slice->until);
        st = calls_read_piece(me, g, slice, err);
        turn->bytes += slice->until - slice->at;
    }
    return st;
}

static void *run_worker(void *context) {
    struct calls_runner *me = context;
    struct thread_turns *all = me->all->turns;
    struct turn turn = {.count = 0};
    pfr_status st = ask(all, me, &turn, PFR_OK, &me->err);
    while (st == PFR_OK && turn.count > 0) {
        st = read_turn(me, &turn, &me->err);
        st = ask(all, me, &turn, st, &me->err);
    }
    me->status = st == PFR_OK ? pair_flush(&me->worker, &me->err) : st;
    return NULL;
}

/* --- All workers. */

/* Whether a worker met a limit. If so, it depends on the mixing of threads which paths got no memory. */
static bool met_limit(const struct calls_workers *workers) {
    bool limited = false;
    for (unsigned i = 0; i < workers->count; i++)
        limited = limited || workers->at[i].worker.totals.limited > 0;
    return limited;
}

/* Moves all workers' results to the first worker, as if it had read all threads. PFR_END: not enough memory. */
static pfr_status join(struct thread_turns *all, pfr_error *err) {
    struct calls_workers *workers = all->workers;
    struct calls_worker_state *to = &workers->at[0].worker;
    if (met_limit(workers))
        return PFR_END;
    for (uint32_t i = 0; i < all->threads.count; i++) {
        PFR_TRY(take_over(to, &all->at[i].reading, err));
        if (all->at[i].reading.reported)
            PFR_TRY(worker_thread(to, &all->at[i].reading.thread, err));
    }
    pfr_status st = PFR_OK;
    for (unsigned i = 1; st == PFR_OK && i < workers->count; i++)
        st = join_sums(to, &workers->at[i].worker, err);
    return st;
}

static pfr_status end_threads(struct thread_turns *all, struct calls_totals *totals, pfr_error *err) {
    totals->buffers = all->buffers;
    for (uint32_t i = 0; i < all->threads.count; i++)
        PFR_TRY(reading_end(&all->at[i].reading, err));
    return calls_workers_end(all->workers, totals, err);
}

static pfr_status read_all(struct thread_turns *all, struct calls_totals *totals, pfr_error *err) {
    struct calls_workers *workers = all->workers;
    PFR_TRY(workers->request->sink->begin(workers->request->context, all->nr_workers, err));
    pfr_status st = calls_workers_open(workers, all->nr_workers, err);
    if (st == PFR_OK)
        st = calls_workers_start(workers, run_worker, err);
    if (st == PFR_OK)
        st = join(all, err);
    return st == PFR_OK ? end_threads(all, totals, err) : st;
}

static void free_turns(struct thread_turns *all) {
    for (uint32_t i = 0; all->at && i < all->threads.count && i < THREADS_MOST; i++)
        reading_free(&all->at[i].reading);
    mem_free(&all->memory, all->at, all->at ? THREADS_MOST : 0, sizeof *all->at);
    mem_free(&all->memory, all->found, all->found ? all->nr_workers : 0, sizeof *all->found);
    intern_free(&all->threads);
}

static void init_changed(struct thread_turns *all) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&all->changed, &attr);
    pthread_condattr_destroy(&attr);
}

/* Bytes of the buffers of a piece, if all have the length of the first one. */
static uint64_t piece_bytes(uint64_t like) {
    const uint64_t count = sizes.calls_piece / like;
    return count == 0 ? sizes.calls_piece : like * (count < PIECE_MOST ? count : PIECE_MOST);
}

pfr_status calls_turns_run(struct calls_workers *workers, unsigned nr_workers, uint64_t like,
                           struct calls_totals *totals, pfr_error *err) {
    struct thread_turns all = {.workers = workers, .nr_workers = nr_workers, .next = TRACE_FIRST_BUFFER};
    all.piece_bytes = piece_bytes(like);
    workers->turns = &all;
    memory_share(&all.memory, workers->memory);
    intern_init(&all.threads, &all.memory);
    pthread_mutex_init(&all.finding, NULL);
    pthread_mutex_init(&all.lock, NULL);
    init_changed(&all);
    all.at = mem_zeroed(&all.memory, THREADS_MOST, sizeof *all.at);
    all.found = mem_zeroed(&all.memory, nr_workers, sizeof *all.found);
    const pfr_status st = all.at && all.found ? read_all(&all, totals, err) : mem_fail(&all.memory, err, "threads");
    free_turns(&all);
    workers->turns = NULL;
    pthread_cond_destroy(&all.changed);
    pthread_mutex_destroy(&all.lock);
    pthread_mutex_destroy(&all.finding);
    return st;
}
