/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of addresses: see raw_stacks.h. Most nodes have one below them, or a few of which one is met again and again:
 * they are in a list, which what was met last leads. Those of the few nodes that have more are in a hash table.
 */
#include "model/raw_stacks.h"

#include "base/fail.h"

#include <string.h>

#define FIRST_SLOTS ((size_t)1024)
#define LIST_MOST 8u

void raw_stacks_init(struct raw_stacks *s, struct memory *memory) {
    *s = (struct raw_stacks){.memory = memory};
}

void raw_stacks_free(struct raw_stacks *s) {
    mem_free(s->memory, s->nodes, s->room, sizeof *s->nodes);
    mem_free(s->memory, s->slots, s->slot_count, sizeof *s->slots);
    mem_free(s->memory, s->path, s->path_room, sizeof *s->path);
    mem_free(s->memory, s->chain, s->path_room, sizeof *s->chain);
    raw_stacks_init(s, s->memory);
}

/* Seeded by where the slots happen to lie, so that a file cannot be made to collide. */
static inline size_t place_of(const uint32_t *slots, const struct raw_node *n) {
    uint64_t h = (n->address ^ (uint64_t)(uintptr_t)slots) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ n->up) * 0xd6e8feb86659fd93u;
    return (size_t)(h ^ h >> 32);
}

static bool is_same(const struct raw_node *a, const struct raw_node *b) {
    return a->address == b->address && a->up == b->up;
}

/* The slot of such a node, or the empty one where it belongs. */
static uint32_t *find_slot(const struct raw_stacks *s, const struct raw_node *n) {
    const size_t mask = s->slot_count - 1;
    for (size_t i = place_of(s->slots, n) & mask;; i = (i + 1) & mask)
        if (s->slots[i] == 0 || is_same(&s->nodes[s->slots[i]], n))
            return &s->slots[i];
}

static pfr_status grow_slots(struct raw_stacks *s, pfr_error *err) {
    struct raw_stacks more = *s;
    if (s->used < s->slot_count / 4 * 3)
        return PFR_OK;
    more.slot_count = s->slots ? s->slot_count * 2 : FIRST_SLOTS;
    more.slots = mem_zeroed(s->memory, more.slot_count, sizeof *more.slots);
    if (!more.slots)
        return mem_fail(s->memory, err, "stacks");
    for (size_t i = 0; i < s->slot_count; i++)
        if (s->slots[i])
            *find_slot(&more, &s->nodes[s->slots[i]]) = s->slots[i];
    mem_free(s->memory, s->slots, s->slot_count, sizeof *s->slots);
    *s = more;
    return PFR_OK;
}

static pfr_status make_room(struct raw_stacks *s, pfr_error *err) {
    if (s->count == RAW_MOST)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "stacks", "there are more than 2^29 different stacks");
    if (s->count < s->room)
        return PFR_OK;
    void *more = mem_grow(s->memory, s->nodes, s->count, &s->room, 1024, sizeof *s->nodes);
    if (!more)
        return mem_fail(s->memory, err, "stacks");
    s->nodes = more;
    if (s->count == 0)
        s->nodes[s->count++] = (struct raw_node){0};
    return PFR_OK;
}

/* In the parent's list; found, it leads the list from now on. *steps of the list were looked at. */
static uint32_t find_in_list(struct raw_stacks *s, const struct raw_node *n, unsigned *steps) {
    uint32_t *first = &s->nodes[raw_parent(n)].inner, *link = first;
    for (*steps = 0; *link && *steps < LIST_MOST; ++*steps) {
        const uint32_t at = *link;
        if (is_same(&s->nodes[at], n)) {
            *link = s->nodes[at].next;
            s->nodes[at].next = *first;
            return *first = at;
        }
        link = &s->nodes[at].next;
    }
    return 0;
}

static pfr_status add_to_table(struct raw_stacks *s, const struct raw_node *n, uint32_t *node, pfr_error *err) {
    PFR_TRY(grow_slots(s, err));
    uint32_t *slot = find_slot(s, n);
    if (*slot == 0) {
        PFR_TRY(make_room(s, err));
        s->nodes[s->count] = *n;
        *slot = s->count++;
        s->used++;
    }
    *node = *slot;
    return PFR_OK;
}

/* `n` has neither inner nor next. */
static pfr_status put_node(struct raw_stacks *s, const struct raw_node *n, uint32_t *node, pfr_error *err) {
    unsigned steps;
    *node = find_in_list(s, n, &steps);
    if (*node)
        return PFR_OK;
    if (steps == LIST_MOST)
        return add_to_table(s, n, node, err);
    PFR_TRY(make_room(s, err));
    uint32_t *first = &s->nodes[raw_parent(n)].inner;
    *node = s->count++;
    s->nodes[*node] = *n;
    s->nodes[*node].next = *first;
    *first = *node;
    return PFR_OK;
}

static pfr_status make_path_room(struct raw_stacks *s, size_t length, pfr_error *err) {
    if (length <= s->path_room)
        return PFR_OK;
    uint32_t *path = mem_alloc(s->memory, length, sizeof *path);
    struct raw_node *chain = mem_alloc(s->memory, length, sizeof *chain);
    if (!path || !chain) {
        const pfr_status st = mem_fail(s->memory, err, "stacks");
        mem_free(s->memory, path, path ? length : 0, sizeof *path);
        mem_free(s->memory, chain, chain ? length : 0, sizeof *chain);
        return st;
    }
    mem_free(s->memory, s->path, s->path_room, sizeof *s->path);
    mem_free(s->memory, s->chain, s->path_room, sizeof *s->chain);
    s->path = path;
    s->chain = chain;
    s->path_room = length;
    s->path_length = 0;
    return PFR_OK;
}

pfr_status raw_stacks_put(struct raw_stacks *s, const pfr_u64s *chain, unsigned mode, uint32_t most, uint32_t *node,
                          pfr_error *err) {
    struct chain_walk walk = chain_begin(chain, mode, most);
    struct raw_node n;
    size_t count = 0;
    PFR_TRY(make_room(s, err));
    PFR_TRY(make_path_room(s, chain->count < most ? (size_t)chain->count : most, err));
    while (chain_next(&walk, &n.address)) /* into the end of `chain`, so that the outermost is found from there */
        s->chain[count++] = (struct raw_node){.address = n.address, .up = walk.mode << RAW_BITS};
    *node = 0;
    bool alike = true;
    for (size_t i = 0; i < count; i++) {
        n = s->chain[count - 1 - i];
        n.up |= *node;
        alike = alike && i < s->path_length && is_same(&s->nodes[s->path[i]], &n);
        if (alike)
            *node = s->path[i];
        else
            PFR_TRY(put_node(s, &n, node, err));
        s->path[i] = *node;
    }
    s->path_length = count;
    return PFR_OK;
}
