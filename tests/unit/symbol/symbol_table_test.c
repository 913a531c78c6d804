/* SPDX-License-Identifier: Apache-2.0 */
/* Tests to which of several symbols an address belongs, and how the table resolves overlaps. */
#include "symbol/table/symbol_table.h"
#include "scratch_file.h"
#include "base/failing_alloc.h"

static enum symbol_result add(struct symbol_table *table, const char *name, uint64_t start, uint64_t size,
                              enum symbol_binding binding) {
    const struct table_entry entry = {
        .name = name, .name_length = (uint32_t)strlen(name), .start = start, .binding = (uint8_t)binding};
    return table_add(table, entry, size);
}

static const char *at(struct symbol_table *table, uint64_t address) {
    struct symbol symbol;
    return table_find(table, address, &symbol) == SYMBOL_FOUND ? symbol.name : "-";
}

static void start(struct symbol_table *table, struct memory *memory) {
    memory_init(memory, NULL, 0);
    table_init(table, memory);
}

static void end(struct symbol_table *table) {
    table_free(table);
    assert_int_equal(table->memory->used, 0);
}

TEST(symbol_table_without_symbols_is_reported) {
    struct memory memory;
    struct symbol_table table;
    start(&table, &memory);
    assert_result_is(table_finish(&table, TABLE_NESTED), SYMBOL_NO_SYMBOLS);
    assert_string_equal(at(&table, 0), "-");
    end(&table);
}

TEST(symbol_table_finds_first_and_last_byte) {
    struct memory memory;
    struct symbol_table table;
    start(&table, &memory);
    add(&table, "high", 0x3000, 0x10, BINDING_GLOBAL);
    add(&table, "low", 0x1000, 0x20, BINDING_LOCAL);
    assert_result_is(table_finish(&table, TABLE_NESTED), SYMBOL_FOUND);
    assert_string_equal(at(&table, 0xfff), "-");
    assert_string_equal(at(&table, 0x1000), "low");
    assert_string_equal(at(&table, 0x101f), "low");
    assert_string_equal(at(&table, 0x1020), "-");
    assert_string_equal(at(&table, 0x300f), "high");
    assert_string_equal(at(&table, 0x3010), "-");
    assert_string_equal(at(&table, UINT64_MAX), "-");
    end(&table);
}

TEST(symbol_table_gives_space_to_those_without_size) {
    struct memory memory;
    struct symbol_table table;
    struct symbol symbol;
    start(&table, &memory);
    add(&table, "first", 0x1000, 0, BINDING_GLOBAL);
    add(&table, "last", 0x9010, 0, BINDING_GLOBAL);
    table_finish(&table, TABLE_NESTED);
    assert_int_equal(table_find(&table, 0x900f, &symbol), SYMBOL_FOUND);
    assert_int_equal(symbol.start, 0x1000);
    assert_int_equal(symbol.size, 0x8010);
    assert_int_equal(table_find(&table, 0x9010, &symbol), SYMBOL_FOUND);
    assert_int_equal(symbol.start + symbol.size, 0xb000);
    end(&table);
}

TEST(symbol_table_survives_the_end_of_the_address_space) {
    struct memory memory;
    struct symbol_table table;
    start(&table, &memory);
    add(&table, "cut", UINT64_MAX - 4, UINT64_MAX, BINDING_GLOBAL);
    add(&table, "zero", UINT64_MAX - 8, 0, BINDING_GLOBAL);
    add(&table, "whole", 0, UINT64_MAX, BINDING_GLOBAL);
    assert_result_is(table_finish(&table, TABLE_NESTED), SYMBOL_FOUND);
    assert_string_equal(at(&table, 5), "whole");
    assert_string_equal(at(&table, UINT64_MAX - 6), "zero");
    assert_string_equal(at(&table, UINT64_MAX - 1), "cut");
    end(&table);
}

/* The better of two names for one address is chosen, in either order. */
static void assert_prefers(const char *good, enum symbol_binding good_binding, const char *bad,
                           enum symbol_binding bad_binding) {
    for (int turn = 0; turn < 2; turn++) {
        struct memory memory;
        struct symbol_table table;
        start(&table, &memory);
        if (turn)
            add(&table, good, 0x100, 8, good_binding);
        add(&table, bad, 0x100, 8, bad_binding);
        if (!turn)
            add(&table, good, 0x100, 8, good_binding);
        table_finish(&table, TABLE_NESTED);
        assert_string_equal(at(&table, 0x100), good);
        end(&table);
    }
}

TEST(symbol_table_chooses_among_equals_as_perf_does) {
    assert_prefers("global", BINDING_GLOBAL, "local_and_longer", BINDING_LOCAL);
    assert_prefers("local", BINDING_LOCAL, "weak_and_longer", BINDING_WEAK);
    assert_prefers("__global", BINDING_GLOBAL, "local", BINDING_LOCAL);
    assert_prefers("write", BINDING_GLOBAL, "__libc_write", BINDING_GLOBAL);
    assert_prefers("longer", BINDING_GLOBAL, "short", BINDING_GLOBAL);
    assert_prefers("sys_read", BINDING_GLOBAL, "SyS_read", BINDING_GLOBAL);
}

/* Mangled names are compared by their demangled text: abcdefghijkl is longer than a::b::c::d, whose arguments do not
 * count. */
TEST(symbol_table_compares_what_mangled_names_stand_for) {
    assert_prefers("_Z12abcdefghijklv", BINDING_GLOBAL, "_ZN1a1b1c1dEPFvPFvvEE", BINDING_GLOBAL);
    assert_prefers("_RNvXs1_NtC4core3fmtjNtB5_4Show4show", BINDING_LOCAL, "_RNvXs2_NtC4core3fmtyNtB5_4Show4show",
                   BINDING_LOCAL);
    assert_prefers("named", BINDING_GLOBAL, "_Z1fv", BINDING_GLOBAL);
}

TEST(symbol_table_prefers_a_size) {
    struct memory memory;
    struct symbol_table table;
    start(&table, &memory);
    add(&table, "empty_and_longer", 0x100, 0, BINDING_GLOBAL);
    add(&table, "sized", 0x100, 8, BINDING_WEAK);
    table_finish(&table, TABLE_NESTED);
    assert_string_equal(at(&table, 0x100), "sized");
    end(&table);
}

TEST(symbol_table_nested_symbol_hides_the_outer_one_only_where_it_is) {
    struct memory memory;
    struct symbol_table table;
    struct symbol symbol;
    start(&table, &memory);
    add(&table, "outer", 10, 30, BINDING_GLOBAL);
    add(&table, "inner", 20, 10, BINDING_GLOBAL);
    add(&table, "after", 50, 10, BINDING_GLOBAL);
    table_finish(&table, TABLE_NESTED);
    assert_string_equal(at(&table, 19), "outer");
    assert_string_equal(at(&table, 20), "inner");
    assert_string_equal(at(&table, 30), "outer");
    assert_string_equal(at(&table, 40), "-");
    assert_string_equal(at(&table, 59), "after");
    assert_int_equal(table_find(&table, 35, &symbol), SYMBOL_FOUND);
    assert_int_equal(symbol.start, 10);
    assert_int_equal(symbol.size, 30);
    end(&table);
}

/* A slow implementation of TABLE_LAST and TABLE_NESTED for comparison. */
static const char *slow_answer(const struct table_entry *entries, size_t count, enum table_order order,
                               uint64_t address) {
    const struct table_entry *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (entries[i].start <= address && address < entries[i].end)
            if (!best || order == TABLE_LAST || entries[i].start > best->start)
                best = &entries[i];
    return best ? best->name : "-";
}

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void compare_with_slow_answer(uint64_t *seed, enum table_order order) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
    struct table_entry entries[12];
    struct memory memory;
    struct symbol_table table;
    bool used[64] = {false};
    size_t count = 0;
    start(&table, &memory);
    for (size_t i = 0; i < 12; i++) {
        const uint64_t from = next_random(seed) % 64, size = 1 + next_random(seed) % 20;
        if (order == TABLE_NESTED && used[from])
            continue;
        used[from] = true;
        entries[count++] = (struct table_entry){.name = names[i], .start = from, .end = from + size};
        add(&table, names[i], from, size, BINDING_GLOBAL);
    }
    assert_result_is(table_finish(&table, order), SYMBOL_FOUND);
    for (uint64_t address = 0; address < 90; address++)
        assert_string_equal(at(&table, address), slow_answer(entries, count, order, address));
    end(&table);
}

TEST(symbol_table_equals_the_slow_answer) {
    uint64_t seed = 7;
    for (int round = 0; round < 2000; round++)
        compare_with_slow_answer(&seed, round & 1 ? TABLE_LAST : TABLE_NESTED);
}

TEST(symbol_table_every_allocation_fails_once) {
    struct failing_alloc failing;
    for (long n = 1;; n++) {
        struct memory memory;
        struct symbol_table table;
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        table_init(&table, &memory);
        enum symbol_result result = SYMBOL_FOUND;
        for (uint64_t i = 0; i < 200 && result == SYMBOL_FOUND; i++)
            result = add(&table, i % 2 ? "_Z4namev" : "name", i / 2 * 4, 10, BINDING_GLOBAL);
        if (result == SYMBOL_FOUND)
            result = table_finish(&table, n & 1 ? TABLE_LAST : TABLE_NESTED);
        table_free(&table);
        assert_int_equal(failing.blocks, 0);
        assert_result_is(result, failing.has_failed ? SYMBOL_NO_MEMORY : SYMBOL_FOUND);
        if (!failing.has_failed)
            break;
    }
}

TEST(symbol_results_all_have_a_text) {
    for (int i = 0; i < SYMBOL_RESULTS; i++)
        assert_true(*symbol_result_text((enum symbol_result)i));
    assert_non_null(symbol_result_text((enum symbol_result)999));
}
