/* SPDX-License-Identifier: Apache-2.0 */
/* Groups give the same symbol for each address as one table of all symbols. */
#include "symbol/elf/symbol_groups.h"
#include "base/failing_alloc.h"
#include "scratch_file.h"

#define SYMBOLS 60u
#define LOW 0x400u
#define HIGH 0x800u
#define LAST 0xa00u
#define END (LAST + 0x2100u) /* symbols without a size may extend two pages further */

struct made {
    struct table_entry entries[SYMBOLS];
    uint64_t sizes[SYMBOLS];
    char names[SYMBOLS][8];
    size_t count;
    unsigned added;
};

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Mostly small symbols, some without a size, some large, many with equal starts, and some outside of [LOW, HIGH). */
static void make(struct made *m, uint32_t seed) {
    *m = (struct made){.count = 1 + next_random(&seed) % SYMBOLS};
    const uint32_t reach = next_random(&seed) % 3 ? 0x10 : 0x300;
    for (size_t i = 0; i < m->count; i++) {
        const bool outside = next_random(&seed) % 8 == 0;
        const uint64_t start = outside ? next_random(&seed) % LAST : LOW + next_random(&seed) % (HIGH - LOW);
        snprintf(m->names[i], sizeof m->names[i], "f%u", (unsigned)i % 100000);
        m->entries[i] =
            (struct table_entry){.name = m->names[i],
                                 .name_length = NOT_MEASURED,
                                 .start = i && next_random(&seed) % 6 == 0 ? m->entries[i - 1].start : start,
                                 .binding = (uint8_t)(next_random(&seed) % 3)};
        m->sizes[i] = next_random(&seed) % 5 == 0 && reach == 0x10 ? 0 : next_random(&seed) % reach;
    }
}

static enum symbol_result add(void *context, uint32_t number, struct symbol_table *table) {
    struct made *m = context;
    m->added++;
    return table_add_kept(table, m->entries[number], m->sizes[number]);
}

static void extent(void *context, uint32_t number, uint64_t *start, uint64_t *size) {
    const struct made *m = context;
    *start = m->entries[number].start;
    *size = m->sizes[number];
}

static void make_both(struct made *m, struct memory *memory, struct symbol_table *table, struct symbol_groups *groups) {
    table_init(table, memory);
    assert_result_is(groups_init(groups, memory, LOW, HIGH, m->count), SYMBOL_FOUND);
    for (uint32_t i = 0; i < m->count; i++) {
        assert_result_is(table_add_kept(table, m->entries[i], m->sizes[i]), SYMBOL_FOUND);
        groups_add(groups, i, m->entries[i].start, m->sizes[i]);
    }
    assert_result_is(table_finish(table, TABLE_NESTED), SYMBOL_FOUND);
    groups_seal(groups);
}

static void compare_at(struct made *m, uint64_t address, struct symbol_table *table, struct symbol_groups *groups) {
    struct symbol whole = {0}, part = {0};
    const enum symbol_result expected = table_find(table, address, &whole);
    assert_result_is(groups_find(groups, address, (struct group_source){extent, add, m}, &part), expected);
    assert_true(part.from <= address && address < part.end);
    assert_true(whole.from <= part.from && part.end <= whole.end);
    if (expected != SYMBOL_FOUND)
        return;
    assert_string_equal(part.name, whole.name);
    assert_int_equal(part.start, whole.start);
    assert_int_equal(part.size, whole.size);
}

TEST(symbol_groups_agree_with_one_table) {
    for (uint32_t seed = 1; seed <= 100; seed++) {
        struct made m;
        struct memory memory;
        struct symbol_table table;
        struct symbol_groups groups;
        memory_init(&memory, NULL, 0);
        make(&m, seed);
        make_both(&m, &memory, &table, &groups);
        const uint64_t from = seed % 7 * 0x100; /* the result must not depend on the address that is looked up first */
        for (uint64_t i = 0; i < END; i++)
            compare_at(&m, (from + i) % (END), &table, &groups);
        compare_at(&m, UINT64_MAX - 1, &table, &groups);
        assert_in_range(m.added, m.count, 3 * m.count); /* groups share symbols at their boundaries */
        table_free(&table);
        groups_free(&groups);
        assert_int_equal(memory.used, 0);
    }
}

TEST(symbol_groups_make_only_what_is_asked_for) {
    struct made m = {.count = SYMBOLS};
    struct memory memory;
    struct symbol_groups groups;
    struct symbol symbol;
    memory_init(&memory, NULL, 0);
    assert_result_is(groups_init(&groups, &memory, 0, 16 * SYMBOLS, SYMBOLS), SYMBOL_FOUND);
    for (uint32_t i = 0; i < SYMBOLS; i++) {
        m.entries[i] = (struct table_entry){.name = "f", .name_length = NOT_MEASURED, .start = 16 * i};
        groups_add(&groups, i, 16 * i, m.sizes[i] = 16);
    }
    groups_seal(&groups);
    assert_result_is(groups_find(&groups, 16 * 30 + 5, (struct group_source){extent, add, &m}, &symbol), SYMBOL_FOUND);
    assert_int_equal(symbol.start, 16 * 30);
    assert_true(m.added < 10);
    groups_free(&groups);
}

/* Addresses up to the highest one, with any values of `low` and `high`. */
TEST(symbol_groups_reach_to_the_end_of_all_addresses) {
    static const uint64_t starts[] = {0, 1, UINT64_MAX / 2, UINT64_MAX - 0x20, UINT64_MAX - 1};
    for (size_t low = 0; low < 5; low++)
        for (size_t high = 0; high < 5; high++) {
            struct made m = {.count = 5};
            struct memory memory;
            struct symbol_groups groups;
            struct symbol symbol = {0};
            memory_init(&memory, NULL, 0);
            assert_result_is(groups_init(&groups, &memory, starts[low], starts[high], 5), SYMBOL_FOUND);
            for (uint32_t i = 0; i < 5; i++) {
                m.entries[i] = (struct table_entry){.name = "f", .name_length = NOT_MEASURED, .start = starts[i]};
                groups_add(&groups, i, starts[i], m.sizes[i] = 1);
            }
            groups_seal(&groups);
            for (size_t i = 0; i < 5; i++) {
                assert_result_is(groups_find(&groups, starts[i], (struct group_source){extent, add, &m}, &symbol),
                                 SYMBOL_FOUND);
                assert_int_equal(symbol.start, starts[i]);
                assert_result_is(
                    groups_find(&groups, starts[i] + 0x1e, (struct group_source){extent, add, &m}, &symbol),
                    SYMBOL_NO_MATCH);
            }
            groups_free(&groups);
            assert_int_equal(memory.used, 0);
        }
}

TEST(symbol_groups_every_allocation_fails_once) {
    struct failing_alloc failing;
    struct made m;
    make(&m, 5);
    for (long n = 1;; n++) {
        struct memory memory;
        struct symbol_groups groups;
        struct symbol symbol;
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        enum symbol_result result = groups_init(&groups, &memory, LOW, HIGH, m.count);
        for (uint32_t i = 0; i < m.count && result == SYMBOL_FOUND; i++)
            groups_add(&groups, i, m.entries[i].start, m.sizes[i]);
        if (result == SYMBOL_FOUND)
            groups_seal(&groups);
        for (uint64_t at = 0; at < LAST && result != SYMBOL_NO_MEMORY; at++)
            if (groups.buckets)
                result = groups_find(&groups, at, (struct group_source){extent, add, &m}, &symbol);
        groups_free(&groups);
        assert_int_equal(failing.blocks, 0);
        assert_true((result == SYMBOL_NO_MEMORY) == failing.has_failed);
        if (!failing.has_failed)
            break;
    }
}
