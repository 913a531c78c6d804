/* SPDX-License-Identifier: Apache-2.0 */
/* Unwinding rules of small objects (tests/fixtures/objects): complete, truncated, damaged, and with failing
 * allocations. tests/oracle/symbols/run_frames.py compares them with readelf. */
#include "symbol/unwind/unwind_table.h"
#include "scratch_file.h"
#include "fixture_object.h"
#include "base/failing_alloc.h"

#define FROM 0x200u /* all their code is in this range */
#define END 0x1200u

static enum symbol_result open_at(const char *path, struct memory *memory, struct unwind_table **table) {
    const struct symbol_object object = {.kind = SYMBOL_USER, .path = path};
    return unwind_table_open(&object, NULL, memory, table);
}

static bool are_same(const struct unwind_plan *a, const struct unwind_plan *b) {
    if (!a || !b)
        return a == b;
    if (a->count != b->count || a->cfa.how != b->cfa.how || a->cfa.from != b->cfa.from || a->cfa.value != b->cfa.value)
        return false;
    for (unsigned i = 0; i < a->count; i++)
        if (a->rules[i].of != b->rules[i].of || a->rules[i].how != b->rules[i].how ||
            a->rules[i].value != b->rules[i].value)
            return false;
    return true;
}

TEST(unwind_table_without_sections_is_the_same) {
    struct memory memory;
    struct unwind_table *whole, *bare;
    unsigned known = 0;
    memory_init(&memory, NULL, 0);
    assert_result_is(open_at(fixture_object("frames-x86.so"), &memory, &whole), SYMBOL_FOUND);
    assert_result_is(open_at(fixture_object("frames-bare.so"), &memory, &bare), SYMBOL_FOUND);
    for (uint64_t address = FROM; address < END; address++) {
        const struct unwind_plan *plan = unwind_table_find(whole, address);
        assert_true(are_same(plan, unwind_table_find(bare, address)));
        known += plan != NULL;
    }
    assert_true(known > 100);
    unwind_table_close(whole);
    unwind_table_close(bare);
    assert_int_equal(memory.used, 0);
}

TEST(unwind_table_of_debug_frame_is_the_same_where_the_code_is) {
    struct memory memory;
    struct unwind_table *frames, *debug;
    memory_init(&memory, NULL, 0);
    assert_result_is(open_at(fixture_object("frames-x86.so"), &memory, &frames), SYMBOL_FOUND);
    assert_result_is(open_at(fixture_object("frames-debug.so"), &memory, &debug), SYMBOL_FOUND);
    for (uint64_t address = 0x1020; address < 0x1100; address++)
        assert_true(are_same(unwind_table_find(frames, address), unwind_table_find(debug, address)));
    unwind_table_close(frames);
    unwind_table_close(debug);
}

TEST(unwind_table_knows_signed_return_addresses) {
    struct memory memory;
    struct unwind_table *table;
    unsigned is_signed = 0;
    memory_init(&memory, NULL, 0);
    assert_result_is(open_at(fixture_object("frames-aarch64.so"), &memory, &table), SYMBOL_FOUND);
    assert_string_equal(unwind_table_machine(table)->name, "aarch64");
    for (uint64_t address = FROM; address < END; address += 4) {
        const struct unwind_plan *plan = unwind_table_find(table, address);
        is_signed += plan && plan->is_signed;
        assert_true(!plan || plan->return_register == 30);
    }
    assert_true(is_signed > 10);
    unwind_table_close(table);
}

TEST(unwind_table_is_of_machines_that_are_known) {
    struct memory memory;
    struct unwind_table *table;
    memory_init(&memory, NULL, 0);
    assert_result_is(open_at(fixture_object("nested-s390x.so"), &memory, &table), SYMBOL_NO_SYMBOLS);
    assert_null(table);
    assert_int_equal(memory.used, 0);
}

TEST(unwind_table_survives_every_failing_allocation) {
    struct failing_alloc failing;
    for (long n = 1;; n++) {
        struct memory memory;
        struct unwind_table *table;
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        const enum symbol_result result = open_at(fixture_object("frames-debug.so"), &memory, &table);
        unwind_table_close(table);
        assert_int_equal(failing.blocks, 0);
        assert_int_equal(memory.used, 0);
        assert_result_is(result, failing.has_failed ? SYMBOL_NO_MEMORY : SYMBOL_FOUND);
        if (!failing.has_failed)
            break;
    }
}

static void ask_all(const char *path) {
    struct memory memory;
    struct unwind_table *table;
    memory_init(&memory, NULL, (uint64_t)16 << 20);
    if (open_at(path, &memory, &table) == SYMBOL_FOUND)
        for (uint64_t address = FROM; address < END; address += 3) {
            const struct unwind_plan *plan = unwind_table_find(table, address);
            assert_true(!plan || plan->count <= UNWIND_REGISTERS);
        }
    unwind_table_close(table);
    assert_int_equal(memory.used, 0);
}

TEST(unwind_table_survives_each_damaged_byte) {
    static const char *const names[] = {"frames-x86.so", "frames-debug.so", "frames-bare.so"};
    static uint8_t bytes[32 << 10];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct scratch_file scratch;
        FILE *file = fopen(fixture_object(names[i]), "rb");
        assert_non_null(file);
        const size_t length = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        scratch_make(&scratch);
        for (size_t at = 0; at < length; at++) {
            const uint8_t was = bytes[at];
            if (at % (was ? 5 : 64))
                continue;
            bytes[at] ^= (uint8_t)(1u + at % 255);
            scratch_write(&scratch, bytes, at % 4 ? length : length - at % length);
            ask_all(scratch.path);
            bytes[at] = was;
        }
        scratch_remove(&scratch);
    }
}
