/* SPDX-License-Identifier: Apache-2.0 */
/* Events are collected in file order, and merged or sorted when a round ends and at the end. */
#include "model/sched/sched_order.h"

#include "base/memory/fail.h"
#include "base/memory/sizes.h"
#include "base/tables/radix.h"

#include <stdlib.h>
#include <string.h>

void sched_order_init(struct sched_order *o, struct memory *memory, bool whole) {
    *o = (struct sched_order){.memory = memory, .whole = whole, .pack_at = sizes.sched_pack};
    sched_packed_init(&o->packed, memory);
}

static void free_waiting(struct sched_order *o) {
    mem_free(o->memory, o->waiting, o->room, sizeof *o->waiting);
    o->waiting = NULL;
    o->room = 0;
}

void sched_order_free(struct sched_order *o) {
    free_waiting(o);
    sched_packed_free(&o->packed);
    mem_free(o->memory, o->items, o->items_room, sizeof *o->items);
    *o = (struct sched_order){.memory = o->memory};
}

/* --- Slots. */

static inline uint64_t time_at(const struct sched_order *o, size_t slot) {
    return (uint64_t)o->waiting[slot].event.time_high << 32 | o->waiting[slot].event.time_low;
}

/* The slot of the next event. */
static inline size_t after(const struct sched_order *o, size_t slot) {
    return slot + 1 + o->waiting[slot].event.is_wide;
}

static void pack(union waiting_slot *at, const struct sched_event *e) {
    at[0].event.time_low = (uint32_t)e->time;
    at[0].event.time_high = (uint32_t)(e->time >> 32);
    at[0].event.sample = e->sample;
    at[0].event.tid = e->tid;
    at[0].event.other = e->other;
    at[0].event.cpu = e->cpu;
    at[0].event.kind = e->kind;
    at[0].event.flags = e->flags;
    at[0].event.left = e->left;
    at[0].event.is_wide = sched_event_is_wide(e);
    if (!sched_event_is_wide(e))
        return;
    at[1].more.value_low = (uint32_t)e->value;
    at[1].more.value_high = (uint32_t)(e->value >> 32);
    at[1].more.own = e->own;
}

static inline struct sched_event event_at(const struct sched_order *o, size_t slot) {
    const union waiting_slot *at = &o->waiting[slot];
    struct sched_event event = {.time = time_at(o, slot),
                                .sample = at[0].event.sample,
                                .tid = at[0].event.tid,
                                .other = at[0].event.other,
                                .cpu = at[0].event.cpu,
                                .own = at[0].event.tid,
                                .kind = at[0].event.kind,
                                .flags = at[0].event.flags,
                                .left = at[0].event.left};
    if (at[0].event.is_wide) {
        event.value = (uint64_t)at[1].more.value_high << 32 | at[1].more.value_low;
        event.own = at[1].more.own;
    }
    return event;
}

static pfr_status give_slot(const struct sched_order *o, size_t slot, pfr_error *err) {
    const struct sched_event event = event_at(o, slot);
    return o->take(o->context, &event, err);
}

static pfr_status make_room(struct sched_order *o, size_t slots, pfr_error *err) {
    if (o->count >= UINT32_MAX - 2)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "scheduler events", "more than 2^32 events wait");
    void *grown = mem_grow(o->memory, o->waiting, o->count + slots - 1, &o->room, 1024, sizeof *o->waiting);
    if (!grown)
        return mem_fail(o->memory, err, "scheduler events");
    o->waiting = grown;
    return PFR_OK;
}

/* --- Many waiting events are packed. Until then, none is, because packing takes time. */

#define RUN_LEAST 16u /* events in a run on average, if they are packed */
#define BATCH_MOST ((size_t)1 << 16)

static pfr_status pack_all(struct sched_order *o, pfr_error *err) {
    for (size_t i = 0; i < o->count; i = after(o, i)) {
        const struct sched_event event = event_at(o, i);
        PFR_TRY(sched_pack(&o->packed, &event, err));
    }
    o->count = o->nr_runs = 0;
    if (o->room > 2 * BATCH_MOST)
        free_waiting(o);
    o->pack_at = sizes.sched_pack < BATCH_MOST ? sizes.sched_pack : BATCH_MOST;
    return sched_pack_end_batch(&o->packed, err);
}

static pfr_status pack_long_runs(struct sched_order *o, pfr_error *err) {
    if (o->nr_runs <= o->count / RUN_LEAST)
        return pack_all(o, err);
    o->pack_at = 2 * o->count;
    return PFR_OK;
}

/* Notes the runs of waiting events: events of one ring buffer come in order. */
static inline void note_run(struct sched_order *o, size_t slot, uint64_t time) {
    if ((!slot || time < o->last) && ++o->nr_runs <= SCHED_RUNS)
        o->runs[o->nr_runs - 1].at = slot;
    if (o->nr_runs <= SCHED_RUNS)
        o->runs[o->nr_runs - 1].last = time;
    o->last = time;
}

pfr_status sched_order_put(struct sched_order *o, const struct sched_event *event, pfr_error *err) {
    const size_t slots = 1 + (size_t)sched_event_is_wide(event);
    if (o->count + slots > o->room)
        PFR_TRY(make_room(o, slots, err));
    o->late |= event->time < o->given;
    note_run(o, o->count, event->time);
    rounds_note(&o->rounds, event->time);
    pack(&o->waiting[o->count], event);
    o->count += slots;
    return o->count < o->pack_at ? PFR_OK : pack_long_runs(o, err);
}

/* --- Rounds. */

static pfr_status make_items(struct sched_order *o, pfr_error *err) {
    if (o->items_room >= 2 * o->count)
        return PFR_OK;
    mem_free(o->memory, o->items, o->items_room, sizeof *o->items);
    o->items_room = 0;
    o->items = mem_alloc(o->memory, 2 * o->count, sizeof *o->items);
    if (!o->items)
        return mem_fail(o->memory, err, "scheduler events");
    o->items_room = 2 * o->count;
    return PFR_OK;
}

/* Keeps the events later than `until`, in file order. */
static void keep_later(struct sched_order *o, uint64_t until) {
    size_t kept = 0;
    o->nr_runs = 0;
    for (size_t i = 0, next; i < o->count; i = next) {
        const uint64_t time = time_at(o, i);
        next = after(o, i);
        if (time <= until)
            continue;
        note_run(o, kept, time);
        memmove(&o->waiting[kept], &o->waiting[i], (next - i) * sizeof *o->waiting);
        kept += next - i;
    }
    o->count = kept;
}

static pfr_status give_sorted(struct sched_order *o, uint64_t until, pfr_error *err) {
    size_t count = 0;
    PFR_TRY(make_items(o, err));
    for (size_t i = 0; i < o->count; i = after(o, i))
        if (time_at(o, i) <= until)
            o->items[count++] = (struct radix_item){time_at(o, i), (uint32_t)i};
    const struct radix_item *sorted = radix_sort(o->items, o->items + count, count);
    for (size_t i = 0; i < count; i++)
        PFR_TRY(give_slot(o, sorted[i].value, err));
    if (count)
        o->given = sorted[count - 1].key;
    keep_later(o, until);
    return PFR_OK;
}

/* --- Runs. A merge of few runs is faster than a sort. */

/* Events from `at` up to `end` are in order; time is that of the first one, last that of the last one. */
struct merged_run {
    uint64_t time, last;
    size_t at, end;
};

/* Events of equal time keep their file order. */
static bool comes_first(const struct merged_run *a, const struct merged_run *b) {
    return a->time != b->time ? a->time < b->time : a->at < b->at;
}

/* Moves runs[i] down to its place in the heap. */
static void sink(struct merged_run *runs, size_t count, size_t i) {
    const struct merged_run run = runs[i];
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        child += child + 1 < count && comes_first(&runs[child + 1], &runs[child]);
        if (!comes_first(&runs[child], &run))
            break;
        runs[i] = runs[child];
    }
    runs[i] = run;
}

static void make_heap(struct merged_run *runs, size_t count) {
    for (size_t n = count / 2; n-- > 0;)
        sink(runs, count, n);
}

/* The earliest time of the other runs; `until` if it is earlier. Events before it come from the first run. */
static uint64_t bound_of(const struct merged_run *runs, size_t count, uint64_t until) {
    for (size_t i = 1; i < count && i < 3; i++)
        until = runs[i].time < until ? runs[i].time : until;
    return until;
}

/* Gives the first event of the first run, and all that follow it before the other runs. */
static pfr_status give_first(struct sched_order *o, struct merged_run *run, uint64_t bound, pfr_error *err) {
    do {
        PFR_TRY(give_slot(o, run->at, err));
        o->given = run->time;
        run->at = after(o, run->at);
        run->time = run->at < run->end ? time_at(o, run->at) : UINT64_MAX;
    } while (run->at < run->end && run->time < bound);
    return PFR_OK;
}

/* *count: number of runs that are left, in `runs`. */
static pfr_status merge_runs(struct sched_order *o, struct merged_run *runs, size_t *count, uint64_t until,
                             pfr_error *err) {
    make_heap(runs, *count);
    while (*count && runs->time <= until) {
        PFR_TRY(give_first(o, runs, bound_of(runs, *count, until), err));
        if (runs->at == runs->end)
            *runs = runs[--*count];
        if (*count)
            sink(runs, *count, 0);
    }
    return PFR_OK;
}

static int by_place(const void *a, const void *b) {
    const struct merged_run *x = a, *y = b;
    return x->at > y->at ? 1 : -1;
}

/* Keeps what is left of the runs, in file order. */
static void keep_runs(struct sched_order *o, struct merged_run *runs, size_t count) {
    size_t kept = 0;
    qsort(runs, count, sizeof *runs, by_place);
    o->nr_runs = count;
    for (size_t i = 0; i < count; i++) {
        const size_t slots = runs[i].end - runs[i].at;
        o->runs[i].at = kept;
        o->last = o->runs[i].last = runs[i].last;
        memmove(&o->waiting[kept], &o->waiting[runs[i].at], slots * sizeof *o->waiting);
        kept += slots;
    }
    o->count = kept;
}

/* Merges runs that were noted. */
static pfr_status give_few(struct sched_order *o, uint64_t until, pfr_error *err) {
    struct merged_run runs[SCHED_RUNS];
    size_t count = o->nr_runs;
    for (size_t i = 0; i < count; i++)
        runs[i] = (struct merged_run){time_at(o, o->runs[i].at), o->runs[i].last, o->runs[i].at,
                                      i + 1 < count ? o->runs[i + 1].at : o->count};
    PFR_TRY(merge_runs(o, runs, &count, until, err));
    keep_runs(o, runs, count);
    return PFR_OK;
}

/* --- */

static pfr_status give_packed(struct sched_order *o, uint64_t until, pfr_error *err) {
    PFR_TRY(pack_all(o, err));
    const pfr_status st = sched_packed_give(&o->packed, until, o->take, o->context, &o->given, err);
    if (!o->packed.nr_runs)
        o->pack_at = sizes.sched_pack;
    return st;
}

static bool is_empty(const struct sched_order *o) {
    return o->count == 0 && o->packed.nr_runs == 0;
}

static pfr_status give(struct sched_order *o, uint64_t until, pfr_error *err) {
    if (o->packed.nr_runs)
        return give_packed(o, until, err);
    return o->nr_runs <= SCHED_RUNS ? give_few(o, until, err) : give_sorted(o, until, err);
}

pfr_status sched_order_round(struct sched_order *o, pfr_error *err) {
    rounds_end(&o->rounds);
    return o->whole || is_empty(o) ? PFR_OK : give(o, o->rounds.limit, err);
}

pfr_status sched_order_end(struct sched_order *o, pfr_error *err) {
    return is_empty(o) ? PFR_OK : give(o, UINT64_MAX, err);
}
