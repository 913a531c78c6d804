/* SPDX-License-Identifier: Apache-2.0 */
/* Orders threads by the time of waits that began and ended in the recording, largest first; threads of the recorded
   command precede all others. */
#include "view/offcpu/offcpu_rows.h"

#include "base/memory/fail.h"

#include <stdlib.h>
#include <string.h>

const char *offcpu_state_name(enum offcpu_state state) {
    static const char *const names[] = {[OFFCPU_RUNNING] = "running",
                                        [OFFCPU_RUNNABLE] = "runnable",
                                        [OFFCPU_BLOCKED] = "blocked",
                                        [OFFCPU_UNKNOWN] = "unknown"};
    return names[state];
}

uint64_t offcpu_wall(const struct offcpu_thread *t) {
    uint64_t wall = 0;
    for (unsigned i = 0; i < OFFCPU_STATES; i++)
        wall += t->state[i];
    return wall;
}

static int compare(const struct offcpu_thread *a, const struct offcpu_thread *b) {
    const uint64_t keys[][2] = {{b->is_commands, a->is_commands},
                                {b->ended, a->ended},
                                {b->state[OFFCPU_RUNNING], a->state[OFFCPU_RUNNING]},
                                {offcpu_wall(b), offcpu_wall(a)},
                                {a->pid, b->pid},
                                {a->tid, b->tid},
                                {a->id, b->id}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] > keys[i][1] ? 1 : -1;
    return 0;
}

static int by_waits(const void *a, const void *b, void *threads) {
    const struct offcpu_thread *all = threads;
    return compare(&all[*(const uint32_t *)a], &all[*(const uint32_t *)b]);
}

pfr_status offcpu_order(struct offcpu *o, pfr_error *err) {
    o->thread_order = mem_alloc(o->memory, o->nr_threads, sizeof *o->thread_order);
    if (!o->thread_order)
        return mem_fail(o->memory, err, "threads");
    for (uint32_t i = 0; i < o->nr_threads; i++)
        if (o->threads[i].is_wanted && offcpu_wall(&o->threads[i]))
            o->thread_order[o->shown++] = i;
    if (o->shown)
        qsort_r(o->thread_order, o->shown, sizeof *o->thread_order, by_waits, o->threads);
    if (o->options->top && o->shown > o->options->top)
        o->shown = o->options->top;
    return PFR_OK;
}

/* --- Waits of a thread. */

static int by_wait(const void *a, const void *b, void *context) {
    const struct offcpu *o = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct offcpu_key *left = &o->sums.rows[x].key, *right = &o->sums.rows[y].key;
    if (left->thread != right->thread)
        return left->thread > right->thread ? 1 : -1;
    if (o->sums.rows[x].sum.ns != o->sums.rows[y].sum.ns)
        return o->sums.rows[x].sum.ns < o->sums.rows[y].sum.ns ? 1 : -1;
    return x > y ? 1 : -1;
}

pfr_status offcpu_waits_by_thread(struct offcpu *o, uint32_t **order, uint32_t **first, pfr_error *err) {
    const size_t threads = o->nr_threads + 1;
    *order = mem_alloc(o->memory, o->sums.count, sizeof **order);
    *first = mem_zeroed(o->memory, threads, sizeof **first);
    if (!*order || !*first)
        return mem_fail(o->memory, err, "waits");
    for (uint32_t i = 0; i < o->sums.count; i++) {
        (*order)[i] = i;
        (*first)[o->sums.rows[i].key.thread + 1]++;
    }
    if (o->sums.count)
        qsort_r(*order, o->sums.count, sizeof **order, by_wait, o);
    for (size_t t = 1; t < threads; t++)
        (*first)[t] += (*first)[t - 1];
    return PFR_OK;
}

void offcpu_waits_drop(struct offcpu *o, uint32_t *order, uint32_t *first) {
    mem_free(o->memory, order, o->sums.count, sizeof *order);
    mem_free(o->memory, first, o->nr_threads + 1, sizeof *first);
}
