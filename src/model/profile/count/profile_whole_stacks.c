/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks one after the other, for consumers that need no tree: a row of frames per entry. Each worker stores them in
 * the order of first samples, so that sorting by the offset of the first sample gives the same order for any number of
 * workers.
 */
#include "model/profile/count/profile_whole_stacks.h"
#include "model/profile/count/profile_entries.h"

#include "base/tables/radix.h"

#include <inttypes.h>

#define LOOK_EACH 2048u
#define NAMES_SHARE 16u /* 1 / NAMES_SHARE of the memory is left for names */
#define FETCHED 8u      /* number of entries prefetched */

void whole_init(struct whole_stacks *w, struct memory *memory) {
    *w = (struct whole_stacks){.memory = memory};
}

void stack_parts_free(struct memory *memory, struct stack_part *parts, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        mem_free(parts[i].memory, parts[i].frames, parts[i].room, sizeof *parts[i].frames);
    mem_free(memory, parts, count, sizeof *parts);
}

void whole_free(struct whole_stacks *w) {
    mem_free(w->memory, w->at, w->room, sizeof *w->at);
    mem_free(w->memory, w->frames, w->frames_room, sizeof *w->frames);
    stack_parts_free(w->memory, w->parts, w->nr_parts);
    *w = (struct whole_stacks){.memory = w->memory};
}

/* Checks that memory is left for the caller's data per stack and frame, and some for names. */
static pfr_status look_ahead(struct sample_counter *c, pfr_error *err) {
    struct whole_stacks *w = &c->whole;
    const struct memory *all = c->profile->memory;
    const uint64_t used = __atomic_load_n(&all->used, __ATOMIC_RELAXED);
    const uint64_t frames = (uint64_t)__atomic_load_n(&c->profile->nr_frames, __ATOMIC_RELAXED);
    const uint64_t more = frames * c->profile->request.frame_cost + (uint64_t)w->count * c->profile->request.node_cost;
    if (used + more > all->limit - all->limit / NAMES_SHARE)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile",
                        "there is no memory for more than %" PRIu32 " stacks (limit memory)", w->count);
    w->until = w->count + LOOK_EACH;
    return PFR_OK;
}

/* The room may grow by more than requested, because mem_grow adds at least half of the old size. */
static pfr_status make_frame_room(struct whole_stacks *w, uint32_t count, pfr_error *err) {
    while (w->frames_room - w->nr_frames < count) {
        size_t room = w->frames_room;
        uint32_t *grown = mem_grow(w->memory, w->frames, room, &room, 4096, sizeof *grown);
        if (!grown)
            return mem_fail(w->memory, err, "stacks");
        w->frames = grown;
        w->frames_room = room;
    }
    return PFR_OK;
}

static pfr_status make_room(struct sample_counter *c, pfr_error *err) {
    struct whole_stacks *w = &c->whole;
    if (w->count >= w->until)
        PFR_TRY(look_ahead(c, err));
    if (w->count >= NODE_MOST)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile", "there are more than 2^32 stacks");
    struct profile_stack *grown = mem_grow(w->memory, w->at, w->count, &w->room, 1024, sizeof *grown);
    if (!grown)
        return mem_fail(w->memory, err, "stacks");
    w->at = grown;
    return PFR_OK;
}

pfr_status whole_put(struct sample_counter *c, const struct profile_stack *stack, const uint32_t *frames,
                     uint32_t *number, pfr_error *err) {
    struct whole_stacks *w = &c->whole;
    PFR_TRY(make_room(c, err));
    PFR_TRY(make_frame_room(w, stack->count, err));
    memcpy(w->frames + w->nr_frames, frames, stack->count * sizeof *frames);
    w->at[w->count] = *stack;
    w->at[w->count].first = w->nr_frames;
    w->nr_frames += stack->count;
    *number = w->count++;
    return PFR_OK;
}

void whole_settle(struct whole_stacks *w) {
    for (uint32_t i = w->settled; i < w->count; i++)
        w->at[i].frames = w->frames + w->at[i].first;
    w->settled = w->count;
}

/* Moves the frames made so far, to which stacks already point, to `to` as another part. */
static pfr_status give_frames(struct whole_stacks *w, struct whole_stacks *to, pfr_error *err) {
    struct stack_part *parts = mem_resize(to->memory, to->parts, to->nr_parts, to->nr_parts + 1u, sizeof *parts);
    if (!parts)
        return mem_fail(to->memory, err, "stacks");
    to->parts = parts;
    parts[to->nr_parts++] = (struct stack_part){w->memory, w->frames, w->frames_room};
    w->frames = NULL;
    w->frames_room = w->nr_frames = 0;
    return PFR_OK;
}

/* --- Stacks of another worker. */

struct stacks_joining {
    struct sample_counter *to;
    const struct sample_counter *from;
    bool more;          /* other workers will follow */
    uint32_t *group_of; /* by number in `from`: number in `to` + 1; 0: unknown yet */
};

static pfr_status join_group(struct stacks_joining *j, uint32_t group, uint32_t *number, pfr_error *err) {
    const struct profile *p = j->to->profile;
    if (!j->group_of[group]) {
        const struct profile_group *g = j->from->tree->groups[group];
        const unsigned values = (unsigned)__builtin_popcount(p->request.keys);
        PFR_TRY(profile_tree_group(j->to->tree, g->event, g->value, values, number, err));
        j->group_of[group] = *number + 1;
    }
    *number = j->group_of[group] - 1;
    return PFR_OK;
}

/* Sets the weight of a stack, unless a later worker can still add to it. */
static void settle_entry(struct sample_counter *to, struct profile_stack *stack, const struct entry_count *count) {
    stack->self = (struct profile_weight){count->weight, count->samples};
    to->facts.too_deep += count->too_deep ? count->samples : 0;
}

static pfr_status add_entry(struct stacks_joining *j, const uint64_t *key, const struct entry_count *count,
                            pfr_error *err) {
    struct whole_stacks *ours = &j->to->whole;
    struct profile_stack stack = j->from->whole.at[count->node];
    struct entry_count made = *count;
    PFR_TRY(join_group(j, stack.group, &stack.group, err));
    PFR_TRY(make_room(j->to, err));
    if (!j->more)
        settle_entry(j->to, &stack, count);
    made.node = ours->count;
    ours->at[ours->count++] = stack;
    ours->settled = ours->count;
    return j->more ? counter_put(j->to, key, &made, err) : PFR_OK;
}

/* Adds the counts to the entry of this key. If there is no such entry, adds one with the stack of the other worker. */
static pfr_status join_entry(struct stacks_joining *j, const uint64_t *key, const struct entry_count *count,
                             pfr_error *err) {
    struct entry_count *same = counter_find(j->to, key);
    if (!same)
        return add_entry(j, key, count, err);
    const struct profile_stack *theirs = &j->from->whole.at[count->node];
    struct profile_stack *ours = &j->to->whole.at[same->node];
    ours->place = theirs->place < ours->place ? theirs->place : ours->place;
    same->weight += count->weight;
    same->samples += count->samples;
    return PFR_OK;
}

/* Counts an entry without room as [limit]. */
static void limit_entry(struct stacks_joining *j, const struct entry_count *count) {
    const uint32_t group = j->from->whole.at[count->node].group;
    struct profile_weight *limited = &j->to->facts.limited[j->from->tree->groups[group]->event];
    limited->weight += count->weight;
    limited->samples += count->samples;
}

/* Prefetches the slots of later entries, then the entries. */
static void fetch_entries(const struct stacks_joining *j, uint32_t i) {
    if (i + 2 * FETCHED < j->from->table->count)
        counter_fetch_slot(j->to, entry_words(j->from, i + 2 * FETCHED));
    if (i + FETCHED < j->from->table->count)
        counter_fetch_entry(j->to, entry_words(j->from, i + FETCHED));
}

static pfr_status join_entries(struct stacks_joining *j, pfr_error *err) {
    for (uint32_t i = 0; i < j->from->table->count; i++) {
        const uint64_t *key = entry_words(j->from, i);
        const struct entry_count *count = entry_count_of(j->from, key);
        fetch_entries(j, i);
        const pfr_status st = join_entry(j, key, count, err);
        if (st < 0 && st != PFR_ERR_LIMIT)
            return st;
        if (st < 0)
            limit_entry(j, count);
    }
    return PFR_OK;
}

pfr_status whole_join(struct sample_counter *to, struct sample_counter *from, bool more, pfr_error *err) {
    struct stacks_joining j = {.to = to, .from = from, .more = more};
    whole_settle(&to->whole);
    whole_settle(&from->whole);
    j.group_of = mem_zeroed(to->memory, from->tree->nr_groups, sizeof *j.group_of);
    pfr_status st = j.group_of ? join_entries(&j, err) : mem_fail(to->memory, err, "stacks");
    mem_free(to->memory, j.group_of, from->tree->nr_groups, sizeof *j.group_of);
    if (st >= 0)
        st = give_frames(&from->whole, &to->whole, err);
    return st;
}

/* --- At the end. */

/* Sorts by the first sample of each stack. */
static pfr_status sort_stacks(struct whole_stacks *w, pfr_error *err) {
    struct profile_stack *sorted = mem_alloc(w->memory, w->room, sizeof *sorted);
    struct radix_item *items = mem_alloc(w->memory, w->count, 2 * sizeof *items);
    if (sorted && items) {
        for (uint32_t i = 0; i < w->count; i++)
            items[i] = (struct radix_item){w->at[i].place, i};
        const struct radix_item *order = radix_sort(items, items + w->count, w->count);
        for (uint32_t i = 0; i < w->count; i++)
            sorted[i] = w->at[order[i].value];
        struct profile_stack *const unsorted = w->at;
        w->at = sorted;
        sorted = unsorted;
    }
    const pfr_status st = sorted && items ? PFR_OK : mem_fail(w->memory, err, "stacks");
    mem_free(w->memory, sorted, w->room, sizeof *sorted);
    mem_free(w->memory, items, w->count, 2 * sizeof *items);
    return st;
}

pfr_status whole_give(struct whole_stacks *w, bool sorted, struct profile *p, pfr_error *err) {
    if (!w->count)
        return PFR_OK;
    if (!sorted)
        PFR_TRY(sort_stacks(w, err));
    PFR_TRY(give_frames(w, w, err));
    for (uint32_t i = 0; i < w->nr_parts; i++)
        w->parts[i].memory = p->memory;
    p->stacks = w->at;
    p->stack_parts = w->parts;
    p->nr_stacks = w->count;
    p->nr_stack_parts = w->nr_parts;
    p->rooms.stacks = w->room;
    *w = (struct whole_stacks){.memory = w->memory};
    return PFR_OK;
}
