/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_NODE_WEIGHTS_H
#define PFR_MODEL_NODE_WEIGHTS_H
/*
 * What nodes weigh by themselves. Of stacks most nodes are on the way to others and weigh nothing: then there is a bit
 * for each, and weights only of those that are marked, in their order.
 *
 *     node_weights_begin_marks(&w, memory, nodes);
 *     for (...)
 *         node_weights_mark(&w, node);
 *     node_weights_end_marks(&w, memory);
 *     node_weights_own(&w, node)->samples++;   // of one that was marked
 *     ... node_weight(&w, any)->samples ...
 *     node_weights_free(&w, memory);
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
    struct profile_weight *at; /* by node; where there are bits, of those that have one. NULL: none has a weight yet */
    uint64_t *bits;            /* NULL: all have one */
    uint32_t *before;          /* by word of `bits`: bits before it */
    size_t room, words;        /* of `at`; of the two others */
};

#define NODE_WEIGHTS_WORD 64u

static inline bool node_weights_is_marked(const struct node_weights *w, uint32_t node) {
    return w->bits[node / NODE_WEIGHTS_WORD] >> node % NODE_WEIGHTS_WORD & 1;
}

/* Of one that is marked, or where all have weights. */
static inline struct profile_weight *node_weights_own(const struct node_weights *w, uint32_t node) {
    if (!w->bits)
        return &w->at[node];
    const uint64_t below = ((uint64_t)1 << node % NODE_WEIGHTS_WORD) - 1;
    const uint32_t word = node / NODE_WEIGHTS_WORD;
    return &w->at[w->before[word] + (uint32_t)__builtin_popcountll(w->bits[word] & below)];
}

/* Of any. */
static inline const struct profile_weight *node_weight(const struct node_weights *w, uint32_t node) {
    static const struct profile_weight none;
    return !w->bits || node_weights_is_marked(w, node) ? node_weights_own(w, node) : &none;
}

/* What node_weight will look at, to be fetched. */
static inline void node_weights_fetch(const struct node_weights *w, uint32_t node) {
    __builtin_prefetch(w->bits ? (const void *)node_weights_own(w, node) : (const void *)&w->at[node], 1);
}

/* Several threads may mark at a time. */
static inline void node_weights_mark(struct node_weights *w, uint32_t node) {
    const uint64_t bit = (uint64_t)1 << node % NODE_WEIGHTS_WORD;
    __atomic_fetch_or(&w->bits[node / NODE_WEIGHTS_WORD], bit, __ATOMIC_RELAXED);
}

/* All are 0 at first. false: no memory. */
bool node_weights_begin_all(struct node_weights *w, struct memory *memory, size_t nodes);
bool node_weights_begin_marks(struct node_weights *w, struct memory *memory, size_t nodes);
/* false: no memory; it may be freed all the same. */
bool node_weights_end_marks(struct node_weights *w, struct memory *memory);
/* From now on all nodes have one, for which there is room. false: no memory, and nothing has changed. */
bool node_weights_distribution(struct node_weights *w, struct memory *memory, size_t nodes);
/* false: no memory, and there is nothing to free. */
bool node_weights_copy(struct node_weights *to, const struct node_weights *from, struct memory *memory, size_t nodes);
void node_weights_free(struct node_weights *w, struct memory *memory);

#endif
