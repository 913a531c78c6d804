/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_NODE_WEIGHTS_H
#define PFR_MODEL_NODE_WEIGHTS_H
/*
 * Self weights of nodes. In trees of stacks most nodes are inner ones without self weight: there each node has one bit,
 * and only marked nodes have a weight, stored in order.
 *
 *    node_weights_begin_marks(&w, memory, nodes);
 *    for (...)
 *        node_weights_mark(&w, node);
 *    node_weights_end_marks(&w, memory);
 *    node_weights_own(&w, node)->samples++;   // of a marked node
 *    ... node_weight(&w, any)->samples ...
 *    node_weights_free(&w, memory);
 */
#include "base/memory/memory.h"

struct profile_weight {
    uint64_t weight, samples;
};

static inline void weight_add(struct profile_weight *to, const struct profile_weight *more) {
    to->weight += more->weight;
    to->samples += more->samples;
}

struct node_weights {
    struct profile_weight *at; /* by node; if there are `bits`, by rank among the marked nodes; NULL: no weights yet */
    uint64_t *bits;            /* NULL: all nodes have a weight */
    uint32_t *before;          /* by word of `bits`: number of marked nodes in earlier words */
    size_t room, words;        /* number of elements of `at`; number of elements of `bits` and of `before` */
};

#define NODE_WEIGHTS_WORD 64u

static inline bool node_weights_is_marked(const struct node_weights *w, uint32_t node) {
    return w->bits[node / NODE_WEIGHTS_WORD] >> node % NODE_WEIGHTS_WORD & 1;
}

/* The weight of a marked node, or of any node if all have weights. */
static inline struct profile_weight *node_weights_own(const struct node_weights *w, uint32_t node) {
    if (!w->bits)
        return &w->at[node];
    const uint64_t below = ((uint64_t)1 << node % NODE_WEIGHTS_WORD) - 1;
    const uint32_t word = node / NODE_WEIGHTS_WORD;
    return &w->at[w->before[word] + (uint32_t)__builtin_popcountll(w->bits[word] & below)];
}

/* The weight of any node. */
static inline const struct profile_weight *node_weight(const struct node_weights *w, uint32_t node) {
    static const struct profile_weight none;
    return !w->bits || node_weights_is_marked(w, node) ? node_weights_own(w, node) : &none;
}

/* Prefetches the data of node_weight. */
static inline void node_weights_fetch(const struct node_weights *w, uint32_t node) {
    __builtin_prefetch(w->bits ? (const void *)node_weights_own(w, node) : (const void *)&w->at[node], 1);
}

/* Marks a node. Several threads may do so at the same time. */
static inline void node_weights_mark(struct node_weights *w, uint32_t node) {
    const uint64_t bit = (uint64_t)1 << node % NODE_WEIGHTS_WORD;
    __atomic_fetch_or(&w->bits[node / NODE_WEIGHTS_WORD], bit, __ATOMIC_RELAXED);
}

/* Gives every node a weight of 0. false: out of memory. */
bool node_weights_begin_all(struct node_weights *w, struct memory *memory, size_t nodes);
bool node_weights_begin_marks(struct node_weights *w, struct memory *memory, size_t nodes);
/* false: out of memory. node_weights_free is allowed then. */
bool node_weights_end_marks(struct node_weights *w, struct memory *memory);
/* Gives a weight to every node, not only to marked nodes. false: out of memory, and nothing has changed. */
bool node_weights_distribution(struct node_weights *w, struct memory *memory, size_t nodes);
/* false: out of memory, and there is nothing to free. */
bool node_weights_copy(struct node_weights *to, const struct node_weights *from, struct memory *memory, size_t nodes);
void node_weights_free(struct node_weights *w, struct memory *memory);

#endif
