/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel memory as a core file: its segments are read, and other files are rejected. */
#include "../symbol/elf_builder.h"
#include "../symbol/scratch_file.h"
#include "view/annotate/annotate_memory.h"

static enum symbol_result open_core(uint16_t type, size_t length, struct annotate *a, struct code_file *file) {
    static struct elf_bytes bytes;
    const struct elf_recipe recipe = {.wide = true, .type = type, .machine = EM_X86_64};
    struct scratch_file scratch;
    bytes = (struct elf_bytes){.wide = true};
    build_elf(&bytes, &recipe);
    scratch_make(&scratch);
    scratch_write(&scratch, bytes.at, length < bytes.length ? length : bytes.length);
    const enum symbol_result result = core_file_open(a, scratch.path, file);
    scratch_remove(&scratch);
    return result;
}

TEST(annotate_core_is_read_by_segment) {
    struct memory memory;
    struct annotate a = {.memory = &memory};
    struct code_file file;
    uint8_t *bytes;
    uint64_t address, left;
    memory_init(&memory, NULL, 0);
    assert_int_equal(open_core(ET_CORE, SIZE_MAX, &a, &file), SYMBOL_FOUND);
    assert_true(file.is_core);
    assert_true(code_file_address(&file, BUILT_TEXT_OFFSET, &address, &left));
    assert_int_equal(address, BUILT_TEXT_ADDRESS);
    assert_int_equal(code_file_read(&a, &file, BUILT_TEXT_OFFSET, 16, &bytes), SYMBOL_FOUND);
    mem_free(&memory, bytes, 16, 1);
    assert_int_equal(code_file_read(&a, &file, UINT64_MAX - 4, 16, &bytes), SYMBOL_DAMAGED);
    code_file_close(&file);
    assert_int_equal(memory.used, 0);
}

TEST(annotate_core_of_another_kind_is_refused) {
    struct memory memory;
    struct annotate a = {.memory = &memory};
    struct code_file file;
    memory_init(&memory, NULL, 0);
    assert_int_equal(open_core(ET_EXEC, SIZE_MAX, &a, &file), SYMBOL_NOT_ELF);
    assert_int_equal(open_core(ET_CORE, 10, &a, &file), SYMBOL_NOT_ELF);
    assert_int_equal(core_file_open(&a, "/", &file), SYMBOL_NOT_REGULAR);
    assert_int_equal(file.fd, -1);
    code_file_close(&file);
    assert_int_equal(memory.used, 0);
}
