/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's list of symbols: types, modules, hidden addresses, damage. */
#include "scratch_file.h"
#include "base/failing_alloc.h"

static const char *const sample = "0000000000000000 A fixed_percpu_data\n"
                                  "ffffffff81000000 T _stext\n"
                                  "ffffffff81000100 t alias_one\n"
                                  "ffffffff81000100 T alias_two\n"
                                  "ffffffff81000180 D some_data\n"
                                  "ffffffff810001a0 b zeros\n"
                                  "ffffffff810001c0 r never_written\n"
                                  "ffffffff81000200 W weak_one\n"
                                  "ffffffff81000280 t $mark\n"
                                  "not a line\n"
                                  "ffffffff81000300 T last_of_kernel\n"
                                  "ffffffffc0401010 t ext4_read\t[ext4]\n"
                                  "ffffffffc0401080 t ext4_write\t[ext4]\n"
                                  "ffffffffc0501000 t fat_read\t[fat]";

static struct symbol_handle *open_text(const struct scratch_file *scratch, const char *text, struct memory *memory) {
    struct symbol_handle *handle;
    const struct symbol_object object = {.kind = SYMBOL_KERNEL, .path = scratch->path};
    scratch_write(scratch, text, strlen(text));
    memory_init(memory, NULL, 0);
    assert_result_is(kallsyms_symbol_source.open(&object, memory, &handle), SYMBOL_FOUND);
    return handle;
}

static void assert_kernel_name(struct symbol_handle *handle, uint64_t address, const char *name, const char *module) {
    struct symbol symbol;
    assert_result_is(kallsyms_symbol_source.find(handle, address, &symbol), SYMBOL_FOUND);
    assert_string_equal(symbol.name, name);
    assert_string_equal(symbol.module, module);
}

TEST(kallsyms_finds_code_and_data_of_kernel_and_modules) {
    struct scratch_file scratch;
    struct memory memory;
    scratch_make(&scratch);
    struct symbol_handle *handle = open_text(&scratch, sample, &memory);
    assert_kernel_name(handle, 0xffffffff81000000, "_stext", "");
    assert_kernel_name(handle, 0xffffffff8100017f, "alias_two", "");
    assert_kernel_name(handle, 0xffffffff8100019f, "some_data", "");
    assert_kernel_name(handle, 0xffffffff810001ff, "zeros", "");
    assert_kernel_name(handle, 0xffffffff810002ff, "weak_one", "");
    assert_kernel_name(handle, 0xffffffff81000300, "last_of_kernel", "");
    assert_kernel_name(handle, 0xffffffffc040107f, "ext4_read", "ext4");
    assert_kernel_name(handle, 0xffffffffc0401080, "ext4_write", "ext4");
    assert_kernel_name(handle, 0xffffffffc0501fff, "fat_read", "fat");
    assert_string_equal(name_at(&kallsyms_symbol_source, handle, 0xffffffff90000000),
                        symbol_result_text(SYMBOL_NO_MATCH));
    assert_string_equal(name_at(&kallsyms_symbol_source, handle, 0xffffffffc0500fff),
                        symbol_result_text(SYMBOL_NO_MATCH));
    kallsyms_symbol_source.close(handle);
    assert_int_equal(memory.used, 0);
    scratch_remove(&scratch);
}

TEST(kallsyms_is_read_at_the_first_question) {
    struct scratch_file scratch;
    struct memory memory;
    scratch_make(&scratch);
    struct symbol_handle *handle = open_text(&scratch, "", &memory);
    scratch_write(&scratch, sample, strlen(sample));
    assert_kernel_name(handle, 0xffffffff81000000, "_stext", "");
    scratch_write(&scratch, "", 0);
    assert_kernel_name(handle, 0xffffffff81000000, "_stext", "");
    kallsyms_symbol_source.close(handle);
    scratch_remove(&scratch);
}

TEST(kallsyms_of_zeros_is_hidden) {
    struct scratch_file scratch;
    struct memory memory;
    scratch_make(&scratch);
    struct symbol_handle *handle = open_text(&scratch, "0000000000000000 T _stext\n0000000000000000 t foo\n", &memory);
    for (int i = 0; i < 2; i++)
        assert_string_equal(name_at(&kallsyms_symbol_source, handle, 0), symbol_result_text(SYMBOL_HIDDEN));
    kallsyms_symbol_source.close(handle);
    handle = open_text(&scratch, "", &memory);
    assert_string_equal(name_at(&kallsyms_symbol_source, handle, 0), symbol_result_text(SYMBOL_NO_SYMBOLS));
    kallsyms_symbol_source.close(handle);
    scratch_remove(&scratch);
}

TEST(kallsyms_without_a_file) {
    struct memory memory;
    struct symbol_handle *handle;
    memory_init(&memory, NULL, 0);
    const struct symbol_object missing = {.path = "/nonexistent/kallsyms"};
    assert_result_is(kallsyms_symbol_source.open(&missing, &memory, &handle), SYMBOL_NO_FILE);
    assert_null(handle);
    const struct symbol_object device = {.path = "/dev/zero"};
    assert_result_is(kallsyms_symbol_source.open(&device, &memory, &handle), SYMBOL_NOT_REGULAR);
    assert_int_equal(memory.used, 0);
    kallsyms_symbol_source.close(NULL);
}

TEST(kallsyms_takes_every_truncation) {
    struct scratch_file scratch;
    struct memory memory;
    char text[1024];
    scratch_make(&scratch);
    for (size_t length = 0; length < strlen(sample); length++) {
        memcpy(text, sample, length);
        text[length] = '\0';
        struct symbol_handle *handle = open_text(&scratch, text, &memory);
        assert_non_null(name_at(&kallsyms_symbol_source, handle, 0xffffffff81000100));
        kallsyms_symbol_source.close(handle);
        assert_int_equal(memory.used, 0);
    }
    scratch_remove(&scratch);
}

TEST(kallsyms_every_allocation_fails_once) {
    struct scratch_file scratch;
    struct failing_alloc failing;
    const struct symbol_object object = {.path = scratch.path};
    scratch_make(&scratch);
    scratch_write(&scratch, sample, strlen(sample));
    for (long n = 1;; n++) {
        struct memory memory;
        struct symbol_handle *handle;
        struct symbol symbol;
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        enum symbol_result result = kallsyms_symbol_source.open(&object, &memory, &handle);
        if (result == SYMBOL_FOUND)
            result = kallsyms_symbol_source.find(handle, 0xffffffff81000000, &symbol);
        kallsyms_symbol_source.close(handle);
        assert_int_equal(failing.blocks, 0);
        assert_result_is(result, failing.has_failed ? SYMBOL_NO_MEMORY : SYMBOL_FOUND);
        if (!failing.has_failed)
            break;
    }
    scratch_remove(&scratch);
}

/* Lines sorted by address, with equal addresses, gaps, types that are not functions, and modules. */
static size_t write_random_list(char *text, size_t room, uint64_t *addresses, size_t count, uint64_t *seed) {
    static const char types[] = "tTwWdDbBrA";
    size_t length = 0;
    uint64_t address = 0xffffffff81000000u;
    for (size_t i = 0; i < count; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        const unsigned r = (unsigned)(*seed >> 33);
        address += r % 7 == 0 ? 0 : r % 13 == 0 ? 0x5000 + r % 0x3000 : r % 0x200;
        addresses[i] = address;
        length +=
            (size_t)snprintf(text + length, room - length, "%016llx %c %s%u%s%s%s\n", (unsigned long long)address,
                             types[r / 7 % (sizeof types - 1)], r % 31 == 0 ? "$" : "name_", r, r % 3 == 0 ? "\t[" : "",
                             r % 3 == 0 ? (r % 2 ? "ext4" : "fat") : "", r % 3 == 0 ? "]" : "");
    }
    return length;
}

static void assert_same_answer(struct symbol_handle *one, struct symbol_handle *two, uint64_t address) {
    struct symbol a = {0}, b = {0};
    const enum symbol_result result = kallsyms_symbol_source.find(one, address, &a);
    assert_result_is(kallsyms_symbol_source.find(two, address, &b), result);
    assert_int_equal(a.from, b.from);
    assert_int_equal(a.end, b.end);
    if (result != SYMBOL_FOUND)
        return;
    assert_string_equal(a.name, b.name);
    assert_string_equal(a.module, b.module);
    assert_int_equal(a.name_length, b.name_length);
    assert_int_equal(a.start, b.start);
    assert_int_equal(a.size, b.size);
    struct symbol again;
    assert_result_is(kallsyms_symbol_source.find(one, address, &again), SYMBOL_FOUND);
    assert_ptr_equal(again.name, a.name);
}

/* If a line is not valid, the list is read as a table. */
TEST(kallsyms_binary_search_and_table_agree) {
    enum { LINES = 500 };
    static char text[LINES * 64], with_more[LINES * 64 + 16];
    uint64_t addresses[LINES], seed = 7;
    for (size_t round = 0; round < 40; round++) {
        struct scratch_file one, two;
        struct memory memory, memory_two;
        const size_t count = round < 20 ? round * round + 1 : LINES;
        scratch_make(&one);
        scratch_make(&two);
        write_random_list(text, sizeof text, addresses, count, &seed);
        snprintf(with_more, sizeof with_more, "%snot a line\n", text);
        struct symbol_handle *list = open_text(&one, text, &memory), *table = open_text(&two, with_more, &memory_two);
        for (size_t i = 0; i < count; i++)
            for (uint64_t near = 0; near < 3; near++)
                assert_same_answer(list, table, addresses[i] - 1 + near);
        for (uint64_t far = 0; far < 64; far++)
            assert_same_answer(list, table, 0xffffffff80ffff00u + far * 0x777);
        kallsyms_symbol_source.close(list);
        kallsyms_symbol_source.close(table);
        assert_int_equal(memory.used + memory_two.used, 0);
        scratch_remove(&one);
        scratch_remove(&two);
    }
}
