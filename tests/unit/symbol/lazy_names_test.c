/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are read later equal names that are read at once. */
#include "base/memory/sizes.h"
#include "symbol/elf/lazy_names.h"
#include "symbol/table/symbol_table.h"
#include "base/failing_alloc.h"
#include "elf_builder.h"
#include "scratch_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#define BEFORE 77u  /* bytes in the file before the names */
#define SIZE 20000u /* size of the names */

static char text[SIZE];

/* Names of all lengths up to a few blocks; after the last one there is text without a NUL. */
static void make_text(void) {
    size_t length = 0;
    for (size_t i = 0; i < SIZE; i++) {
        const bool ends = length == 0 || i % (length > 300 ? 9000 : 97) == 0;
        text[i] = ends && i < SIZE - 100 ? '\0' : (char)('a' + i % 26);
        length = text[i] ? length + 1 : i;
    }
}

struct late {
    struct scratch_file scratch;
    struct elf_object object;
    struct elf_section section;
};

static void late_begin(struct late *late, const char *names, size_t size) {
    char *bytes = test_calloc(BEFORE + size, 1);
    memcpy(bytes + BEFORE, names, size);
    scratch_make(&late->scratch);
    scratch_write(&late->scratch, bytes, BEFORE + size);
    test_free(bytes);
    late->object = (struct elf_object){.fd = open(late->scratch.path, O_RDONLY), .file_size = BEFORE + size};
    late->section = (struct elf_section){.offset = BEFORE, .size = size};
    assert_true(late->object.fd >= 0);
}

static void late_end(struct late *late) {
    close(late->object.fd);
    scratch_remove(&late->scratch);
}

static void compare_at(struct late_text *late, uint64_t at, uint64_t end) {
    const char *name;
    assert_result_is(late_text_at(late, at, &name), SYMBOL_FOUND);
    if (at < end)
        assert_string_equal(name, text + at);
    else
        assert_null(name);
}

TEST(lazy_names_equal_those_of_the_file) {
    struct late late;
    struct memory memory;
    struct late_text *names;
    make_text();
    const char *last = memrchr(text, '\0', SIZE);
    const uint64_t end = (uint64_t)(last - text) + 1;
    assert_in_range(end, SIZE / 2, SIZE - 100);
    late_begin(&late, text, SIZE);
    memory_init(&memory, NULL, 0);
    assert_result_is(late_text_open(&late.object, &late.section, &memory, &names), SYMBOL_FOUND);
    assert_non_null(names);
    for (unsigned twice = 0; twice < 2; twice++)
        for (uint64_t at = 0; at < SIZE + 10; at++)
            compare_at(names, at * 7919 % (SIZE + 10), end);
    late_text_close(names);
    assert_int_equal(memory.used, 0);
    late_end(&late);
}

TEST(lazy_names_without_a_terminator_are_refused) {
    struct late late;
    struct memory memory;
    struct late_text *names;
    const char *name;
    memset(text, 'a', SIZE);
    late_begin(&late, text, SIZE);
    memory_init(&memory, NULL, 0);
    assert_result_is(late_text_open(&late.object, &late.section, &memory, &names), SYMBOL_FOUND);
    assert_result_is(late_text_at(names, 0, &name), SYMBOL_FOUND);
    assert_null(name);
    late_text_close(names);
    late_end(&late);
}

TEST(lazy_names_cut_long_names) {
    struct late late;
    struct memory memory;
    struct late_text *names;
    const char *name;
    const size_t size = SYMBOL_NAME_MOST + 9000;
    char *bytes = test_malloc(size);
    memset(bytes, 'n', size);
    bytes[size - 1] = '\0';
    late_begin(&late, bytes, size);
    memory_init(&memory, NULL, 0);
    assert_result_is(late_text_open(&late.object, &late.section, &memory, &names), SYMBOL_FOUND);
    assert_result_is(late_text_at(names, 10, &name), SYMBOL_FOUND);
    assert_int_equal(strlen(name), SYMBOL_NAME_MOST);
    assert_result_is(late_text_at(names, 8999, &name), SYMBOL_FOUND);
    assert_int_equal(strlen(name), SYMBOL_NAME_MOST);
    assert_result_is(late_text_at(names, 9000, &name), SYMBOL_FOUND);
    assert_int_equal(strlen(name), SYMBOL_NAME_MOST - 1);
    late_text_close(names);
    test_free(bytes);
    late_end(&late);
}

/* Text that was read before the file changed remains valid; nothing more is read, even if the file is restored. */
TEST(lazy_names_of_a_file_that_changes) {
    struct late late;
    struct memory memory;
    struct late_text *names;
    const char *name;
    make_text();
    late_begin(&late, text, SIZE);
    memory_init(&memory, NULL, 0);
    assert_result_is(late_text_open(&late.object, &late.section, &memory, &names), SYMBOL_FOUND);
    assert_result_is(late_text_at(names, 5, &name), SYMBOL_FOUND);
    assert_int_equal(truncate(late.scratch.path, BEFORE + SIZE - 1), 0);
    assert_result_is(late_text_at(names, 9000, &name), SYMBOL_IO);
    assert_null(name);
    const struct timespec then[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(truncate(late.scratch.path, BEFORE + SIZE), 0);
    assert_int_equal(utimensat(AT_FDCWD, late.scratch.path, then, 0), 0);
    assert_result_is(late_text_at(names, 9000, &name), SYMBOL_IO);
    late_text_close(names);
    assert_int_equal(memory.used, 0);
    late_end(&late);
}

TEST(lazy_names_every_allocation_fails_once) {
    struct failing_alloc failing;
    struct late late;
    make_text();
    late_begin(&late, text, SIZE);
    for (long n = 1;; n++) {
        struct memory memory;
        struct late_text *names;
        const char *name;
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        enum symbol_result result = late_text_open(&late.object, &late.section, &memory, &names);
        for (uint64_t at = 0; at < SIZE && result == SYMBOL_FOUND; at += STEP_OF(31u))
            result = late_text_at(names, at, &name);
        late_text_close(names);
        assert_int_equal(failing.blocks, 0);
        assert_int_equal(memory.used, 0);
        assert_result_is(result, failing.has_failed ? SYMBOL_NO_MEMORY : SYMBOL_FOUND);
        if (!failing.has_failed)
            break;
    }
    late_end(&late);
}

/* The size of the section counts towards the memory limit. */
TEST(lazy_names_count_as_memory) {
    struct late late;
    struct memory memory;
    struct late_text *names;
    make_text();
    late_begin(&late, text, SIZE);
    memory_init(&memory, NULL, SIZE);
    assert_result_is(late_text_open(&late.object, &late.section, &memory, &names), SYMBOL_LIMIT);
    assert_null(names);
    assert_int_equal(memory.used, 0);
    late_end(&late);
}

/* --- In an object. --- */

#define AT(n) (BUILT_TEXT_ADDRESS + (n))

static const struct built_symbol symbols[] = {
    {"first", AT(0x00), 0x10, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, 0},
    {"other_name_of_first", AT(0x00), 0x10, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, 0},
    {"without_size", AT(0x20), 0, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1, 0},
    {"", AT(0x30), 0x10, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1, 0},
    {"_ZN4last3oneEv", AT(0x100), 0x20, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, 0},
};

static const struct elf_recipe recipe = {.wide = true,
                                         .type = ET_DYN,
                                         .machine = EM_X86_64,
                                         .symbol_section_type = SHT_SYMTAB,
                                         .symbols = symbols,
                                         .symbol_count = sizeof symbols / sizeof *symbols};

static uint64_t number_at(const struct elf_bytes *bytes, uint64_t at, size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)bytes->at[at + i] << 8 * i;
    return value;
}

/* Offset of the section header of the symbols' names. */
static uint64_t header_of_names(const struct elf_bytes *bytes) {
    const uint64_t sections = number_at(bytes, 0x28, 8);
    for (uint64_t i = 0; i < number_at(bytes, 0x3c, 2); i++)
        if (number_at(bytes, sections + 64 * i + 4, 4) == SHT_SYMTAB)
            return sections + 64 * number_at(bytes, sections + 64 * i + 40, 4);
    fail_msg("there is no table of symbols");
    return 0;
}

static void set_number(struct elf_bytes *bytes, uint64_t at, uint64_t value) {
    for (unsigned i = 0; i < 8; i++)
        bytes->at[at + i] = (uint8_t)(value >> 8 * i);
}

/* Moves the names to the end of the file, followed by enough other bytes that the names are read later. */
static void write_with_much_text(const struct scratch_file *scratch, struct elf_bytes *bytes) {
    const uint64_t header = header_of_names(bytes), length = bytes->length, much = SIZE_MOST_late_text;
    const uint64_t from = number_at(bytes, header + 24, 8), size = number_at(bytes, header + 32, 8);
    char *whole = test_malloc(length + size + much);
    set_number(bytes, header + 24, length);
    set_number(bytes, header + 32, size + much);
    memcpy(whole, bytes->at, length);
    memcpy(whole + length, bytes->at + from, size);
    memset(whole + length + size, 'x', much);
    whole[length + size + much - 1] = '\0';
    scratch_write(scratch, whole, length + size + much);
    test_free(whole);
}

TEST(lazy_names_of_an_object) {
    struct scratch_file few, many;
    struct elf_bytes bytes;
    struct memory memory;
    struct symbol_handle *plain, *late;
    scratch_make(&few);
    scratch_make(&many);
    memory_init(&memory, NULL, 0);
    build_elf(&bytes, &recipe);
    scratch_write(&few, bytes.at, bytes.length);
    write_with_much_text(&many, &bytes);
    assert_result_is(elf_symbol_source.open(&(struct symbol_object){.path = few.path}, &memory, &plain), SYMBOL_FOUND);
    const uint64_t without = memory.used;
    assert_result_is(elf_symbol_source.open(&(struct symbol_object){.path = many.path}, &memory, &late), SYMBOL_FOUND);
    assert_true(memory.used > without + SIZE_MOST_late_text);
    for (uint64_t i = 0; i < 0x200; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "%s", name_at(&elf_symbol_source, plain, AT(i)));
        assert_string_equal(name_at(&elf_symbol_source, late, AT(i)), expected);
    }
    assert_string_equal(name_at(&elf_symbol_source, late, AT(0)), "other_name_of_first");
    elf_symbol_source.close(plain);
    elf_symbol_source.close(late);
    assert_int_equal(memory.used, 0);
    scratch_remove(&few);
    scratch_remove(&many);
}

TEST(lazy_names_of_an_object_that_shrinks) {
    struct scratch_file many;
    struct elf_bytes bytes;
    struct memory memory;
    struct symbol_handle *late;
    scratch_make(&many);
    memory_init(&memory, NULL, 0);
    build_elf(&bytes, &recipe);
    write_with_much_text(&many, &bytes);
    assert_result_is(elf_symbol_source.open(&(struct symbol_object){.path = many.path}, &memory, &late), SYMBOL_FOUND);
    assert_int_equal(truncate(many.path, 4000), 0);
    const char *name = name_at(&elf_symbol_source, late, AT(0x100)); /* it may be in a block that was read at opening */
    assert_true(strcmp(name, "_ZN4last3oneEv") == 0 || strcmp(name, symbol_result_text(SYMBOL_IO)) == 0);
    elf_symbol_source.close(late);
    assert_int_equal(memory.used, 0);
    scratch_remove(&many);
}
