/* SPDX-License-Identifier: Apache-2.0 */
/* Orders threads by the time of waits that began and ended in the recording, largest first. */
#include "view/offcpu/offcpu_rows.h"

#include "base/memory/fail.h"

#include <stdlib.h>
#include <string.h>

static pfr_status find_sum(struct offcpu *o, const struct offcpu_key *key, uint32_t *number, pfr_error *err) {
    const uint32_t before = o->keys.count;
    PFR_TRY(intern_put(&o->keys, key, sizeof *key, number, err));
    if (*number < before)
        return PFR_OK;
    void *grown = mem_grow(o->memory, o->sums, *number, &o->sums_room, 256, sizeof *o->sums);
    if (!grown)
        return mem_fail(o->memory, err, "waits");
    o->sums = grown;
    o->sums[*number] = (struct offcpu_sum){.ns = 0};
    return PFR_OK;
}

static struct offcpu_recent *recent_of(struct offcpu *o, const struct offcpu_key *key) {
    const uint64_t bits = key->thread + ((uint64_t)key->stack << 20) + ((uint64_t)key->waker << 40) +
                          ((uint64_t)key->waker_stack << 8) + key->state + key->address;
    return &o->recent[bits * 0x9e3779b97f4a7c15u >> (64 - OFFCPU_RECENT_BITS)];
}

pfr_status offcpu_add_sum(struct offcpu *o, const struct offcpu_key *key, const struct offcpu_sum *more,
                          pfr_error *err) {
    struct offcpu_recent *recent = recent_of(o, key);
    if (!recent->number || memcmp(&recent->key, key, sizeof *key) != 0) {
        uint32_t found;
        PFR_TRY(find_sum(o, key, &found, err));
        *recent = (struct offcpu_recent){*key, found + 1};
    }
    const uint32_t number = recent->number - 1;
    struct offcpu_sum *sum = &o->sums[number];
    sum->ns += more->ns;
    sum->count += more->count;
    sum->max = more->max > sum->max ? more->max : sum->max;
    return PFR_OK;
}

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
    const uint64_t keys[][2] = {{b->ended, a->ended},
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
    const struct offcpu_key left = offcpu_key_at(o, x), right = offcpu_key_at(o, y);
    if (left.thread != right.thread)
        return left.thread > right.thread ? 1 : -1;
    if (o->sums[x].ns != o->sums[y].ns)
        return o->sums[x].ns < o->sums[y].ns ? 1 : -1;
    return x > y ? 1 : -1;
}

pfr_status offcpu_waits_by_thread(struct offcpu *o, uint32_t **order, uint32_t **first, pfr_error *err) {
    const size_t threads = o->nr_threads + 1;
    *order = mem_alloc(o->memory, o->keys.count, sizeof **order);
    *first = mem_zeroed(o->memory, threads, sizeof **first);
    if (!*order || !*first)
        return mem_fail(o->memory, err, "waits");
    for (uint32_t i = 0; i < o->keys.count; i++) {
        (*order)[i] = i;
        (*first)[offcpu_key_at(o, i).thread + 1]++;
    }
    if (o->keys.count)
        qsort_r(*order, o->keys.count, sizeof **order, by_wait, o);
    for (size_t t = 1; t < threads; t++)
        (*first)[t] += (*first)[t - 1];
    return PFR_OK;
}

void offcpu_waits_drop(struct offcpu *o, uint32_t *order, uint32_t *first) {
    mem_free(o->memory, order, o->keys.count, sizeof *order);
    mem_free(o->memory, first, o->nr_threads + 1, sizeof *first);
}
