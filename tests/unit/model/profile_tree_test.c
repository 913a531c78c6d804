/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several threads add to an empty tree at once, so that it grows meanwhile: at the end its paths must have the weights
 * that were added. A hash identifies a path. Sums of hash times weight are compared, so two nodes of the same path
 * count as one.
 */
#include "model/profile/count/profile_entries.h"
#include "test.h"

enum { THREADS = 4, ROUNDS = 400, STACKS = 16, DEEPEST = 24, ROOTS = 3, FRAMES = 3 };

struct adder {
    struct node_tree *tree;
    uint64_t seed, sum, samples;
    uint32_t nodes[ROUNDS * STACKS]; /* nodes and weights of the samples */
    uint64_t weights[ROUNDS * STACKS];
    pfr_status status;
    pthread_t thread;
};

struct drawn_stack {
    uint32_t frames[DEEPEST], count, root, node, at;
    uint64_t value, weight;
};

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static uint64_t mix(uint64_t above, uint64_t more) {
    const uint64_t h = (above ^ more) * 0x9e3779b97f4a7c15u;
    return (h ^ h >> 29) * 0xd6e8feb86659fd93u;
}

static uint64_t hash_of(const struct drawn_stack *s) {
    uint64_t h = mix(1, s->value);
    for (uint32_t i = 0; i < s->count; i++)
        h = mix(h, s->frames[i]);
    return h;
}

static pfr_status draw_stack(struct adder *a, struct drawn_stack *s) {
    *s = (struct drawn_stack){.count = 1 + (uint32_t)next_random(&a->seed) % DEEPEST,
                              .value = next_random(&a->seed) % ROOTS,
                              .weight = next_random(&a->seed)};
    for (uint32_t i = 0; i < s->count; i++)
        s->frames[i] = (uint32_t)next_random(&a->seed) % FRAMES;
    return profile_tree_root(a->tree, 0, &s->value, 1, &s->root, NULL);
}

static void add_stack(struct adder *a, struct drawn_stack *s) {
    const struct node_tree *t = a->tree;
    s->node = s->root;
    while (s->at < s->count)
        if (s->node > 0 && s->node + 1 < __atomic_load_n(&t->nr_nodes, __ATOMIC_RELAXED) &&
            tree_is_child(t, s->node + 1, s->node, s->frames[s->at]))
            s->node++, s->at++;
        else
            profile_tree_descend_shared(a->tree, &s->node, s->frames, s->count, &s->at);
    a->sum += hash_of(s) * s->weight;
    a->nodes[a->samples] = s->node;
    a->weights[a->samples++] = s->weight;
}

static pfr_status add_round(struct adder *a) {
    struct drawn_stack stacks[STACKS];
    uint32_t nodes = 0;
    for (unsigned i = 0; i < STACKS; i++) {
        PFR_TRY(draw_stack(a, &stacks[i]));
        nodes += stacks[i].count;
    }
    PFR_TRY(profile_tree_enter(a->tree, nodes, NULL));
    for (unsigned i = 0; i < STACKS; i++)
        add_stack(a, &stacks[i]);
    profile_tree_leave(a->tree, nodes);
    return PFR_OK;
}

static void *add_all(void *context) {
    struct adder *a = context;
    for (unsigned i = 0; a->status >= 0 && i < ROUNDS; i++)
        a->status = add_round(a);
    return NULL;
}

/* The weights of the nodes; parents precede their children. */
static uint64_t sum_up(const struct node_tree *t, uint64_t *samples) {
    uint64_t *hashes = malloc(t->nr_nodes * sizeof *hashes), sum = 0;
    assert_non_null(hashes);
    for (uint32_t n = 0; n < t->nr_nodes; n++) {
        const struct profile_node *node = &t->nodes[n];
        assert_true(node->parent == NO_NODE || node->parent < n);
        hashes[n] =
            node->parent == NO_NODE ? mix(1, t->groups[node->frame]->value[0]) : mix(hashes[node->parent], node->frame);
        sum += hashes[n] * node_weight(&t->self, n)->weight;
        *samples += node_weight(&t->self, n)->samples;
    }
    free(hashes);
    return sum;
}

static void *weigh_all(void *context) {
    const struct adder *a = context;
    for (uint64_t i = 0; i < a->samples; i++)
        profile_tree_weigh(a->tree, a->nodes[i], &(struct profile_weight){a->weights[i], 1});
    return NULL;
}

static void by_threads(struct adder *adders, void *(*run)(void *)) {
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&adders[i].thread, NULL, run, &adders[i]), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(adders[i].thread, NULL);
}

/* All threads end with this status, and the weight of the tree is the sum of the weights that they added. */
static void try_tree(uint64_t limit, pfr_status expected) {
    static struct adder adders[THREADS];
    struct memory memory;
    struct profile profile = {0};
    struct node_tree t;
    uint64_t sum = 0, samples = 0, found = 0;
    memory_init(&memory, NULL, limit);
    profile_tree_init(&t, &profile, &memory);
    profile_tree_share(&t);
    for (unsigned i = 0; i < THREADS; i++)
        adders[i] = (struct adder){.tree = &t, .seed = i};
    by_threads(adders, add_all);
    assert_int_equal(t.reserved, 0);
    assert_int_equal(profile_tree_begin_weights(&t, NULL), PFR_OK);
    by_threads(adders, weigh_all);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(adders[i].status, expected);
        sum += adders[i].sum;
        samples += adders[i].samples;
    }
    assert_true(sum_up(&t, &found) == sum);
    assert_int_equal(found, samples);
    profile_tree_free(&t);
    assert_int_equal(memory.used, 0);
}

TEST(tree_of_several_threads_has_the_sum_of_their_weights) {
    try_tree(0, PFR_OK);
}

/* A thread without memory gets an error; everything added before remains, with space for its weights. */
TEST(tree_of_several_threads_ends_at_the_limit_of_memory) {
    try_tree(200000, PFR_ERR_LIMIT);
}

/* --- Entries of several threads with few keys: several threads want the same slot at the same time. */

enum { KEYS = 3000, TURNS = 300 };

struct enterer {
    struct sample_counter counter;
    uint64_t seed, weights[KEYS];
    pfr_status status;
    pthread_t thread;
};

static pfr_status enter_some(struct enterer *e) {
    struct sample_counter *c = &e->counter;
    pfr_status st = counter_enter(c, 0, NULL);
    for (unsigned i = 0; st >= 0 && i < BATCH; i++) {
        const uint64_t number = next_random(&e->seed) % KEYS, key[2] = {mix(7, number) & ~(uint64_t)0xff, number};
        const struct entry_count count = {.node = (uint32_t)number};
        uint64_t entry = entry_find(c, key, key[0], NULL);
        if (!entry)
            st = entry_put(c, key, key[0], &count, &entry, NULL);
        if (st >= 0)
            entry_add(c, entry_count_of(c, entry_words(c, (uint32_t)entry - 1)), number + 1);
        e->weights[number]++;
    }
    counter_leave(c, 0);
    return st;
}

static void *enter_all(void *context) {
    struct enterer *e = context;
    for (unsigned i = 0; e->status >= 0 && i < TURNS; i++)
        e->status = enter_some(e);
    return NULL;
}

static void check_key(const struct enterer *of, uint64_t number) {
    const uint64_t key[2] = {mix(7, number) & ~(uint64_t)0xff, number};
    const struct entry_count *count = counter_find(&of[0].counter, key);
    uint64_t samples = 0;
    for (unsigned i = 0; i < THREADS; i++)
        samples += of[i].weights[number];
    assert_int_equal(count ? count->samples : 0, samples);
    assert_int_equal(count ? count->weight : 0, samples * (number + 1));
    assert_true(!count || count->node == number);
}

TEST(entries_of_several_threads_are_each_one) {
    static struct enterer of[THREADS];
    struct memory memory;
    struct profile profile = {0};
    struct common common = {.table = {.memory = &memory}};
    memory_init(&memory, NULL, 0);
    profile_tree_init(&common.tree, &profile, &memory);
    profile_tree_share(&common.tree);
    for (unsigned i = 0; i < THREADS; i++) {
        struct sample_counter *c = &of[i].counter;
        of[i] = (struct enterer){.seed = i};
        *c = (struct sample_counter){
            .profile = &profile, .memory = &memory, .keys.by_digest = true, .keys.key_words = 2, .tree = &common.tree};
        c->keys.stride = c->keys.key_words + sizeof(struct entry_count) / sizeof(uint64_t);
        assert_int_equal(counter_entries_begin(c, &common.table, &memory, NULL), PFR_OK);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&of[i].thread, NULL, enter_all, &of[i]), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(of[i].thread, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(of[i].status, PFR_OK);
    for (uint64_t number = 0; number < KEYS; number++)
        check_key(of, number);
    assert_int_equal(common.table.reserved, 0);
    counter_entries_free(&common.table, of[0].counter.keys.stride);
    profile_tree_free(&common.tree);
    assert_int_equal(memory.used, 0);
}
