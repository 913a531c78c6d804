/* SPDX-License-Identifier: Apache-2.0 */
/* Tables are allocated and freed at random: they do not overlap, zeroed tables are zero, and nothing leaks. */
#include "model/latency/distribution_memory.h"
#include "test.h"

#include <string.h>

#define TABLES 200u
#define STEPS 20000u

struct table {
    uint8_t *at;
    size_t count;
    uint8_t mark;
};

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static bool is_all(const struct table *t, uint8_t value) {
    return t->at[0] == value && memcmp(t->at, t->at + 1, t->count - 1) == 0;
}

static void give(struct distribution_tables *t, struct table *table) {
    if (table->at)
        assert_true(is_all(table, table->mark));
    distribution_table_give(t, table->at, table->count, 1);
    table->at = NULL;
}

static void take(struct distribution_tables *t, struct table *table, uint64_t *seed) {
    const bool zeroed = next_random(seed) % 2;
    table->count = 1 + next_random(seed) % (1u << next_random(seed) % 19);
    table->at = distribution_table_take(t, table->count, 1, zeroed);
    table->mark = (uint8_t)(1 + next_random(seed) % 255);
    if (!table->at)
        return;
    assert_true(!zeroed || is_all(table, 0));
    memset(table->at, table->mark, table->count);
}

static void come_and_go(uint64_t limit, bool refused) {
    static struct table tables[TABLES];
    struct memory memory;
    uint64_t seed = 1;
    bool was_refused = false;
    memory_init(&memory, NULL, limit);
    struct distribution_tables t = {.memory = &memory};
    for (unsigned i = 0; i < STEPS; i++) {
        struct table *table = &tables[next_random(&seed) % TABLES];
        give(&t, table);
        take(&t, table, &seed);
        was_refused = was_refused || !table->at;
    }
    for (unsigned i = 0; i < TABLES; i++)
        give(&t, &tables[i]);
    distribution_tables_free(&t);
    assert_int_equal(memory.used, 0);
    assert_int_equal(was_refused, refused);
}

TEST(tables_do_not_overlap_and_are_zeroed_if_requested) {
    come_and_go(0, false);
}

TEST(tables_keep_to_the_limit_of_memory) {
    come_and_go(1 << 20, true);
}

TEST(freed_tables_are_reused_for_the_same_size) {
    struct memory memory;
    memory_init(&memory, NULL, 0);
    struct distribution_tables t = {.memory = &memory};
    for (unsigned i = 0; i < 1000; i++) {
        uint32_t *counts = distribution_table_take(&t, 1000 + i, sizeof *counts, true);
        assert_non_null(counts);
        distribution_table_give(&t, counts, 1000 + i, sizeof *counts);
    }
    assert_true(memory.peak <= 64 << 10);
    distribution_tables_free(&t);
    assert_int_equal(memory.used, 0);
}
