/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups, and stacks as a tree of frames. A new stack adds a row of consecutive nodes, below the node at which it
 * leaves the tree. Most nodes therefore directly follow their parent and are found there. Only the first node of a row
 * is in the hash table.
 */
#include "file/read/next.h"
#include "model/profile/result/profile_tree.h"

#include <inttypes.h>

#include "base/memory/sizes.h"

#define FIRST_SLOTS (sizes.table_slots < 1024 ? sizes.table_slots : (size_t)1024)
#define LOOK_EACH 2048u
#define NAMES_SHARE 16u /* 1 / NAMES_SHARE of the memory is left for names */

void profile_tree_init(struct node_tree *t, const struct profile *p, struct memory *memory) {
    *t = (struct node_tree){.memory = memory,
                            .whole = p->request.node_cost ? p->memory : NULL,
                            .frames = &p->nr_frames,
                            .cost = p->request.node_cost,
                            .frame_cost = p->request.frame_cost};
    arena_init(&t->arena, memory);
    intern_init(&t->group_keys, memory);
}

void profile_tree_free(struct node_tree *t) {
    mem_free(t->memory, t->slots, t->slot_count, sizeof *t->slots);
    mem_free(t->memory, t->nodes, t->nodes_room, sizeof *t->nodes);
    node_weights_free(&t->self, t->memory);
    mem_discharge(t->memory, t->promised);
    mem_free(t->memory, t->groups, t->groups_room, sizeof *t->groups);
    intern_free(&t->group_keys);
    arena_free(&t->arena);
    if (t->shared)
        pthread_rwlock_destroy(&t->lock);
    *t = (struct node_tree){.memory = t->memory};
}

/* Number of nodes for which memory suffices, including the caller's memory per node. A part is left for names. */
static uint64_t count_affordable(const struct node_tree *t) {
    const uint64_t each = sizeof *t->nodes + sizeof *t->self.at + t->cost, limit = t->whole->limit;
    const uint64_t own = t->nodes_room * sizeof *t->nodes + t->self.room * sizeof *t->self.at + t->promised +
                         t->slot_count * sizeof *t->slots + t->spare;
    const uint64_t used = __atomic_load_n(&t->whole->used, __ATOMIC_RELAXED);
    const uint64_t frames = (uint64_t)__atomic_load_n(t->frames, __ATOMIC_RELAXED) * t->frame_cost;
    const uint64_t others = used > own ? used - own + frames : frames, left = limit > others ? limit - others : 0;
    return (left - left / NAMES_SHARE) / each;
}

static pfr_status look_ahead(struct node_tree *t, uint32_t nodes, pfr_error *err) {
    const uint64_t most = t->whole ? count_affordable(t) : NODE_MOST;
    if ((uint64_t)t->nr_nodes + nodes > most)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile",
                        "there is no memory for more than %" PRIu32 " stacks (limit memory)", t->nr_nodes);
    const uint64_t left = (most - t->nr_nodes) / 2 + 1, next = left < LOOK_EACH ? left : LOOK_EACH;
    t->until = t->whole ? t->nr_nodes + (next > nodes ? (uint32_t)next : nodes) : NODE_MOST;
    return PFR_OK;
}

/* Before nodes have weights, the memory for them is only reserved. */
static bool make_weight_room(struct node_tree *t, uint64_t wanted) {
    const uint64_t bytes = t->nodes_room * sizeof *t->self.at;
    if (t->self.bits)
        return node_weights_distribution(&t->self, t->memory, t->nodes_room);
    if (t->self.at) {
        void *self = mem_grow(t->memory, t->self.at, wanted - 1, &t->self.room, 256, sizeof *t->self.at);
        t->self.at = self ? self : t->self.at;
        return self != NULL;
    }
    if (bytes > t->promised && !mem_charge(t->memory, bytes - t->promised))
        return false;
    t->promised = bytes > t->promised ? bytes : t->promised;
    return true;
}

pfr_status profile_tree_begin_weights(struct node_tree *t, pfr_error *err) {
    if (t->self.bits && !node_weights_distribution(&t->self, t->memory, t->nr_nodes))
        return mem_fail(t->memory, err, "stacks");
    if (t->self.at)
        return PFR_OK;
    mem_discharge(t->memory, t->promised);
    t->promised = 0;
    return node_weights_begin_all(&t->self, t->memory, t->nr_nodes) ? PFR_OK : mem_fail(t->memory, err, "stacks");
}

pfr_status profile_tree_begin_marks(struct node_tree *t, pfr_error *err) {
    mem_discharge(t->memory, t->promised);
    t->promised = 0;
    return node_weights_begin_marks(&t->self, t->memory, t->nr_nodes) ? PFR_OK : mem_fail(t->memory, err, "stacks");
}

pfr_status profile_tree_end_marks(struct node_tree *t, pfr_error *err) {
    return node_weights_end_marks(&t->self, t->memory) ? PFR_OK : mem_fail(t->memory, err, "stacks");
}

/* Makes room before nodes are added: each number must have a node, even if memory runs out. */
pfr_status profile_tree_make_room(struct node_tree *t, uint32_t nodes, pfr_error *err) {
    const uint64_t wanted = (uint64_t)t->nr_nodes + nodes;
    if (wanted > t->until)
        PFR_TRY(look_ahead(t, nodes, err));
    if (wanted <= tree_room(t))
        return PFR_OK;
    if (wanted > NODE_MOST)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile", "there are more than 2^32 stacks");
    void *grown = mem_grow_zeroed(t->memory, t->nodes, wanted - 1, &t->nodes_room, 256, sizeof *t->nodes);
    t->nodes = grown ? grown : t->nodes;
    return grown && make_weight_room(t, wanted) ? PFR_OK : mem_fail(t->memory, err, "stacks");
}

static inline pfr_status make_room(struct node_tree *t, pfr_error *err) {
    return profile_tree_make_room(t, 1, err);
}

/* Adds a node. Call it after profile_tree_make_room. */
static uint32_t add_node(struct node_tree *t, uint32_t parent, uint32_t frame) {
    t->nodes[t->nr_nodes] = (struct profile_node){parent, frame};
    if (t->self.at)
        t->self.at[t->nr_nodes] = (struct profile_weight){0, 0};
    return t->nr_nodes++;
}

static uint32_t *find_slot(const struct node_tree *t, uint32_t parent, uint32_t frame) {
    for (size_t i = tree_first_slot(t, parent, frame);; i = (i + 1) & (t->slot_count - 1)) {
        uint32_t *slot = &t->slots[i];
        if (*slot == 0 || tree_is_child(t, *slot - 1, parent, frame))
            return slot;
    }
}

void profile_tree_prefetch_slot(const struct node_tree *t, uint32_t parent, uint32_t frame) {
    if (t->slots)
        __builtin_prefetch(&t->slots[tree_first_slot(t, parent, frame)]);
}

void profile_tree_prefetch_node(const struct node_tree *t, uint32_t parent, uint32_t frame) {
    const uint32_t node =
        t->slots ? __atomic_load_n(&t->slots[tree_first_slot(t, parent, frame)], __ATOMIC_RELAXED) : 0;
    if (node)
        __builtin_prefetch(&t->nodes[node - 1]);
}

pfr_status profile_tree_grow_slots(struct node_tree *t, pfr_error *err) {
    uint32_t *const before = t->slots;
    const size_t count = t->slot_count, more = before ? count * 2 : FIRST_SLOTS;
    uint32_t *slots = mem_zeroed(t->memory, more, sizeof *slots);
    if (!slots)
        return mem_fail(t->memory, err, "stacks");
    t->slots = slots;
    t->slot_count = more;
    for (size_t i = 0; i < count; i++)
        if (before[i]) {
            const struct profile_node *n = &t->nodes[before[i] - 1];
            *find_slot(t, n->parent, n->frame) = before[i];
        }
    mem_free(t->memory, before, count, sizeof *before);
    return PFR_OK;
}

/* Number of nodes that can be added without checking memory again; at least 1 after profile_tree_make_room. */
static uint32_t room_left(const struct node_tree *t) {
    size_t room = tree_room(t);
    room = t->until < room ? t->until : room;
    return (uint32_t)(room - t->nr_nodes);
}

/* Adds a row of consecutive nodes. */
static pfr_status add_row(struct node_tree *t, uint32_t *node, const uint32_t *frames, uint32_t count, uint32_t *at,
                          pfr_error *err) {
    while (*at < count) {
        PFR_TRY(make_room(t, err));
        const uint32_t room = room_left(t), wanted = count - *at, end = *at + (wanted < room ? wanted : room);
        for (; *at < end; ++*at)
            *node = add_node(t, *node, frames[*at]);
    }
    return PFR_OK;
}

pfr_status profile_tree_descend(struct node_tree *t, uint32_t *node, const uint32_t *frames, uint32_t count,
                                uint32_t *at, pfr_error *err) {
    if (*node + 1 == t->nr_nodes)
        return add_row(t, node, frames, count, at, err);
    if (tree_is_child(t, *node + 1, *node, frames[*at]))
        return ++*node, ++*at, PFR_OK;
    if (t->used >= t->slot_count / 4 * 3)
        PFR_TRY(profile_tree_grow_slots(t, err));
    PFR_TRY(make_room(t, err));
    uint32_t *slot = find_slot(t, *node, frames[*at]);
    if (*slot)
        return *node = *slot - 1, ++*at, PFR_OK;
    *slot = t->nr_nodes + 1;
    t->used++;
    *node = add_node(t, *node, frames[*at]);
    ++*at;
    return add_row(t, node, frames, count, at, err);
}

pfr_status profile_tree_child(struct node_tree *t, uint32_t parent, uint32_t frame, uint32_t *node, pfr_error *err) {
    uint32_t at = 0;
    *node = parent;
    return profile_tree_descend(t, node, &frame, 1, &at, err);
}

static pfr_status make_group_room(struct node_tree *t, pfr_error *err) {
    void *groups = mem_grow(t->memory, t->groups, t->nr_groups, &t->groups_room, 64, sizeof *t->groups);
    if (!groups)
        return mem_fail(t->memory, err, "profile");
    t->groups = groups;
    return make_room(t, err);
}

pfr_status profile_tree_group(struct node_tree *t, uint32_t event, const uint64_t *values, unsigned count,
                              uint32_t *group, pfr_error *err) {
    uint64_t key[1 + PROFILE_KEYS] = {event};
    memcpy(key + 1, values, count * sizeof *values);
    *group = intern_find(&t->group_keys, key, (1 + count) * sizeof *key);
    if (*group != INTERN_NONE)
        return PFR_OK;
    PFR_TRY(make_group_room(t, err));
    struct profile_group *made = arena_take(&t->arena, sizeof *made + count * sizeof *made->value, sizeof *made->value);
    if (!made)
        return mem_fail(t->memory, err, "profile");
    PFR_TRY(intern_put(&t->group_keys, key, (1 + count) * sizeof *key, group, err));
    made->event = event;
    made->root = add_node(t, NO_NODE, *group);
    memcpy(made->value, values, count * sizeof *values);
    t->groups[t->nr_groups++] = made;
    return PFR_OK;
}

pfr_status profile_tree_root(struct node_tree *t, uint32_t event, const uint64_t *values, unsigned count,
                             uint32_t *root, pfr_error *err) {
    uint32_t group;
    profile_tree_close(t);
    const pfr_status st = profile_tree_group(t, event, values, count, &group, err);
    if (st >= 0)
        *root = t->groups[group]->root;
    profile_tree_open(t);
    return st;
}

/* --- Merging trees. */

/* The event of the samples at a node. */
static uint32_t event_of(const struct node_tree *t, uint32_t node) {
    while (t->nodes[node].parent != NO_NODE)
        node = t->nodes[node].parent;
    return t->groups[t->nodes[node].frame]->event;
}

static pfr_status find_same(struct node_tree *t, const struct node_tree *from, uint32_t n, unsigned count,
                            uint32_t *became, pfr_error *err) {
    const struct profile_node *node = &from->nodes[n];
    if (node->parent != NO_NODE && became[node->parent] == NO_NODE)
        return PFR_ERR_LIMIT;
    if (node->parent != NO_NODE)
        return profile_tree_child(t, became[node->parent], node->frame, &became[n], err);
    const struct profile_group *group = from->groups[node->frame];
    return profile_tree_root(t, group->event, group->value, count, &became[n], err);
}

/* Parents have smaller numbers, so each node comes after its parent. */
static pfr_status merge_nodes(struct node_tree *t, const struct node_tree *from, unsigned count, uint32_t *became,
                              struct profile_weight *limited, pfr_error *err) {
    for (uint32_t n = 0; n < from->nr_nodes; n++) {
        const pfr_status st = find_same(t, from, n, count, became, err);
        if (st < 0 && st != PFR_ERR_LIMIT)
            return st;
        if (st < 0)
            became[n] = NO_NODE;
        const struct profile_weight *self = from->self.at ? node_weight(&from->self, n) : NULL;
        if (self && self->samples)
            weight_add(st < 0 ? &limited[event_of(from, n)] : node_weights_own(&t->self, became[n]), self);
    }
    return PFR_OK;
}

pfr_status profile_tree_merge(struct node_tree *t, const struct node_tree *from, unsigned count,
                              struct profile_weight *limited, pfr_error *err) {
    if (from->nr_nodes == 0)
        return PFR_OK;
    PFR_TRY(profile_tree_begin_weights(t, err)); /* because any node may get a weight */
    uint32_t *became = mem_alloc(t->memory, from->nr_nodes, sizeof *became);
    if (!became)
        return mem_fail(t->memory, err, "stacks");
    const pfr_status st = merge_nodes(t, from, count, became, limited, err);
    mem_free(t->memory, became, from->nr_nodes, sizeof *became);
    return st;
}

void profile_tree_give(struct node_tree *t, struct profile *p) {
    p->nodes = t->nodes;
    p->self = t->self;
    p->groups = t->groups;
    p->nr_nodes = t->nr_nodes;
    p->nr_groups = t->nr_groups;
    p->rooms.nodes = t->nodes_room;
    p->rooms.groups = t->groups_room;
    p->arena = t->arena;
    p->arena.memory = p->memory;
    t->nodes = NULL;
    t->self = (struct node_weights){.at = NULL};
    t->groups = NULL;
    t->nodes_room = t->groups_room = 0;
    arena_init(&t->arena, t->memory);
}
