/* SPDX-License-Identifier: Apache-2.0 */
/* Groups, and stacks as a tree of frames. What is below a node is found as in raw_stacks.c. */
#include "model/profile_parts.h"

#define FIRST_SLOTS ((size_t)1024)
#define LIST_MOST 8u

void profile_tree_init(struct tree *t, struct profile *p) {
    *t = (struct tree){.profile = p, .memory = p->memory};
    intern_init(&t->group_keys, p->memory);
    u64_map_init(&t->places, p->memory);
}

void profile_tree_free(struct tree *t) {
    mem_free(t->memory, t->slots, t->slot_count, sizeof *t->slots);
    mem_free(t->memory, t->links, t->links_room, sizeof *t->links);
    intern_free(&t->group_keys);
    u64_map_free(&t->places);
}

/* Room is made before anything is noted, so that what has a number is there, also where there is no more memory. */
static pfr_status make_room(struct tree *t, pfr_error *err) {
    struct profile *p = t->profile;
    if (p->nr_nodes == NO_NODE - 1)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile", "there are more than 2^32 stacks");
    void *nodes = mem_grow(t->memory, p->nodes, p->nr_nodes, &p->nodes_room, 256, sizeof *p->nodes);
    p->nodes = nodes ? nodes : p->nodes;
    void *self = nodes ? mem_grow(t->memory, p->self, p->nr_nodes, &p->self_room, 256, sizeof *p->self) : NULL;
    p->self = self ? self : p->self;
    void *links = self ? mem_grow(t->memory, t->links, p->nr_nodes, &t->links_room, 256, sizeof *t->links) : NULL;
    t->links = links ? links : t->links;
    return links ? PFR_OK : mem_fail(t->memory, err, "stacks");
}

/* After make_room. */
static uint32_t add_node(struct tree *t, uint32_t parent, uint32_t frame) {
    struct profile *p = t->profile;
    p->nodes[p->nr_nodes] = (struct profile_node){parent, frame};
    p->self[p->nr_nodes] = (struct profile_weight){0, 0};
    t->links[p->nr_nodes] = (struct tree_link){.frame = frame};
    return p->nr_nodes++;
}

static uint32_t *find_slot(const struct tree *t, uint32_t parent, uint32_t frame) {
    const struct profile_node *nodes = t->profile->nodes;
    uint64_t h = ((uint64_t)parent << 32 | frame) ^ (uint64_t)(uintptr_t)t->slots;
    h = (h ^ h >> 29) * 0x9e3779b97f4a7c15u;
    for (size_t i = (size_t)(h ^ h >> 32);; i++) {
        uint32_t *slot = &t->slots[i & (t->slot_count - 1)];
        if (*slot == 0 || (nodes[*slot - 1].parent == parent && nodes[*slot - 1].frame == frame))
            return slot;
    }
}

static pfr_status grow(struct tree *t, pfr_error *err) {
    const struct profile *p = t->profile;
    struct tree more = *t;
    if (t->used < t->slot_count / 4 * 3)
        return PFR_OK;
    more.slot_count = t->slots ? t->slot_count * 2 : FIRST_SLOTS;
    more.slots = mem_zeroed(t->memory, more.slot_count, sizeof *more.slots);
    if (!more.slots)
        return mem_fail(t->memory, err, "stacks");
    for (size_t i = 0; i < t->slot_count; i++)
        if (t->slots[i]) {
            const struct profile_node *n = &p->nodes[t->slots[i] - 1];
            *find_slot(&more, n->parent, n->frame) = t->slots[i];
        }
    mem_free(t->memory, t->slots, t->slot_count, sizeof *t->slots);
    *t = more;
    return PFR_OK;
}

/* In the parent's list; found, it leads the list from now on. 0: it is not there. */
static uint32_t find_in_list(struct tree *t, uint32_t parent, uint32_t frame, unsigned *steps) {
    uint32_t *first = &t->links[parent].inner, *link = first;
    for (*steps = 0; *link && *steps < LIST_MOST; ++*steps) {
        const uint32_t at = *link;
        struct tree_link *of = &t->links[at - 1];
        if (of->frame == frame) {
            *link = of->next;
            of->next = *first;
            return *first = at;
        }
        link = &of->next;
    }
    return 0;
}

static pfr_status add_to_table(struct tree *t, uint32_t parent, uint32_t frame, uint32_t *node, pfr_error *err) {
    PFR_TRY(grow(t, err));
    PFR_TRY(make_room(t, err));
    uint32_t *slot = find_slot(t, parent, frame);
    if (*slot == 0) {
        *slot = add_node(t, parent, frame) + 1;
        t->used++;
    }
    *node = *slot - 1;
    return PFR_OK;
}

pfr_status profile_child(struct tree *t, uint32_t parent, uint32_t frame, uint32_t *node, pfr_error *err) {
    unsigned steps;
    const uint32_t found = find_in_list(t, parent, frame, &steps);
    if (found)
        return *node = found - 1, PFR_OK;
    if (steps == LIST_MOST)
        return add_to_table(t, parent, frame, node, err);
    PFR_TRY(make_room(t, err));
    *node = add_node(t, parent, frame);
    t->links[*node].next = t->links[parent].inner;
    t->links[parent].inner = *node + 1;
    return PFR_OK;
}

static pfr_status make_group_room(struct tree *t, pfr_error *err) {
    struct profile *p = t->profile;
    void *groups = mem_grow(t->memory, p->groups, p->nr_groups, &p->groups_room, 64, sizeof *p->groups);
    if (!groups)
        return mem_fail(t->memory, err, "profile");
    p->groups = groups;
    return make_room(t, err);
}

pfr_status profile_group(struct tree *t, uint32_t event, const uint64_t *values, unsigned count, uint32_t *group,
                         pfr_error *err) {
    struct profile *p = t->profile;
    uint64_t key[1 + PROFILE_KEYS] = {event};
    memcpy(key + 1, values, count * sizeof *values);
    *group = intern_find(&t->group_keys, key, (1 + count) * sizeof *key);
    if (*group != INTERN_NONE)
        return PFR_OK;
    PFR_TRY(make_group_room(t, err));
    struct profile_group *made = arena_take(&p->arena, sizeof *made + count * sizeof *made->value, sizeof *made->value);
    if (!made)
        return mem_fail(t->memory, err, "profile");
    PFR_TRY(intern_put(&t->group_keys, key, (1 + count) * sizeof *key, group, err));
    made->event = event;
    made->root = add_node(t, NO_NODE, *group);
    memcpy(made->value, values, count * sizeof *values);
    p->groups[p->nr_groups++] = made;
    return PFR_OK;
}

pfr_status profile_put_place(struct tree *t, uint32_t frame, uint64_t address, uint64_t *value, pfr_error *err) {
    struct profile *p = t->profile;
    void *places = mem_grow(t->memory, p->places, p->nr_places, &p->places_room, 64, sizeof *p->places);
    if (!places)
        return mem_fail(t->memory, err, "profile");
    p->places = places;
    const uint64_t *place = u64_map_at(&t->places, frame, p->nr_places, NULL);
    if (!place)
        return mem_fail(t->memory, err, "profile");
    if (*place == p->nr_places)
        p->places[p->nr_places++] = (struct profile_place){frame, address};
    *value = *place;
    return PFR_OK;
}
