/* SPDX-License-Identifier: Apache-2.0 */
/* Requirements of node_weights.h: marked nodes keep their weight, in every storage form, and all others have the weight
   0. */
#include "model/profile/result/node_weights.h"

#include "../base/failing_alloc.h"
#include "test.h"

#include <stdlib.h>

#define NODES_MOST 700u

struct marked {
    struct node_weights w;
    struct profile_weight should[NODES_MOST];
    uint32_t nodes;
};

static uint32_t draw(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* Marks one of `rare` nodes, some twice; returns false if memory is missing. */
static bool make(struct marked *m, struct memory *memory, uint64_t seed) {
    const uint32_t rare = 1 + draw(&seed) % 9;
    *m = (struct marked){.nodes = draw(&seed) % NODES_MOST};
    if (!node_weights_begin_marks(&m->w, memory, m->nodes))
        return false;
    for (uint32_t n = 0; n < m->nodes; n++)
        if (draw(&seed) % rare == 0) {
            for (uint32_t again = draw(&seed) % 2 + 1; again > 0; again--)
                node_weights_mark(&m->w, n);
            m->should[n] = (struct profile_weight){1 + draw(&seed), 1 + n};
        }
    if (!node_weights_end_marks(&m->w, memory))
        return false;
    for (uint32_t n = m->nodes; n-- > 0;)
        if (m->should[n].samples)
            *node_weights_own(&m->w, n) = m->should[n];
    return true;
}

static void check(const struct marked *m, const struct node_weights *w) {
    for (uint32_t n = 0; n < m->nodes; n++) {
        assert_int_equal(node_weight(w, n)->weight, m->should[n].weight);
        assert_int_equal(node_weight(w, n)->samples, m->should[n].samples);
    }
}

/* Returns false if memory is missing; then nothing leaks, and existing data is unchanged. */
static bool go_through(struct memory *memory, uint64_t seed) {
    struct marked m;
    struct node_weights copy = {.at = NULL};
    bool good = make(&m, memory, seed);
    if (good) {
        check(&m, &m.w);
        good = node_weights_copy(&copy, &m.w, memory, m.nodes);
    }
    if (good) {
        check(&m, &copy);
        good = node_weights_distribution(&m.w, memory, m.nodes + 5);
        check(&m, &m.w);
    }
    if (good) {
        assert_null(m.w.bits);
        assert_true(m.w.room >= m.nodes + 5);
        node_weights_free(&copy, memory);
        good = node_weights_copy(&copy, &m.w, memory, m.nodes);
    }
    if (good)
        check(&m, &copy);
    node_weights_free(&copy, memory);
    node_weights_free(&m.w, memory);
    return good;
}

TEST(weights_of_marked_nodes_are_those_of_all) {
    struct memory memory;
    memory_init(&memory, NULL, 0);
    for (uint64_t seed = 0; seed < 300; seed++)
        assert_true(go_through(&memory, seed));
    assert_int_equal(memory.used, 0);
}

TEST(weights_leave_nothing_when_an_allocation_fails) {
    struct failing_alloc failing = {.has_failed = true};
    for (long n = 1; failing.has_failed; n++) {
        struct memory memory;
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        const bool good = go_through(&memory, 5);
        assert_int_equal(good, !failing.has_failed);
        assert_int_equal(failing.blocks, 0);
        assert_int_equal(memory.used, 0);
    }
}
