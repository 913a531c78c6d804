/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_TREE_H
#define PFR_MODEL_PROFILE_TREE_H
/* Groups, and stacks as a tree of frames: a part of profile_parts.h. A tree belongs to one worker, or is shared by
   several. */
#include "model/profile/result/profile.h"

#include <pthread.h>
#include <string.h>

#include "base/tables/hash_seed.h"

#define NODE_MOST (NO_NODE - 2)

/* --- profile_tree.c */

struct node_tree {
    struct memory *memory;
    struct profile_node *nodes;
    struct node_weights
        self; /* no weights before profile_tree_begin_weights, for which `promised` bytes are reserved */
    uint64_t promised;
    uint32_t *slots; /* node + 1 of nodes that do not directly follow their parent; 0: empty */
    struct profile_group **groups;
    size_t nodes_room, groups_room, slot_count, used;
    uint32_t nr_nodes, nr_groups;
    struct intern_table group_keys;
    struct arena arena;     /* groups */
    struct memory *whole;   /* memory in which `cost` bytes are left free for each node; NULL: not needed */
    const uint32_t *frames; /* points to the profile's number of frames */
    uint32_t cost, frame_cost;
    uint32_t until; /* number of nodes at which memory is checked again */
    uint64_t spare; /* bytes that will be freed when all is counted */
    bool shared;    /* several workers add to it: see profile_tree_shared.c */
    pthread_rwlock_t lock;
    uint32_t reserved; /* nodes that workers between profile_tree_enter and _leave may still add; atomic */
};

/* Initialises a tree for the nodes of a profile, whose request states the memory cost of a node. */
void profile_tree_init(struct node_tree *t, const struct profile *p, struct memory *memory);
void profile_tree_free(struct node_tree *t);
/* profile_tree_group finds or adds the group of an event and values, in a tree that is not shared. profile_tree_root
   finds or adds the root of that group, in any tree. */
pfr_status profile_tree_group(struct node_tree *t, uint32_t event, const uint64_t *values, unsigned count,
                              uint32_t *group, pfr_error *err);
pfr_status profile_tree_root(struct node_tree *t, uint32_t event, const uint64_t *values, unsigned count,
                             uint32_t *root, pfr_error *err);
pfr_status profile_tree_child(struct node_tree *t, uint32_t parent, uint32_t frame, uint32_t *node, pfr_error *err);
/* Moves from *node to its child frames[*at]. If that child is new, adds the rest of the row and moves to the end of the
   row. */
pfr_status profile_tree_descend(struct node_tree *t, uint32_t *node, const uint32_t *frames, uint32_t count,
                                uint32_t *at, pfr_error *err);
/* Prefetch the data of profile_tree_descend. profile_tree_prefetch_slot fetches the slot. profile_tree_prefetch_node,
   called some time later, fetches the node. */
void profile_tree_prefetch_slot(const struct node_tree *t, uint32_t parent, uint32_t frame);
void profile_tree_prefetch_node(const struct node_tree *t, uint32_t parent, uint32_t frame);
/* Adds groups, each with `count` values, and nodes of another tree. Weight without room goes to `limited`, by event. */
pfr_status profile_tree_merge(struct node_tree *t, const struct node_tree *from, unsigned count,
                              struct profile_weight *limited, pfr_error *err);
/* A node is read and written as one word, because another thread may write it at the same time. */
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

/* Gives every node a weight of 0. Weights are not needed while stacks are counted. */
pfr_status profile_tree_begin_weights(struct node_tree *t, pfr_error *err);
/* Gives weights only to nodes marked between the two calls; all nodes must exist. */
pfr_status profile_tree_begin_marks(struct node_tree *t, pfr_error *err);
pfr_status profile_tree_end_marks(struct node_tree *t, pfr_error *err);
/* Moves the tree into the profile; nodes must have weights. */
void profile_tree_give(struct node_tree *t, struct profile *p);
/* Number of nodes for which there is room, including weights. */
static inline size_t tree_room(const struct node_tree *t) {
    const size_t weights = t->self.bits ? t->nr_nodes : t->self.at ? t->self.room : t->promised / sizeof *t->self.at;
    return weights < t->nodes_room ? weights : t->nodes_room;
}
/* Make room for `nodes` more nodes, or for twice the slots; used by profile_tree_shared.c. */
pfr_status profile_tree_make_room(struct node_tree *t, uint32_t nodes, pfr_error *err);
pfr_status profile_tree_grow_slots(struct node_tree *t, pfr_error *err);
static inline size_t tree_first_slot(const struct node_tree *t, uint32_t parent, uint32_t frame) {
    uint64_t h = ((uint64_t)parent << 32 | frame) ^ table_seed(t->slot_count);
    h = (h ^ h >> 29) * 0x9e3779b97f4a7c15u;
    return (size_t)(h ^ h >> 32) & (t->slot_count - 1);
}

/* --- profile_tree_shared.c */

/* Prepares an empty tree for several workers. */
void profile_tree_share(struct node_tree *t);
/* Enclose code that reads nodes and adds at most `nodes` of them in profile_tree_enter and profile_tree_leave. They
   have no effect on a tree that is not shared. < 0: not entered. */
pfr_status profile_tree_enter(struct node_tree *t, uint32_t nodes, pfr_error *err);
void profile_tree_leave(struct node_tree *t, uint32_t nodes);
/* profile_tree_descend for a shared tree. Call it between profile_tree_enter and profile_tree_leave; it cannot fail. */
void profile_tree_descend_shared(struct node_tree *t, uint32_t *node, const uint32_t *frames, uint32_t count,
                                 uint32_t *at);
/* Adds to the self weight of a node; in a shared tree several threads may do so. */
void profile_tree_weigh(struct node_tree *t, uint32_t node, const struct profile_weight *more);
/* Enclose each change of groups in profile_tree_close and profile_tree_open. Any thread may call the two. */
void profile_tree_close(struct node_tree *t);
void profile_tree_open(struct node_tree *t);

#endif
