/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts state changes: see state_queue.h. */
#include "model/state/state_queue.h"

#include "base/memory/fail.h"
#include "base/tables/radix.h"
#include "base/memory/sizes.h"

#define FIRST_ROOM ((size_t)256)

void queue_init(struct state_queue *q, struct state *state, bool keeps_all) {
    *q = (struct state_queue){.state = state, .keeps_all = keeps_all};
}

void queue_free(struct state_queue *q) {
    mem_free(q->state->memory, q->at, q->room, sizeof *q->at);
    mem_free(q->state->memory, q->items, q->items_room, sizeof *q->items);
    queue_init(q, q->state, q->keeps_all);
}

/* Whether keys gained or lost times. Keys with and without times cannot be compared. */
static bool changed_its_keys(const struct state_queue *q) {
    return q->has_any && q->timed != q->state->timed;
}

pfr_status queue_put(struct state_queue *q, const struct state_change *change, pfr_error *err) {
    if (!q->has_any)
        q->has_any = true, q->timed = q->state->timed;
    q->is_void = q->is_void || changed_its_keys(q) || change->key.time < q->applied;
    if (q->is_void)
        return PFR_OK;
    if (q->count == q->room) {
        void *more = mem_grow(q->state->memory, q->at, q->count, &q->room, FIRST_ROOM, sizeof *q->at);
        if (!more)
            return mem_fail(q->state->memory, err, "state");
        q->at = more;
    }
    q->at[q->count++] = *change;
    return PFR_OK;
}

static pfr_status make_room_for_items(struct state_queue *q, pfr_error *err) {
    struct memory *memory = q->state->memory;
    const size_t wanted = 2 * (q->keeps_all ? q->count : q->room);
    if (q->items_room >= 2 * q->count)
        return PFR_OK;
    mem_free(memory, q->items, q->items_room, sizeof *q->items);
    q->items_room = 0;
    q->items = mem_alloc(memory, wanted, sizeof *q->items);
    if (!q->items)
        return mem_fail(memory, err, "state");
    q->items_room = wanted;
    return PFR_OK;
}

/* Keeps the later changes in their order of arrival. */
static void keep_later(struct state_queue *q, uint64_t limit) {
    size_t kept = 0;
    for (size_t i = 0; i < q->count; i++)
        if (q->at[i].key.time > limit)
            q->at[kept++] = q->at[i];
    q->count = kept;
}

static pfr_status apply_up_to(struct state_queue *q, uint64_t limit, pfr_error *err) {
    const size_t count = q->count;
    if (count == 0)
        return PFR_OK;
    PFR_TRY(make_room_for_items(q, err));
    for (size_t i = 0; i < count; i++)
        q->items[i] = (struct radix_item){q->at[i].key.time, (uint32_t)i};
    const struct radix_item *sorted = radix_sort(q->items, q->items + count, count);
    for (size_t i = 0; i < count && sorted[i].key <= limit; i++) {
        const struct state_change *c = &q->at[sorted[i].value];
        PFR_TRY(c->apply(q->state, c, err));
    }
    keep_later(q, limit);
    return PFR_OK;
}

/* Does nothing until there are twice as many changes as the last round left over. So each change is sorted only a few
   times. */
pfr_status queue_round(struct state_queue *q, uint64_t limit, pfr_error *err) {
    return q->count < sizes.state_round || q->count < 2 * q->kept ? PFR_OK : queue_apply(q, limit, err);
}

pfr_status queue_apply(struct state_queue *q, uint64_t limit, pfr_error *err) {
    if (q->keeps_all || q->is_void)
        return PFR_OK;
    PFR_TRY(apply_up_to(q, limit, err));
    q->applied = q->state->timed ? limit : 0;
    q->kept = q->count;
    return PFR_OK;
}

pfr_status queue_end(struct state_queue *q, pfr_error *err) {
    q->is_void = q->is_void || changed_its_keys(q);
    return q->is_void ? PFR_OK : apply_up_to(q, UINT64_MAX, err);
}
