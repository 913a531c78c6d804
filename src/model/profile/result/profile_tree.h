/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_TREE_H
#define PFR_MODEL_PROFILE_TREE_H
/*
 * Groups, and stacks as a tree of frames: a part of how profiles are made (profile_parts.h). A tree is of one lane, or
 * shared by several.
 */
#include "model/profile/result/profile.h"

#include <pthread.h>
#include <string.h>

#include "base/tables/hash_seed.h"

#define NODE_MOST (NO_NODE - 2)

/* --- profile_tree.c */

struct node_tree {
    struct memory *memory;
    struct profile_node *nodes;
    struct node_weights self; /* none until profile_tree_begin_weights, for which so much is counted: */
    uint64_t promised;
    uint32_t *slots; /* node + 1 of those that do not follow their parent; 0: empty */
    struct profile_group **groups;
    size_t nodes_room, groups_room, slot_count, used;
    uint32_t nr_nodes, nr_groups;
    struct intern_table group_keys;
    struct arena arena;     /* groups */
    struct memory *whole;   /* of which so much is left for each node; NULL: nobody needs any */
    const uint32_t *frames; /* how many there are */
    uint32_t cost, frame_cost;
    uint32_t until; /* nodes that there may be before the memory is looked at again */
    uint64_t spare; /* bytes that are given back when all is counted */
    bool shared;    /* several lanes add to it: see profile_tree_shared.c */
    pthread_rwlock_t lock;
    uint32_t reserved; /* nodes that those within may still make; atomic */
};

/* For the nodes of a profile; its wish says what each will cost. */
void profile_tree_init(struct node_tree *t, const struct profile *p, struct memory *memory);
void profile_tree_free(struct node_tree *t);
/* The group of an event and its values, of a tree that is not shared; and the root in it, of any. */
pfr_status profile_tree_group(struct node_tree *t, uint32_t event, const uint64_t *values, unsigned count,
                              uint32_t *group, pfr_error *err);
pfr_status profile_tree_root(struct node_tree *t, uint32_t event, const uint64_t *values, unsigned count,
                             uint32_t *root, pfr_error *err);
pfr_status profile_tree_child(struct node_tree *t, uint32_t parent, uint32_t frame, uint32_t *node, pfr_error *err);
/* From *node down to its child frames[*at], and on where that is new: then to the end. */
pfr_status profile_tree_descend(struct node_tree *t, uint32_t *node, const uint32_t *frames, uint32_t count,
                                uint32_t *at, pfr_error *err);
/* What profile_tree_descend will look at, to be fetched: first the one, a while later the other. */
void profile_tree_prefetch_slot(const struct node_tree *t, uint32_t parent, uint32_t frame);
void profile_tree_prefetch_node(const struct node_tree *t, uint32_t parent, uint32_t frame);
/* Adds the other's groups, of `count` values, and nodes; weight that there is no room for goes to `limited`, by event.
 */
pfr_status profile_tree_merge(struct node_tree *t, const struct node_tree *from, unsigned count,
                              struct profile_weight *limited, pfr_error *err);
/* A node is one word, which others may write meanwhile. */
typedef uint64_t __attribute__((may_alias)) tree_word;
static inline tree_word tree_word_of(uint32_t parent, uint32_t frame) {
    const struct profile_node node = {parent, frame};
    tree_word word;
    memcpy(&word, &node, sizeof word);
    return word;
}
static inline bool tree_is_child(const struct node_tree *t, uint32_t node, uint32_t parent, uint32_t frame) {
    return __atomic_load_n((const tree_word *)&t->nodes[node], __ATOMIC_ACQUIRE) == tree_word_of(parent, frame);
}

/* Nodes have weights from now on, 0 at first. While stacks are counted nobody asks for them. */
pfr_status profile_tree_begin_weights(struct node_tree *t, pfr_error *err);
/* The same, of those that are marked between the two; all are there already. */
pfr_status profile_tree_begin_marks(struct node_tree *t, pfr_error *err);
pfr_status profile_tree_end_marks(struct node_tree *t, pfr_error *err);
/* What it holds becomes the profile's: nodes have weights. */
void profile_tree_give(struct node_tree *t, struct profile *p);
/* How many nodes it can have now, with their weights. */
static inline size_t tree_room(const struct node_tree *t) {
    const size_t weights = t->self.bits ? t->nr_nodes : t->self.at ? t->self.room : t->promised / sizeof *t->self.at;
    return weights < t->nodes_room ? weights : t->nodes_room;
}
/* Room for so many more nodes, and twice the slots; for profile_tree_shared.c. */
pfr_status profile_tree_make_room(struct node_tree *t, uint32_t nodes, pfr_error *err);
pfr_status profile_tree_grow_slots(struct node_tree *t, pfr_error *err);
static inline size_t tree_first_slot(const struct node_tree *t, uint32_t parent, uint32_t frame) {
    uint64_t h = ((uint64_t)parent << 32 | frame) ^ table_seed(t->slot_count);
    h = (h ^ h >> 29) * 0x9e3779b97f4a7c15u;
    return (size_t)(h ^ h >> 32) & (t->slot_count - 1);
}

/* --- profile_tree_shared.c */

/* Before anything is in it: several lanes will add to it at once. */
void profile_tree_share(struct node_tree *t);
/* Around all that looks at nodes, and makes at most so many of them. What is not shared needs nothing. < 0: not within.
 */
pfr_status profile_tree_enter(struct node_tree *t, uint32_t nodes, pfr_error *err);
void profile_tree_leave(struct node_tree *t, uint32_t nodes);
/* Within: as profile_tree_descend, and fails never. */
void profile_tree_descend_shared(struct node_tree *t, uint32_t *node, const uint32_t *frames, uint32_t count,
                                 uint32_t *at);
/* Adds to a node's own weight; of a shared tree several may. */
void profile_tree_weigh(struct node_tree *t, uint32_t node, const struct profile_weight *more);
/* By anyone: around a change of groups. */
void profile_tree_close(struct node_tree *t);
void profile_tree_open(struct node_tree *t);

#endif
