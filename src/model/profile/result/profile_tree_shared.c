/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree shared by several workers, so that a common stack exists once. Between profile_tree_enter and _leave, nodes
 * and slots do not move. A worker that enters states how many nodes it may add; if there is no room for them, it waits
 * until all other workers have left, and makes room. A new row of nodes is written first; then its first node is put
 * into an empty slot by one atomic exchange, and a worker that sees it there sees the whole row.
 *
 * Two workers that add the same row at the same time may both keep their rows. One of these rows is in no slot. It has
 * no weight, unless another row was added below it. Weights are correct even so, because the number of nodes does not
 * matter.
 */
#include "file/read/next.h"
#include "model/profile/result/profile_tree.h"

void profile_tree_share(struct node_tree *t) {
    pthread_rwlockattr_t attr;
    pthread_rwlockattr_init(&attr);
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP /* otherwise a waiting writer may starve */
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(&t->lock, &attr);
    pthread_rwlockattr_destroy(&attr);
    t->shared = true;
}

void profile_tree_close(struct node_tree *t) {
    if (t->shared)
        pthread_rwlock_wrlock(&t->lock);
}

void profile_tree_open(struct node_tree *t) {
    if (t->shared)
        pthread_rwlock_unlock(&t->lock);
}

/* Whether all reserved nodes fit. Each node may need a slot. */
static bool has_room(const struct node_tree *t, uint64_t reserved) {
    const uint64_t nodes = __atomic_load_n(&t->nr_nodes, __ATOMIC_RELAXED) + reserved;
    return nodes <= t->until && nodes <= tree_room(t) &&
           __atomic_load_n(&t->used, __ATOMIC_RELAXED) + reserved <= t->slot_count / 4 * 3;
}

static bool reserve(struct node_tree *t, uint32_t nodes) {
    if (has_room(t, (uint64_t)__atomic_add_fetch(&t->reserved, nodes, __ATOMIC_RELAXED)))
        return true;
    __atomic_sub_fetch(&t->reserved, nodes, __ATOMIC_RELAXED);
    return false;
}

/* Room is made for this many calls of profile_tree_enter at once, so that workers do not make room in turns. */
#define AT_ONCE 32u

/* Call it while no worker is between profile_tree_enter and profile_tree_leave. */
static pfr_status make_room(struct node_tree *t, uint32_t nodes, pfr_error *err) {
    const uint32_t most = nodes < UINT32_MAX / AT_ONCE ? nodes * AT_ONCE : nodes;
    if (has_room(t, nodes)) /* another worker has made room meanwhile */
        return PFR_OK;
    pfr_status st = profile_tree_make_room(t, most, err);
    if (st == PFR_ERR_LIMIT)
        st = profile_tree_make_room(t, nodes, err);
    while (st >= 0 && t->used + most > t->slot_count / 4 * 3)
        st = profile_tree_grow_slots(t, err);
    return st;
}

pfr_status profile_tree_enter(struct node_tree *t, uint32_t nodes, pfr_error *err) {
    if (!t->shared)
        return PFR_OK;
    for (;;) {
        pthread_rwlock_rdlock(&t->lock);
        if (reserve(t, nodes))
            return PFR_OK;
        pthread_rwlock_unlock(&t->lock);
        profile_tree_close(t);
        const pfr_status st = make_room(t, nodes, err);
        profile_tree_open(t);
        PFR_TRY(st);
    }
}

void profile_tree_leave(struct node_tree *t, uint32_t nodes) {
    if (!t->shared)
        return;
    __atomic_sub_fetch(&t->reserved, nodes, __ATOMIC_RELAXED);
    pthread_rwlock_unlock(&t->lock);
}

/* --- Between enter and leave. */

/* Writes consecutive nodes below `parent`; returns the number of the first. */
static uint32_t write_row(struct node_tree *t, uint32_t parent, const uint32_t *frames, uint32_t count) {
    const uint32_t first = __atomic_fetch_add(&t->nr_nodes, count, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = first + i;
        __atomic_store_n((tree_word *)&t->nodes[node], tree_word_of(i ? node - 1 : parent, frames[i]),
                         __ATOMIC_RELEASE);
    }
    return first;
}

/* The child of a node, or 0 if *slot is the empty slot for it. */
static uint32_t find_child(const struct node_tree *t, uint32_t parent, uint32_t frame, uint32_t **slot) {
    for (size_t i = tree_first_slot(t, parent, frame);; i = (i + 1) & (t->slot_count - 1)) {
        *slot = &t->slots[i];
        const uint32_t child = __atomic_load_n(*slot, __ATOMIC_ACQUIRE);
        if (child == 0 || tree_is_child(t, child - 1, parent, frame))
            return child;
    }
}

void profile_tree_descend_shared(struct node_tree *t, uint32_t *node, const uint32_t *frames, uint32_t count,
                                 uint32_t *at) {
    const uint32_t parent = *node;
    uint32_t *slot, row = 0, child;
    while ((child = find_child(t, parent, frames[*at], &slot)) == 0) {
        uint32_t empty = 0;
        row = row ? row : 1 + write_row(t, parent, frames + *at, count - *at);
        if (__atomic_compare_exchange_n(slot, &empty, row, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
            __atomic_add_fetch(&t->used, 1, __ATOMIC_RELAXED);
            *node = row - 1 + (count - *at) - 1;
            *at = count;
            return;
        }
    }
    *node = child - 1;
    ++*at;
}

void profile_tree_weigh(struct node_tree *t, uint32_t node, const struct profile_weight *more) {
    struct profile_weight *self = node_weights_own(&t->self, node);
    if (!t->shared) {
        weight_add(self, more);
        return;
    }
    __atomic_add_fetch(&self->weight, more->weight, __ATOMIC_RELAXED);
    __atomic_add_fetch(&self->samples, more->samples, __ATOMIC_RELAXED);
}
