/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_RAW_STACKS_H
#define PFR_MODEL_RAW_STACKS_H
/*
 * Call chains as recorded, as a tree: a node is an address below the one that called it. Chains that share their outer
 * part share its nodes.
 */
#include "base/memory.h"
#include "model/chain.h"

struct raw_node {
    uint64_t address;
    uint32_t up;          /* cpumode << RAW_BITS | parent; the parent is a smaller number */
    uint32_t inner, next; /* the first of those below it; another one below the same parent; 0: none */
};
#define RAW_BITS 29
#define RAW_MOST ((1u << RAW_BITS) - 1)

static inline uint32_t raw_parent(const struct raw_node *n) {
    return n->up & RAW_MOST;
}

static inline unsigned raw_mode(const struct raw_node *n) {
    return n->up >> RAW_BITS;
}

struct raw_stacks {
    struct memory *memory;
    struct raw_node *nodes; /* 0: the empty stack */
    uint32_t *slots;        /* nodes that are not in the list of their parent; 0: empty */
    size_t room, slot_count, used;
    uint32_t count;
    uint32_t *path; /* the nodes of the chain before, outermost first: the next one begins alike mostly */
    struct raw_node *chain;
    size_t path_length, path_room;
};

void raw_stacks_init(struct raw_stacks *s, struct memory *memory);
void raw_stacks_free(struct raw_stacks *s);
/* The node of the chain's innermost address, of at most `most`; 0: it has none. */
pfr_status raw_stacks_put(struct raw_stacks *s, const pfr_u64s *chain, unsigned mode, uint32_t most, uint32_t *node,
                          pfr_error *err);

#endif
