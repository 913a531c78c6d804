/* SPDX-License-Identifier: Apache-2.0 */
/* Events are collected in file order, and sorted when a round ends. */
#include "model/sched/sched_order.h"

#include "base/memory/fail.h"
#include "base/tables/radix.h"

#include <string.h>

void sched_order_init(struct sched_order *o, struct memory *memory, bool whole) {
    *o = (struct sched_order){.memory = memory, .whole = whole};
}

void sched_order_free(struct sched_order *o) {
    mem_free(o->memory, o->waiting, o->room, sizeof *o->waiting);
    mem_free(o->memory, o->items, o->items_room, sizeof *o->items);
    *o = (struct sched_order){.memory = o->memory};
}

pfr_status sched_order_put(struct sched_order *o, const struct sched_event *event, pfr_error *err) {
    void *grown = mem_grow(o->memory, o->waiting, o->count, &o->room, 1024, sizeof *o->waiting);
    if (!grown)
        return mem_fail(o->memory, err, "scheduler events");
    o->waiting = grown;
    o->late |= event->time < o->given;
    o->mixed |= o->count && event->time < o->waiting[o->count - 1].time;
    rounds_note(&o->rounds, event->time);
    if (o->count >= UINT32_MAX - 1)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "scheduler events", "more than 2^32 events wait");
    o->waiting[o->count++] = *event;
    return PFR_OK;
}

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
    o->mixed = false;
    for (size_t i = 0; i < o->count; i++) {
        if (o->waiting[i].time <= until)
            continue;
        o->mixed |= kept && o->waiting[i].time < o->waiting[kept - 1].time;
        o->waiting[kept++] = o->waiting[i];
    }
    o->count = kept;
}

/* Events of one ring buffer come in order. */
static pfr_status give_in_order(struct sched_order *o, uint64_t until, pfr_error *err) {
    size_t count = 0;
    for (; count < o->count && o->waiting[count].time <= until; count++)
        PFR_TRY(o->take(o->context, &o->waiting[count], err));
    if (count)
        o->given = o->waiting[count - 1].time;
    o->count -= count;
    memmove(o->waiting, o->waiting + count, o->count * sizeof *o->waiting);
    return PFR_OK;
}

static pfr_status give(struct sched_order *o, uint64_t until, pfr_error *err) {
    size_t count = 0;
    if (!o->mixed)
        return give_in_order(o, until, err);
    PFR_TRY(make_items(o, err));
    for (size_t i = 0; i < o->count; i++)
        if (o->waiting[i].time <= until)
            o->items[count++] = (struct radix_item){o->waiting[i].time, (uint32_t)i};
    const struct radix_item *sorted = radix_sort(o->items, o->items + count, count);
    for (size_t i = 0; i < count; i++)
        PFR_TRY(o->take(o->context, &o->waiting[sorted[i].value], err));
    if (count)
        o->given = sorted[count - 1].key;
    keep_later(o, until);
    return PFR_OK;
}

pfr_status sched_order_round(struct sched_order *o, pfr_error *err) {
    rounds_end(&o->rounds);
    return o->whole || o->count == 0 ? PFR_OK : give(o, o->rounds.limit, err);
}

pfr_status sched_order_end(struct sched_order *o, pfr_error *err) {
    return o->count ? give(o, UINT64_MAX, err) : PFR_OK;
}
