/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One lane that reads the buffers of all threads as they lie in the file, where the sink does not ask whose a call is.
 * Much is read at once then, and rarely: what reading copies drives everything else out of the nearest caches.
 */
#include "model/calls_parts.h"

#define THREADS_MOST 256u /* each has a stack of open calls */

/* The pieces of each thread must come in the order of time. */
static bool is_in_order(const struct calls_index *x) {
    for (size_t i = 1; i < x->count; i++)
        if (x->pieces[i].thread == x->pieces[i - 1].thread && x->pieces[i].slice.at < x->pieces[i - 1].slice.at)
            return false;
    return true;
}

bool calls_mixed_wanted(const struct calls_lanes *all, unsigned lanes) {
    const uint32_t threads = all->index->threads.count;
    return lanes == 1 && all->wish->mixed && threads > 1 && threads <= THREADS_MOST && is_in_order(all->index);
}

/* How far they follow each other in the file from there on. */
static uint64_t read_ahead(const struct calls_index *x, const uint32_t *by_place, size_t at) {
    const uint64_t from = x->pieces[by_place[at]].slice.at;
    uint64_t until = x->pieces[by_place[at]].slice.until;
    while (++at < x->count && until - from < CALLS_AHEAD_MOST &&
           calls_lie_close(until, x->pieces[by_place[at]].slice.at))
        until = x->pieces[by_place[at]].slice.until;
    return until;
}

static pfr_status read_pieces(struct calls_runner *me, struct calls_reading *threads, const uint32_t *by_place,
                              pfr_error *err) {
    const struct calls_index *x = me->all->index;
    for (size_t i = 0; i < x->count; i++) {
        const struct calls_piece *piece = &x->pieces[by_place[i]];
        trace_slice_move(me->reader, &piece->slice, read_ahead(x, by_place, i));
        const pfr_status st = calls_read_piece(me, &threads[piece->thread], &piece->slice, err);
        if (st != PFR_OK)
            return st;
    }
    for (uint32_t i = 0; i < x->threads.count; i++)
        PFR_TRY(reading_end(&threads[i], err));
    return PFR_OK;
}

static pfr_status read_threads(struct calls_runner *me, struct calls_reading *threads, const uint32_t *by_place,
                               pfr_error *err) {
    const struct calls_index *x = me->all->index;
    pfr_status st = PFR_OK;
    uint32_t begun = 0;
    while (st >= 0 && begun < x->threads.count) {
        st = reading_begin(&threads[begun], &me->lane, x, begun, err);
        begun++;
    }
    if (st >= 0)
        st = read_pieces(me, threads, by_place, err);
    while (begun > 0)
        reading_free(&threads[--begun]);
    return st;
}

pfr_status calls_mixed_run(struct calls_lanes *all, pfr_error *err) {
    const struct calls_index *x = all->index;
    struct calls_runner *me = &all->at[0];
    const uint32_t nr_threads = x->threads.count;
    uint32_t *by_place = mem_alloc(&me->own, x->count, sizeof *by_place);
    struct calls_reading *threads = by_place ? mem_alloc(&me->own, nr_threads, sizeof *threads) : NULL;
    pfr_status st = threads ? PFR_OK : mem_fail(&me->own, err, "buffers");
    for (size_t i = 0; threads && i < x->count; i++)
        by_place[x->pieces[i].place] = (uint32_t)i;
    if (threads)
        st = read_threads(me, threads, by_place, err);
    mem_free(&me->own, threads, nr_threads, sizeof *threads);
    mem_free(&me->own, by_place, x->count, sizeof *by_place);
    return st;
}
