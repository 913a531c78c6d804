/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of calls as a tree: see calls.h. Most nodes have few children, and one of them is looked up most often. The
 * first LIST_MOST children of a node are in a list, the one found last at its head. Other children are in a hash table.
 */
#include "model/calls/calls_parts.h"

#include "base/memory/fail.h"
#include "base/tables/hash_seed.h"
#include "base/memory/sizes.h"

#define FIRST_SLOTS (sizes.table_slots < 1024 ? sizes.table_slots : (size_t)1024)
#define LIST_MOST 8u

pfr_status call_paths_init(struct call_paths *p, struct memory *memory, pfr_error *err) {
    *p = (struct call_paths){.memory = memory};
    p->at = mem_grow(memory, NULL, 0, &p->room, 256, sizeof *p->at);
    if (!p->at)
        return mem_fail(memory, err, "paths");
    p->at[PATH_ROOT] = p->at[PATH_LIMIT] = (struct call_path){.parent = PATH_ROOT};
    p->count = 2;
    return PFR_OK;
}

void call_paths_free(struct call_paths *p) {
    mem_free(p->memory, p->at, p->room, sizeof *p->at);
    mem_free(p->memory, p->slots, p->slot_count, sizeof *p->slots);
    *p = (struct call_paths){.memory = p->memory};
}

static uint32_t *find_slot(const struct call_paths *p, uint32_t parent, uint32_t function) {
    uint64_t h = ((uint64_t)parent << 32 | function) ^ table_seed(p->slot_count);
    h = (h ^ h >> 29) * 0x9e3779b97f4a7c15u;
    for (size_t i = (size_t)(h ^ h >> 32);; i++) {
        uint32_t *slot = &p->slots[i & (p->slot_count - 1)];
        if (*slot == 0 || (p->at[*slot].parent == parent && p->at[*slot].function == function))
            return slot;
    }
}

static pfr_status grow_slots(struct call_paths *p, pfr_error *err) {
    struct call_paths more = *p;
    if (p->used < p->slot_count / 4 * 3)
        return PFR_OK;
    more.slot_count = p->slots ? p->slot_count * 2 : FIRST_SLOTS;
    more.slots = mem_zeroed(p->memory, more.slot_count, sizeof *more.slots);
    if (!more.slots)
        return mem_fail(p->memory, err, "paths");
    for (size_t i = 0; i < p->slot_count; i++)
        if (p->slots[i])
            *find_slot(&more, p->at[p->slots[i]].parent, p->at[p->slots[i]].function) = p->slots[i];
    mem_free(p->memory, p->slots, p->slot_count, sizeof *p->slots);
    *p = more;
    return PFR_OK;
}

static pfr_status make_room(struct call_paths *p, pfr_error *err) {
    if (p->count == UINT32_MAX)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "paths", "there are more than 2^32 call paths");
    void *more = mem_grow(p->memory, p->at, p->count, &p->room, 256, sizeof *p->at);
    if (!more)
        return mem_fail(p->memory, err, "paths");
    p->at = more;
    return PFR_OK;
}

static uint32_t add(struct call_paths *p, uint32_t parent, uint32_t function) {
    p->at[p->count] = (struct call_path){.parent = parent, .function = function};
    return p->count++;
}

/* Searches the parent's list, and moves the child found to the head of the list. 0: the list does not have it. */
static uint32_t find_in_list(struct call_paths *p, uint32_t parent, uint32_t function, unsigned *steps) {
    uint32_t *first = &p->at[parent].inner, *link = first;
    for (*steps = 0; *link && *steps < LIST_MOST; ++*steps) {
        const uint32_t at = *link;
        if (p->at[at].function == function) {
            *link = p->at[at].next;
            p->at[at].next = *first;
            return *first = at;
        }
        link = &p->at[at].next;
    }
    return 0;
}

static pfr_status add_to_table(struct call_paths *p, uint32_t parent, uint32_t function, uint32_t *child,
                               pfr_error *err) {
    PFR_TRY(grow_slots(p, err));
    uint32_t *slot = find_slot(p, parent, function);
    if (*slot == 0) {
        PFR_TRY(make_room(p, err));
        *slot = add(p, parent, function);
        p->used++;
    }
    *child = *slot;
    return PFR_OK;
}

pfr_status call_paths_child(struct call_paths *p, uint32_t parent, uint32_t function, uint32_t *child, pfr_error *err) {
    unsigned steps;
    const uint32_t found = find_in_list(p, parent, function, &steps);
    if (found)
        return *child = found, PFR_OK;
    if (steps == LIST_MOST)
        return add_to_table(p, parent, function, child, err);
    PFR_TRY(make_room(p, err));
    *child = add(p, parent, function);
    p->at[*child].next = p->at[parent].inner;
    p->at[parent].inner = *child;
    return PFR_OK;
}
