/* SPDX-License-Identifier: Apache-2.0 */
/* Path segments of random call trees: each node is in exactly one segment, descendants follow, and sums equal those of
 * the nodes. */
#include "../base/failing_alloc.h"
#include "test.h"
#include "view/report/rows/report_path_segments.h"

#include <stdlib.h>
#include <string.h>

#define NODES 3000u
#define ROOTS 9u

struct scene {
    struct memory memory;
    struct profile_node nodes[NODES];
    struct profile_weight self[NODES], sum[NODES];
    struct call_trees_root roots[ROOTS];
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

/* Makes a random tree. In `straight` of 8 cases, the parent of a node is the node before it. */
static void plant(struct scene *s, uint32_t count, uint64_t seed, unsigned straight) {
    uint32_t nr_roots = 0;
    *s = (struct scene){.memory = {.limit = 0}};
    memory_init(&s->memory, NULL, 0);
    for (uint32_t n = 0; n < count; n++) {
        const bool apart = draw(&seed) % 16 == 0;
        uint32_t parent = n && draw(&seed) % 8 < straight ? n - 1 : (uint32_t)(draw(&seed) % (n + 1));
        s->self[n] = draw(&seed) % 4 ? (struct profile_weight){0, 0} : (struct profile_weight){draw(&seed) % 100, 1};
        while (parent < n && s->nodes[parent].parent != NO_NODE && s->nodes[parent].frame & NODE_APART)
            parent = s->nodes[parent].parent; /* such a node has no callees */
        if (!n || (parent >= n && nr_roots < ROOTS))
            add_root(s, n, nr_roots++);
        else
            s->nodes[n] = (struct profile_node){parent < n ? parent : 0, (uint32_t)n | (apart ? NODE_APART : 0)};
        s->root_of[n] = s->nodes[n].parent == NO_NODE ? s->nodes[n].frame : s->root_of[s->nodes[n].parent];
    }
    s->r = (struct report){.memory = &s->memory, .children = true};
    s->r.trees.calls = (struct call_trees){
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

static void expect_node(const struct scene *s, const struct path_segment *path_segment, uint32_t node) {
    assert_int_equal(s->sum[node].weight, path_segment->sum.weight);
    assert_int_equal(s->sum[node].samples, path_segment->sum.samples);
    assert_int_equal(is_apart(s, node), path_segment->is_apart);
    if (node < path_segment_last(path_segment)) {
        assert_int_equal(s->nodes[node + 1].parent, node);
        assert_int_equal(s->children[node], 1);
        assert_int_equal(s->self[node].samples, 0);
    }
}

static void expect_path_segment(const struct scene *s, uint32_t number) {
    const struct path_segment *at = s->r.trees.path_segments.at, *path_segment = &at[number];
    const uint32_t parent = s->nodes[path_segment->node].parent;
    for (uint32_t n = path_segment->node; n <= path_segment_last(path_segment); n++)
        expect_node(s, path_segment, n);
    assert_true(!path_segment->is_apart || path_segment->length == 1);
    assert_int_equal(path_segment->has_samples, s->self[path_segment_last(path_segment)].samples > 0);
    assert_int_equal(path_segment_self(&s->r, number).weight, s->self[path_segment_last(path_segment)].weight);
    if (parent == NO_NODE) {
        assert_int_equal(path_segment->parent, NO_PATH_SEGMENT);
        assert_int_equal(path_segment->length, 1);
        assert_int_equal(s->r.trees.path_segments.root[s->nodes[path_segment->node].frame], number);
        return;
    }
    assert_int_equal(path_segment_last(&at[path_segment->parent]), parent);
    assert_true(number > path_segment->parent &&
                number + path_segment->size <= path_segment->parent + at[path_segment->parent].size);
}

static void expect_path_segments(uint32_t nodes, uint64_t seed, unsigned straight) {
    struct scene *s = malloc(sizeof *s);
    pfr_error err;
    uint32_t seen = 0;
    plant(s, nodes, seed, straight);
    ASSERT_OK(path_segments_make(&s->r, &err), err);
    for (uint32_t i = 0; i < s->r.trees.calls.nr_roots; i++)
        path_segments_sum_up(&s->r, i);
    for (uint32_t i = 0; i < s->r.trees.path_segments.count; i++) {
        expect_path_segment(s, i);
        seen += s->r.trees.path_segments.at[i].length;
    }
    assert_int_equal(seen, nodes);
    path_segments_free(&s->r);
    assert_int_equal(s->memory.used, 0);
    free(s);
}

TEST(path_segments_hold_every_node_once) {
    for (uint64_t seed = 1; seed <= 40; seed++)
        for (unsigned straight = 0; straight <= 8; straight += 2)
            expect_path_segments(seed * seed < NODES ? (uint32_t)(seed * seed) : NODES, seed * 977 + straight,
                                 straight);
    expect_path_segments(64, 5, 8);
    expect_path_segments(128, 5, 7);
}

TEST(there_may_be_no_path_segments_at_all) {
    struct memory memory;
    memory_init(&memory, NULL, 0);
    struct report r = {.memory = &memory};
    pfr_error err;
    ASSERT_OK(path_segments_make(&r, &err), err);
    assert_int_equal(r.trees.path_segments.count, 0);
    path_segments_free(&r);
    assert_int_equal(memory.used, 0);
}

TEST(path_segments_are_given_up_without_memory) {
    struct scene *s = malloc(sizeof *s);
    struct failing_alloc failing;
    long n = 1;
    plant(s, NODES, 3, 6);
    for (;; n++) {
        failing_alloc_begin(&failing, n);
        memory_init(&s->memory, &failing.alloc, 0);
        const pfr_status status = path_segments_make(&s->r, NULL);
        path_segments_free(&s->r);
        assert_int_equal(failing.blocks, 0);
        assert_int_equal(status, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        if (!failing.has_failed)
            break;
    }
    assert_true(n > 4);
    free(s);
}
