/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the nodes of the profile to one tree that is numbered by the samples in file order. The
 * profile has a tree for each event, and the numbers of its nodes depend on which thread counted
 * which samples. A node that was made right after its parent is found by its number; only the other
 * nodes are in the hash table (as in profile_tree.c). As long as all nodes come from one tree of
 * addresses, no two of them are equal, so no lookup is necessary.
 */
#include "model/open/model_stacks.h"
#include "model/open/model_tables.h"

#include "base/tables/hash_seed.h"
#include "model/open/model_frames.h"

#define FIRST_SLOTS 1024u
#define DEEPEST UINT16_MAX
#define NODE_AHEAD 16u /* samples: distances of prefetching */
#define STACK_AHEAD 8u

void stack_tree_init(struct stack_tree *t, struct pfr_model *m) {
    *t = (struct stack_tree){.model = m};
}

void stack_tree_free(struct stack_tree *t) {
    mem_free(t->model->memory, t->slots, t->slot_count, sizeof *t->slots);
    mem_free(t->model->memory, t->stamps, t->stamps_room, sizeof *t->stamps);
}

static inline const pfr_stack *stack_at(const struct stack_tree *t, uint32_t id) {
    return (const pfr_stack *)t->model->stacks.at + id;
}

static inline bool is_child(const struct stack_tree *t, uint32_t id, uint32_t parent, uint32_t frame, bool apart) {
    const pfr_stack *s = stack_at(t, id);
    return s->parent == parent && s->frame == frame && s->is_apart == apart;
}

static uint32_t *find_slot(const struct stack_tree *t, uint32_t parent, uint32_t frame, bool apart) {
    uint64_t h = ((uint64_t)parent << 32 | frame << 1 | apart) ^ table_seed(t->slot_count);
    h = (h ^ h >> 29) * 0x9e3779b97f4a7c15u;
    for (size_t i = (size_t)(h ^ h >> 32);; i++) {
        uint32_t *slot = &t->slots[i & (t->slot_count - 1)];
        if (!*slot || is_child(t, *slot, parent, frame, apart))
            return slot;
    }
}

static pfr_status grow_slots(struct stack_tree *t, pfr_error *err) {
    struct stack_tree more = *t;
    if (t->used < t->slot_count / 4 * 3)
        return PFR_OK;
    more.slot_count = t->slots ? t->slot_count * 2 : FIRST_SLOTS;
    more.slots = mem_zeroed(t->model->memory, more.slot_count, sizeof *more.slots);
    if (!more.slots)
        return mem_fail(t->model->memory, err, "stacks");
    for (size_t i = 0; i < t->slot_count; i++)
        if (t->slots[i]) {
            const pfr_stack *s = stack_at(t, t->slots[i]);
            *find_slot(&more, s->parent, s->frame, s->is_apart) = t->slots[i];
        }
    mem_free(t->model->memory, t->slots, t->slot_count, sizeof *t->slots);
    t->slots = more.slots;
    t->slot_count = more.slot_count;
    return PFR_OK;
}

pfr_status stack_tree_resume(struct stack_tree *t, pfr_error *err) {
    t->is_copy = false;
    for (uint32_t id = 1; id <= t->model->stacks.count; id++) {
        const pfr_stack *s = stack_at(t, id);
        if (s->parent + 1 == id)
            continue;
        PFR_TRY(grow_slots(t, err));
        *find_slot(t, s->parent, s->frame, s->is_apart) = id;
        t->used++;
    }
    return PFR_OK;
}

/* --- Symbols of callers. */

static pfr_status room_for_stamps(struct stack_tree *t, pfr_error *err) {
    if (t->model->symbols.count < t->stamps_room)
        return PFR_OK;
    void *grown =
        mem_grow_zeroed(t->model->memory, t->stamps, t->model->symbols.count, &t->stamps_room, 256, sizeof *t->stamps);
    if (!grown)
        return mem_fail(t->model->memory, err, "stacks");
    t->stamps = grown;
    return PFR_OK;
}

pfr_status stack_tree_begin(struct stack_tree *t, uint32_t parent, pfr_error *err) {
    PFR_TRY(room_for_stamps(t, err));
    if (++t->stamp == 0) { /* wrapped around: stamps of 2^32 paths ago would look current */
        memset(t->stamps, 0, t->stamps_room * sizeof *t->stamps);
        t->stamp = 1;
    }
    for (uint32_t id = parent; id; id = stack_at(t, id)->parent)
        t->stamps[stack_at(t, id)->symbol] = t->stamp;
    return PFR_OK;
}

static bool meet_symbol(struct stack_tree *t, uint32_t symbol) {
    const bool is_outer = t->stamps[symbol] != t->stamp;
    t->stamps[symbol] = t->stamp;
    return is_outer;
}

static pfr_status add_stack(struct stack_tree *t, uint32_t parent, uint32_t frame, bool apart, uint32_t *id,
                            pfr_error *err) {
    struct pfr_model *m = t->model;
    const uint32_t symbol = ((const pfr_model_frame *)m->frames.at)[frame].symbol;
    PFR_TRY(room_for_stamps(t, err));
    const uint32_t depth = parent ? stack_at(t, parent)->depth + 1u : 0;
    const pfr_stack row = {.parent = parent,
                           .frame = frame,
                           .symbol = symbol,
                           .depth = (uint16_t)(depth < DEEPEST ? depth : DEEPEST),
                           .is_outer = meet_symbol(t, symbol),
                           .is_apart = apart};
    return rows_add(m, &m->stacks, &row, sizeof row, id, "stacks", err);
}

pfr_status stack_tree_child(struct stack_tree *t, uint32_t parent, uint32_t frame, bool apart, uint32_t *id,
                            pfr_error *err) {
    const uint32_t count = t->model->stacks.count;
    if (t->is_copy)
        return add_stack(t, parent, frame, apart, id, err);
    uint32_t found = parent < count && is_child(t, parent + 1, parent, frame, apart) ? parent + 1 : 0;
    if (!found && parent < count) {
        PFR_TRY(grow_slots(t, err));
        uint32_t *slot = find_slot(t, parent, frame, apart);
        if (!*slot) {
            PFR_TRY(add_stack(t, parent, frame, apart, id, err));
            t->used++;
            return *slot = *id, PFR_OK;
        }
        found = *slot;
    }
    if (!found)
        return add_stack(t, parent, frame, apart, id, err);
    PFR_TRY(room_for_stamps(t, err));
    t->stamps[stack_at(t, found)->symbol] = t->stamp;
    return *id = found, PFR_OK;
}

/* --- Nodes of the profile. */

struct numbering {
    struct pfr_model *model;
    struct stack_tree tree;
    struct frame_numbers frames;
    uint32_t *path; /* nodes on the path up to a node that has a stack */
    size_t path_room;
    uint32_t limited; /* the stack [limit]; 0: not made yet */
    uint32_t root;    /* of the last path that reached a root; NO_NODE: none yet */
};

/* Once a node has a stack, its parent is no longer needed: `parent` is then the stack, and `frame`
   is NO_FRAME. */
static bool has_stack(const struct profile_node *node) {
    return node->frame == NO_FRAME;
}

/* Each event has its own root, and nodes below different roots may be equal. */
static pfr_status note_root(struct numbering *n, uint32_t root, pfr_error *err) {
    const bool is_second = n->root != NO_NODE && n->root != root;
    n->root = root;
    return n->tree.is_copy && is_second ? stack_tree_resume(&n->tree, err) : PFR_OK;
}

/* Collects the nodes from `node` upwards that have no stack, beginning with `node`; *above is the stack of the first
   node that has one. */
static pfr_status collect_path(struct numbering *n, uint32_t node, uint32_t *count, uint32_t *above, pfr_error *err) {
    const struct profile_node *nodes = n->model->profile->nodes;
    *count = 0;
    while (!has_stack(&nodes[node]) && nodes[node].parent != NO_NODE) {
        void *grown = mem_grow(n->model->memory, n->path, *count, &n->path_room, 128, sizeof *n->path);
        if (!grown)
            return mem_fail(n->model->memory, err, "stacks");
        n->path = grown;
        n->path[(*count)++] = node;
        node = nodes[node].parent;
    }
    *above = has_stack(&nodes[node]) ? nodes[node].parent : 0;
    return *above ? PFR_OK : note_root(n, node, err);
}

static pfr_status number_frame(struct numbering *n, uint32_t node_frame, uint32_t *frame, pfr_error *err) {
    PFR_TRY(frame_number(&n->frames, node_frame, frame, err));
    return n->tree.is_copy && n->frames.merged ? stack_tree_resume(&n->tree, err) : PFR_OK;
}

static pfr_status number_node(struct numbering *n, uint32_t node, pfr_error *err) {
    struct profile_node *nodes = n->model->profile->nodes;
    uint32_t count, id, frame;
    PFR_TRY(collect_path(n, node, &count, &id, err));
    PFR_TRY(stack_tree_begin(&n->tree, id, err));
    while (count-- > 0) {
        struct profile_node *at = &nodes[n->path[count]];
        PFR_TRY(number_frame(n, node_frame(at), &frame, err));
        PFR_TRY(stack_tree_child(&n->tree, id, frame, at->frame & NODE_APART, &id, err));
        *at = (struct profile_node){id, NO_FRAME};
    }
    return PFR_OK;
}

static pfr_status number_limited(struct numbering *n, pfr_error *err) {
    uint32_t frame;
    PFR_TRY(frame_number_limited(&n->frames, &frame, err));
    PFR_TRY(stack_tree_begin(&n->tree, 0, err));
    return stack_tree_child(&n->tree, 0, frame, true, &n->limited, err);
}

/* The nodes of samples are scattered over a tree that does not fit in the cache: loads the node of a sample ahead, and
   for a nearer one the stack that its path will be added to. */
static void prefetch(const struct numbering *n, const uint32_t *nodes, size_t count, size_t i) {
    const struct profile_node *all = n->model->profile->nodes;
    if (i + NODE_AHEAD < count && nodes[i + NODE_AHEAD] != NO_NODE)
        __builtin_prefetch(&all[nodes[i + NODE_AHEAD]], 1);
    if (i + STACK_AHEAD >= count || nodes[i + STACK_AHEAD] == NO_NODE)
        return;
    uint32_t node = nodes[i + STACK_AHEAD];
    while (!has_stack(&all[node]) && all[node].parent != NO_NODE)
        node = all[node].parent;
    if (has_stack(&all[node]) && node != nodes[i + STACK_AHEAD])
        __builtin_prefetch(stack_at(&n->tree, all[node].parent));
}

static pfr_status number_all(struct numbering *n, uint32_t *nodes, size_t count, pfr_error *err) {
    for (size_t i = 0; i < count; i++) {
        const uint32_t node = nodes[i];
        prefetch(n, nodes, count, i);
        if (node == NO_NODE) {
            if (!n->limited)
                PFR_TRY(number_limited(n, err));
            nodes[i] = n->limited;
            continue;
        }
        const struct profile_node *at = &n->model->profile->nodes[node];
        if (!has_stack(at) && at->parent != NO_NODE)
            PFR_TRY(number_node(n, node, err));
        nodes[i] = has_stack(at) ? at->parent : 0;
    }
    return PFR_OK;
}

pfr_status model_number_stacks(struct pfr_model *m, uint32_t *nodes, size_t count, pfr_error *err) {
    const struct profile_request *request = &m->profile->request;
    struct numbering n = {.model = m, .root = NO_NODE};
    stack_tree_init(&n.tree, m);
    n.tree.is_copy = request->unit == PROFILE_NAMED_LAST && request->lines == PROFILE_NO_LINES;
    pfr_status st = frame_numbers_init(&n.frames, m, err);
    if (st >= 0)
        st = number_all(&n, nodes, count, err);
    mem_free(m->memory, n.path, n.path_room, sizeof *n.path);
    frame_numbers_free(&n.frames);
    stack_tree_free(&n.tree);
    return st;
}
