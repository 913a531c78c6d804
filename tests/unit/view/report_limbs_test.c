/* SPDX-License-Identifier: Apache-2.0 */
/* Limbs of forests that are drawn at random: each node is in one, those below stand behind, and sums are those of
 * nodes. */
#include "../base/failing_alloc.h"
#include "test.h"
#include "view/report/report_parts.h"

#include <stdlib.h>
#include <string.h>

#define NODES 3000u
#define ROOTS 9u

struct scene {
    struct memory memory;
    struct profile_node nodes[NODES];
    struct profile_weight self[NODES], sum[NODES];
    struct forest_root roots[ROOTS];
    uint32_t root_of[NODES], children[NODES];
    struct report r;
};

static uint64_t draw(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void add_root(struct scene *s, uint32_t node, uint32_t number) {
    s->nodes[node] = (struct profile_node){NO_NODE, number};
    s->roots[number].node = node;
}

/* In `straight` of 8 cases a node hangs on the one before. */
static void plant(struct scene *s, uint32_t count, uint64_t seed, unsigned straight) {
    uint32_t nr_roots = 0;
    *s = (struct scene){.memory = {.limit = 0}};
    memory_init(&s->memory, NULL, 0);
    for (uint32_t n = 0; n < count; n++) {
        const bool apart = draw(&seed) % 16 == 0;
        uint32_t parent = n && draw(&seed) % 8 < straight ? n - 1 : (uint32_t)(draw(&seed) % (n + 1));
        s->self[n] = draw(&seed) % 4 ? (struct profile_weight){0, 0} : (struct profile_weight){draw(&seed) % 100, 1};
        while (parent < n && s->nodes[parent].parent != NO_NODE && s->nodes[parent].frame & NODE_APART)
            parent = s->nodes[parent].parent; /* nothing is called there */
        if (!n || (parent >= n && nr_roots < ROOTS))
            add_root(s, n, nr_roots++);
        else
            s->nodes[n] = (struct profile_node){parent < n ? parent : 0, (uint32_t)n | (apart ? NODE_APART : 0)};
        s->root_of[n] = s->nodes[n].parent == NO_NODE ? s->nodes[n].frame : s->root_of[s->nodes[n].parent];
    }
    s->r = (struct report){.memory = &s->memory, .children = true};
    s->r.forest = (struct forest){
        .nodes = s->nodes, .self = {.at = s->self}, .roots = s->roots, .nr_nodes = count, .nr_roots = nr_roots};
    for (uint32_t n = count; n-- > 0;) {
        s->sum[n].weight += s->self[n].weight;
        s->sum[n].samples += s->self[n].samples;
        if (s->nodes[n].parent == NO_NODE)
            continue;
        s->sum[s->nodes[n].parent].weight += s->sum[n].weight;
        s->sum[s->nodes[n].parent].samples += s->sum[n].samples;
        s->children[s->nodes[n].parent]++;
    }
}

static bool is_apart(const struct scene *s, uint32_t node) {
    return s->nodes[node].parent != NO_NODE && s->nodes[node].frame & NODE_APART;
}

static void expect_node(const struct scene *s, const struct limb *limb, uint32_t node) {
    assert_int_equal(s->sum[node].weight, limb->sum.weight);
    assert_int_equal(s->sum[node].samples, limb->sum.samples);
    assert_int_equal(is_apart(s, node), limb->is_apart);
    if (node < limb_last(limb)) {
        assert_int_equal(s->nodes[node + 1].parent, node);
        assert_int_equal(s->children[node], 1);
        assert_int_equal(s->self[node].samples, 0);
    }
}

static void expect_limb(const struct scene *s, uint32_t number) {
    const struct limb *at = s->r.limbs.at, *limb = &at[number];
    const uint32_t parent = s->nodes[limb->node].parent;
    for (uint32_t n = limb->node; n <= limb_last(limb); n++)
        expect_node(s, limb, n);
    assert_true(!limb->is_apart || limb->length == 1);
    assert_int_equal(limb->has_samples, s->self[limb_last(limb)].samples > 0);
    assert_int_equal(limb_self(&s->r, number).weight, s->self[limb_last(limb)].weight);
    if (parent == NO_NODE) {
        assert_int_equal(limb->parent, NO_LIMB);
        assert_int_equal(limb->length, 1);
        assert_int_equal(s->r.limbs.root[s->nodes[limb->node].frame], number);
        return;
    }
    assert_int_equal(limb_last(&at[limb->parent]), parent);
    assert_true(number > limb->parent && number + limb->size <= limb->parent + at[limb->parent].size);
}

static void expect_limbs(uint32_t nodes, uint64_t seed, unsigned straight) {
    struct scene *s = malloc(sizeof *s);
    pfr_error err;
    uint32_t seen = 0;
    plant(s, nodes, seed, straight);
    ASSERT_OK(limbs_make(&s->r, &err), err);
    for (uint32_t i = 0; i < s->r.forest.nr_roots; i++)
        limbs_sum_up(&s->r, i);
    for (uint32_t i = 0; i < s->r.limbs.count; i++) {
        expect_limb(s, i);
        seen += s->r.limbs.at[i].length;
    }
    assert_int_equal(seen, nodes);
    limbs_free(&s->r);
    assert_int_equal(s->memory.used, 0);
    free(s);
}

TEST(limbs_hold_every_node_once) {
    for (uint64_t seed = 1; seed <= 40; seed++)
        for (unsigned straight = 0; straight <= 8; straight += 2)
            expect_limbs(seed * seed < NODES ? (uint32_t)(seed * seed) : NODES, seed * 977 + straight, straight);
    expect_limbs(64, 5, 8);
    expect_limbs(128, 5, 7);
}

TEST(there_may_be_no_limbs_at_all) {
    struct memory memory;
    memory_init(&memory, NULL, 0);
    struct report r = {.memory = &memory};
    pfr_error err;
    ASSERT_OK(limbs_make(&r, &err), err);
    assert_int_equal(r.limbs.count, 0);
    limbs_free(&r);
    assert_int_equal(memory.used, 0);
}

TEST(limbs_are_given_up_without_memory) {
    struct scene *s = malloc(sizeof *s);
    struct failing_alloc failing;
    long n = 1;
    plant(s, NODES, 3, 6);
    for (;; n++) {
        failing_alloc_begin(&failing, n);
        memory_init(&s->memory, &failing.alloc, 0);
        const pfr_status status = limbs_make(&s->r, NULL);
        limbs_free(&s->r);
        assert_int_equal(failing.blocks, 0);
        assert_int_equal(status, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        if (!failing.has_failed)
            break;
    }
    assert_true(n > 4);
    free(s);
}
