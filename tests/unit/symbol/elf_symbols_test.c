/* SPDX-License-Identifier: Apache-2.0 */
/* Names from ELF objects: generated objects of each class and byte order, this program, and damaged objects. */
#include <sys/stat.h>
#include "elf_builder.h"
#include "scratch_file.h"
#include "base/failing_alloc.h"

#define FUNC(binding) ELF64_ST_INFO(STB_##binding, STT_FUNC)
#define TEXT_AT(n) (BUILT_TEXT_ADDRESS + (n))

static const struct built_symbol sample[] = {
    {"global_one", TEXT_AT(0x00), 0x10, FUNC(GLOBAL), 1, 0},
    {"weak_alias_of_one", TEXT_AT(0x00), 0x10, FUNC(WEAK), 1, 0},
    {"without_size", TEXT_AT(0x20), 0, FUNC(LOCAL), 1, 0},
    {"label", TEXT_AT(0x40), 0x10, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), 1, 0},
    {"$d", TEXT_AT(0x48), 0, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), 1, 0},
    {"indirect", TEXT_AT(0x50), 0x10, ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC), 1, 0},
    {"imported", 0, 0, FUNC(GLOBAL), 0, 0},
    {"object", TEXT_AT(0x60), 8, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 1, 0},
    {"hidden_label", TEXT_AT(0x68), 8, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 1, STV_HIDDEN},
    {"hidden_object", TEXT_AT(0x78), 8, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 1, STV_HIDDEN},
    {"absolute", TEXT_AT(0x70), 8, FUNC(GLOBAL), SHN_ABS, 0},
    {"label_of_data", 0x500000, 8, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), 6, 0},
    {"of_a_thread", 0x500008, 8, ELF64_ST_INFO(STB_GLOBAL, STT_TLS), 6, 0},
    {"label_of_notes", TEXT_AT(0x88), 8, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), 2, 0},
    {"not_in_memory", TEXT_AT(0x90), 8, FUNC(GLOBAL), 4, 0},
    {"elsewhere", TEXT_AT(0x80), 8, FUNC(GLOBAL), 200, 0},
    {"last", TEXT_AT(0x100), 0x20, FUNC(GLOBAL), 1, 0},
};

static struct elf_recipe recipe_of(int variant) {
    return (struct elf_recipe){.wide = variant & 1,
                               .big = variant & 2,
                               .type = ET_DYN,
                               .machine = variant & 1 ? EM_AARCH64 : EM_ARM,
                               .symbol_section_type = SHT_SYMTAB,
                               .has_build_id = true,
                               .symbols = sample,
                               .symbol_count = sizeof sample / sizeof *sample};
}

static enum symbol_result open_bytes(const struct scratch_file *scratch, const struct elf_bytes *bytes,
                                     struct memory *memory, struct symbol_handle **handle) {
    const struct symbol_object object = {.path = scratch->path};
    scratch_write(scratch, bytes->at, bytes->length);
    memory_init(memory, NULL, 0);
    return elf_symbol_source.open(&object, memory, handle);
}

static void assert_name(struct symbol_handle *handle, uint64_t address, const char *name) {
    assert_string_equal(name_at(&elf_symbol_source, handle, address), name);
}

static void assert_nameless(struct symbol_handle *handle, uint64_t address) {
    assert_name(handle, address, symbol_result_text(SYMBOL_NO_MATCH));
}

static void check_sample(struct symbol_handle *handle) {
    assert_name(handle, TEXT_AT(0x0f), "global_one");
    assert_nameless(handle, TEXT_AT(0x10));
    assert_name(handle, TEXT_AT(0x3f), "without_size");
    assert_name(handle, TEXT_AT(0x4f), "label");
    assert_name(handle, TEXT_AT(0x5f), "indirect");
    assert_name(handle, TEXT_AT(0x60), "object");
    assert_nameless(handle, TEXT_AT(0x68));
    assert_nameless(handle, TEXT_AT(0x70));
    assert_name(handle, TEXT_AT(0x78), "hidden_object");
    assert_nameless(handle, TEXT_AT(0x80));
    assert_nameless(handle, TEXT_AT(0x88));
    assert_nameless(handle, TEXT_AT(0x90));
    assert_name(handle, 0x500007, "label_of_data");
    assert_nameless(handle, 0x500008);
    assert_name(handle, TEXT_AT(0x11f), "last");
    assert_nameless(handle, TEXT_AT(0x120));
    assert_nameless(handle, 0);
}

TEST(elf_symbols_in_both_classes_and_byte_orders) {
    struct scratch_file scratch;
    scratch_make(&scratch);
    for (int variant = 0; variant < 4; variant++) {
        const struct elf_recipe recipe = recipe_of(variant);
        struct elf_bytes bytes;
        struct memory memory;
        struct symbol_handle *handle;
        build_elf(&bytes, &recipe);
        assert_result_is(open_bytes(&scratch, &bytes, &memory, &handle), SYMBOL_FOUND);
        check_sample(handle);
        size_t size;
        const uint8_t *id = elf_symbol_source.build_id(handle, &size);
        assert_int_equal(size, BUILT_ID_SIZE);
        assert_int_equal(id[0], 1);
        assert_int_equal(id[19], 20);
        elf_symbol_source.close(handle);
        assert_int_equal(memory.used, 0);
    }
    scratch_remove(&scratch);
}

TEST(elf_symbols_segments_translate_offsets) {
    struct scratch_file scratch;
    struct elf_bytes bytes;
    struct memory memory;
    struct symbol_handle *handle;
    const struct elf_recipe recipe = recipe_of(1);
    uint64_t address;
    scratch_make(&scratch);
    build_elf(&bytes, &recipe);
    assert_result_is(open_bytes(&scratch, &bytes, &memory, &handle), SYMBOL_FOUND);
    const struct symbol_segments segments = elf_symbol_source.segments(handle);
    assert_int_equal(segments.count, 1);
    assert_true(segments.at[0].executable);
    assert_true(segments_to_address(segments, BUILT_TEXT_OFFSET + 5, &address));
    assert_int_equal(address, BUILT_TEXT_ADDRESS + 5);
    assert_false(segments_to_address(segments, BUILT_TEXT_OFFSET - 1, &address));
    assert_true(segments_to_address(segments, BUILT_TEXT_OFFSET + BUILT_TEXT_SIZE + 4, &address));
    assert_int_equal(address, BUILT_TEXT_ADDRESS + BUILT_TEXT_SIZE + 4);
    elf_symbol_source.close(handle);
    scratch_remove(&scratch);
}

TEST(elf_symbols_of_dynsym_when_stripped) {
    struct scratch_file scratch;
    struct elf_bytes bytes;
    struct memory memory;
    struct symbol_handle *handle;
    struct elf_recipe recipe = recipe_of(1);
    scratch_make(&scratch);
    recipe.symbol_section_type = SHT_DYNSYM;
    build_elf(&bytes, &recipe);
    assert_result_is(open_bytes(&scratch, &bytes, &memory, &handle), SYMBOL_FOUND);
    assert_name(handle, TEXT_AT(0), "global_one");
    elf_symbol_source.close(handle);
    recipe.symbol_section_type = SHT_PROGBITS;
    build_elf(&bytes, &recipe);
    assert_result_is(open_bytes(&scratch, &bytes, &memory, &handle), SYMBOL_NO_SYMBOLS);
    assert_int_equal(memory.used, 0);
    scratch_remove(&scratch);
}

TEST(elf_symbols_of_a_module_count_from_its_code) {
    static const struct built_symbol symbols[] = {{"init_module", 0x40, 0x10, FUNC(GLOBAL), 1, 0}};
    struct scratch_file scratch;
    struct elf_bytes bytes;
    struct memory memory;
    struct symbol_handle *handle;
    struct elf_recipe recipe = recipe_of(1);
    scratch_make(&scratch);
    recipe.type = ET_REL;
    recipe.symbols = symbols;
    recipe.symbol_count = 1;
    build_elf(&bytes, &recipe);
    assert_result_is(open_bytes(&scratch, &bytes, &memory, &handle), SYMBOL_FOUND);
    assert_name(handle, 0x4f, "init_module");
    elf_symbol_source.close(handle);
    scratch_remove(&scratch);
}

TEST(elf_symbols_of_thumb_code_lose_bit_zero) {
    static const struct built_symbol symbols[] = {{"thumb", TEXT_AT(0x41), 0x10, FUNC(GLOBAL), 1, 0}};
    struct scratch_file scratch;
    struct elf_bytes bytes;
    struct memory memory;
    struct symbol_handle *handle;
    struct elf_recipe recipe = recipe_of(0);
    scratch_make(&scratch);
    recipe.symbols = symbols;
    recipe.symbol_count = 1;
    build_elf(&bytes, &recipe);
    assert_result_is(open_bytes(&scratch, &bytes, &memory, &handle), SYMBOL_FOUND);
    assert_name(handle, TEXT_AT(0x40), "thumb");
    assert_nameless(handle, TEXT_AT(0x50));
    elf_symbol_source.close(handle);
    scratch_remove(&scratch);
}

TEST(elf_symbols_only_of_the_build_asked_for) {
    struct scratch_file scratch;
    struct elf_bytes bytes;
    struct memory memory;
    struct symbol_handle *handle;
    struct elf_recipe recipe = recipe_of(1);
    uint8_t id[BUILT_ID_SIZE];
    struct symbol_object object = {.build_id = id, .build_id_size = sizeof id};
    scratch_make(&scratch);
    object.path = scratch.path;
    for (uint8_t i = 0; i < sizeof id; i++)
        id[i] = (uint8_t)(i + 1);
    build_elf(&bytes, &recipe);
    scratch_write(&scratch, bytes.at, bytes.length);
    memory_init(&memory, NULL, 0);
    assert_result_is(elf_symbol_source.open(&object, &memory, &handle), SYMBOL_FOUND);
    elf_symbol_source.close(handle);
    id[19] ^= 1;
    assert_result_is(elf_symbol_source.open(&object, &memory, &handle), SYMBOL_OTHER_BUILD);
    assert_null(handle);
    recipe.has_build_id = false;
    build_elf(&bytes, &recipe);
    scratch_write(&scratch, bytes.at, bytes.length);
    assert_result_is(elf_symbol_source.open(&object, &memory, &handle), SYMBOL_NO_BUILD_ID);
    assert_int_equal(memory.used, 0);
    scratch_remove(&scratch);
}

TEST(elf_symbols_build_id_from_a_segment_without_sections) {
    struct scratch_file scratch;
    struct elf_bytes bytes;
    struct memory memory;
    struct symbol_handle *handle;
    const struct elf_recipe recipe = recipe_of(3);
    uint8_t id[BUILT_ID_SIZE] = {0};
    struct symbol_object object = {.build_id = id, .build_id_size = sizeof id};
    scratch_make(&scratch);
    object.path = scratch.path;
    build_elf(&bytes, &recipe);
    memset(bytes.at + 40, 0, 8); /* e_shoff */
    memset(bytes.at + 60, 0, 4); /* e_shnum, e_shstrndx */
    scratch_write(&scratch, bytes.at, bytes.length);
    memory_init(&memory, NULL, 0);
    assert_result_is(elf_symbol_source.open(&object, &memory, &handle), SYMBOL_OTHER_BUILD);
    for (uint8_t i = 0; i < sizeof id; i++)
        id[i] = (uint8_t)(i + 1);
    assert_result_is(elf_symbol_source.open(&object, &memory, &handle), SYMBOL_NO_SYMBOLS);
    scratch_remove(&scratch);
}

TEST(elf_symbols_take_every_truncation) {
    struct scratch_file scratch;
    scratch_make(&scratch);
    for (int variant = 0; variant < 4; variant++) {
        const struct elf_recipe recipe = recipe_of(variant);
        struct elf_bytes bytes;
        build_elf(&bytes, &recipe);
        const size_t whole = bytes.length;
        for (bytes.length = 0; bytes.length < whole; bytes.length += STEP_OF(1u)) {
            struct memory memory;
            struct symbol_handle *handle;
            const enum symbol_result result = open_bytes(&scratch, &bytes, &memory, &handle);
            assert_true((result == SYMBOL_FOUND) == (handle != NULL));
            elf_symbol_source.close(handle);
            assert_int_equal(memory.used, 0);
        }
    }
    scratch_remove(&scratch);
}

static void open_and_ask(const struct scratch_file *scratch, const struct elf_bytes *bytes) {
    struct memory memory;
    struct symbol_handle *handle;
    if (open_bytes(scratch, bytes, &memory, &handle) == SYMBOL_FOUND)
        name_at(&elf_symbol_source, handle, TEXT_AT(0x20));
    elf_symbol_source.close(handle);
    assert_int_equal(memory.used, 0);
}

TEST(elf_symbols_take_every_byte_wrong) {
    static const uint8_t wrong[] = {0x00, 0x7f, 0x80, 0xff};
    struct scratch_file scratch;
    scratch_make(&scratch);
    for (int variant = 0; variant < 4; variant++) {
        const struct elf_recipe recipe = recipe_of(variant);
        struct elf_bytes bytes;
        build_elf(&bytes, &recipe);
        for (size_t i = 4; i < bytes.length; i += STEP_OF(1u)) {
            const uint8_t good = bytes.at[i];
            if (i >= BUILT_TEXT_OFFSET && i < BUILT_TEXT_OFFSET + BUILT_TEXT_SIZE)
                continue;
            bytes.at[i] = wrong[i % sizeof wrong];
            open_and_ask(&scratch, &bytes);
            bytes.at[i] = good;
        }
    }
    scratch_remove(&scratch);
}

TEST(elf_symbols_every_allocation_fails_once) {
    struct scratch_file scratch;
    struct elf_bytes bytes;
    struct failing_alloc failing;
    const struct elf_recipe recipe = recipe_of(1);
    const struct symbol_object object = {.path = scratch.path};
    scratch_make(&scratch);
    build_elf(&bytes, &recipe);
    scratch_write(&scratch, bytes.at, bytes.length);
    for (long n = 1;; n++) {
        struct memory memory;
        struct symbol_handle *handle;
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        const enum symbol_result result = elf_symbol_source.open(&object, &memory, &handle);
        elf_symbol_source.close(handle);
        assert_int_equal(failing.blocks, 0);
        assert_result_is(result, failing.has_failed ? SYMBOL_NO_MEMORY : SYMBOL_FOUND);
        if (!failing.has_failed)
            break;
    }
    scratch_remove(&scratch);
}

/* Finds a function of this program by its address in the process, through the segments. */
TEST(elf_symbols_of_this_program) {
    struct memory memory;
    struct symbol_handle *handle;
    const struct symbol_object object = {.path = "/proc/self/exe"};
    memory_init(&memory, NULL, 0);
    const enum symbol_result result = elf_symbol_source.open(&object, &memory, &handle);
    if (result == SYMBOL_NO_SYMBOLS)
        skip();
    assert_result_is(result, SYMBOL_FOUND);
    bool found = false;
    const struct symbol_segments segments = elf_symbol_source.segments(handle);
    for (size_t i = 0; i < segments.count && !found; i++)
        for (uint64_t n = 0; n < segments.at[i].size && segments.at[i].executable && !found; n++)
            found = strcmp(name_at(&elf_symbol_source, handle, segments.at[i].address + n), "main") == 0;
    assert_true(found);
    elf_symbol_source.close(handle);
    assert_int_equal(memory.used, 0);
}

TEST(elf_symbols_open_only_regular_files) {
    static const struct {
        const char *symfs, *path;
        enum symbol_result result;
    } cases[] = {
        {NULL, "/nonexistent/file", SYMBOL_NO_FILE},
        {NULL, "/", SYMBOL_NOT_REGULAR},
        {NULL, "/dev/zero", SYMBOL_NOT_REGULAR},
        {NULL, "/proc/self/maps", SYMBOL_NOT_REGULAR},
        {NULL, "//anon", SYMBOL_NO_FILE},
        {NULL, "[vdso]", SYMBOL_NO_FILE},
        {NULL, "/etc/passwd", SYMBOL_NOT_ELF},
        {"/etc", "passwd", SYMBOL_NOT_ELF},
        {"/etc", "/passwd", SYMBOL_NOT_ELF},
        {"/usr", "/../etc/passwd", SYMBOL_NOT_PERMITTED},
        {"/usr", "..", SYMBOL_NOT_PERMITTED},
        {"/usr", "/x..y", SYMBOL_NO_FILE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct memory memory;
        struct symbol_handle *handle;
        const struct symbol_object object = {.path = cases[i].path, .symfs = cases[i].symfs};
        memory_init(&memory, NULL, 0);
        assert_result_is(elf_symbol_source.open(&object, &memory, &handle), cases[i].result);
        assert_null(handle);
    }
}

TEST(elf_symbols_never_wait_for_a_fifo) {
    struct scratch_file scratch;
    struct memory memory;
    struct symbol_handle *handle;
    scratch_make(&scratch);
    const struct symbol_object object = {.path = scratch.path};
    memory_init(&memory, NULL, 0);
    assert_int_equal(mkfifo(scratch.path, 0600), 0);
    assert_result_is(elf_symbol_source.open(&object, &memory, &handle), SYMBOL_NOT_REGULAR);
    unlink(scratch.path);
    assert_int_equal(symlink(scratch.path, scratch.path), 0);
    assert_result_is(elf_symbol_source.open(&object, &memory, &handle), SYMBOL_NOT_REGULAR);
    scratch_remove(&scratch);
}
