/* SPDX-License-Identifier: Apache-2.0 */
/* Headers, tables and notes of ELF files of each class and byte order (elf(5)): counts in section 0, missing tables,
 * several notes, and files that change. */
#include "elf_builder.h"
#include "scratch_file.h"
#include "base/failing_alloc.h"
#include "symbol/elf/elf_symbols.h"

#include <fcntl.h>

static const struct built_symbol sample[] = {
    {"one", BUILT_TEXT_ADDRESS, 0x10, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, 0},
    {"two", BUILT_TEXT_ADDRESS + 0x10, 0x10, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, 0},
};

struct opened {
    struct scratch_file scratch;
    struct elf_bytes bytes;
    struct memory memory;
    struct elf_object object;
    int fd;
};

static void build(struct opened *o, int variant) {
    const struct elf_recipe recipe = {.wide = variant & 1,
                                      .big = variant & 2,
                                      .type = ET_DYN,
                                      .machine = variant & 1 ? EM_X86_64 : EM_386,
                                      .symbol_section_type = SHT_SYMTAB,
                                      .has_build_id = true,
                                      .symbols = sample,
                                      .symbol_count = 2};
    build_elf(&o->bytes, &recipe);
    scratch_make(&o->scratch);
}

static enum symbol_result start(struct opened *o) {
    scratch_write(&o->scratch, o->bytes.at, o->bytes.length);
    memory_init(&o->memory, NULL, 0);
    o->fd = open(o->scratch.path, O_RDWR | O_CLOEXEC);
    assert_true(o->fd >= 0);
    return elf_object_start(&o->object, o->fd, o->bytes.length, &o->memory);
}

static void end(struct opened *o) {
    elf_object_end(&o->object);
    assert_int_equal(o->memory.used, 0);
    close(o->fd);
}

/* A field of the file: offset and size in class 32 and in class 64. */
struct spot {
    size_t narrow_at, narrow_size, wide_at, wide_size;
};

static const struct spot sections_at = {32, 4, 40, 8}, section_size = {46, 2, 58, 2}, section_count = {48, 2, 60, 2},
                         names_section = {50, 2, 62, 2}, segment_count = {44, 2, 56, 2}, segment_size = {42, 2, 54, 2};
static const struct spot type_of = {4, 4, 4, 4}, offset_of = {16, 4, 24, 8}, size_of = {20, 4, 32, 8},
                         link_of = {24, 4, 40, 4}, info_of = {28, 4, 44, 4}, align_of = {32, 4, 48, 8};

static void put_at(struct elf_bytes *bytes, size_t at, size_t size, uint64_t value) {
    for (size_t i = 0; i < size; i++)
        bytes->at[at + i] = (uint8_t)(value >> 8 * (bytes->big ? size - 1 - i : i));
}

static uint64_t number_at(const struct elf_bytes *bytes, size_t at, size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)bytes->at[at + i] << 8 * (bytes->big ? size - 1 - i : i);
    return value;
}

static void put_spot(struct elf_bytes *bytes, size_t base, struct spot spot, uint64_t value) {
    put_at(bytes, base + (bytes->wide ? spot.wide_at : spot.narrow_at), bytes->wide ? spot.wide_size : spot.narrow_size,
           value);
}

static size_t section_at(const struct elf_bytes *bytes, size_t index) {
    const size_t table = bytes->wide ? number_at(bytes, 40, 8) : number_at(bytes, 32, 4);
    return table + index * (bytes->wide ? 64 : 40);
}

TEST(elf_object_reads_headers_of_both_classes_and_orders) {
    for (int variant = 0; variant < 4; variant++) {
        struct opened o;
        build(&o, variant);
        assert_result_is(start(&o), SYMBOL_FOUND);
        assert_int_equal(o.object.section_count, 7);
        assert_int_equal(o.object.segment_count, 2);
        assert_int_equal(o.object.header.machine, variant & 1 ? EM_X86_64 : EM_386);
        assert_int_equal(o.object.segments[0].address, BUILT_TEXT_ADDRESS);
        assert_int_equal(o.object.segments[0].flags, PF_R | PF_X);
        assert_int_equal(o.object.segments[0].size, BUILT_TEXT_SIZE);
        const struct elf_section *text = elf_section_named(&o.object, ".text");
        assert_non_null(text);
        assert_int_equal(text->address, BUILT_TEXT_ADDRESS);
        assert_int_equal(text->offset, BUILT_TEXT_OFFSET);
        assert_int_equal(text->flags, SHF_ALLOC | SHF_EXECINSTR);
        assert_string_equal(elf_section_name(&o.object, &o.object.sections[6]), ".data");
        assert_null(elf_section_named(&o.object, ".nothing"));
        assert_ptr_equal(elf_section_of_type(&o.object, SHT_SYMTAB), &o.object.sections[3]);
        end(&o);
        scratch_remove(&o.scratch);
    }
}

TEST(elf_object_finds_counts_in_section_zero) {
    for (int variant = 0; variant < 4; variant++) {
        struct opened o;
        build(&o, variant);
        const size_t first = section_at(&o.bytes, 0);
        put_spot(&o.bytes, 0, section_count, 0);
        put_spot(&o.bytes, 0, names_section, SHN_XINDEX);
        put_spot(&o.bytes, 0, segment_count, PN_XNUM);
        put_spot(&o.bytes, first, size_of, 7);
        put_spot(&o.bytes, first, link_of, 5);
        put_spot(&o.bytes, first, info_of, 2);
        assert_result_is(start(&o), SYMBOL_FOUND);
        assert_int_equal(o.object.section_count, 7);
        assert_int_equal(o.object.segment_count, 2);
        assert_non_null(elf_section_named(&o.object, ".text"));
        end(&o);
        put_spot(&o.bytes, first, size_of, UINT64_C(1) << 30);
        assert_result_is(start(&o), SYMBOL_LIMIT);
        end(&o);
        put_spot(&o.bytes, first, size_of, 8); /* one more entry than the file has */
        assert_result_is(start(&o), SYMBOL_FOUND);
        assert_int_equal(o.object.section_count, 0);
        end(&o);
        scratch_remove(&o.scratch);
    }
}

/* Tables that have a wrong entry size, or are not completely in the file, are ignored. */
TEST(elf_object_takes_no_table_that_cannot_be) {
    for (int variant = 0; variant < 4; variant++) {
        struct opened o;
        build(&o, variant);
        put_spot(&o.bytes, 0, section_size, variant & 1 ? 63 : 41);
        put_spot(&o.bytes, 0, segment_size, 0);
        assert_result_is(start(&o), SYMBOL_FOUND);
        assert_int_equal(o.object.section_count + o.object.segment_count, 0);
        end(&o);
        scratch_remove(&o.scratch);
        build(&o, variant);
        put_spot(&o.bytes, 0, sections_at, variant & 1 ? UINT64_MAX - 8 : UINT32_MAX - 8);
        assert_result_is(start(&o), SYMBOL_FOUND);
        assert_int_equal(o.object.section_count, 0);
        assert_int_equal(o.object.segment_count, 2);
        end(&o);
        scratch_remove(&o.scratch);
    }
}

static enum symbol_result find_name(const struct opened *o, uint64_t address, const char *name) {
    const struct symbol_object asked = {.path = o->scratch.path};
    struct memory memory;
    struct symbol_handle *handle;
    memory_init(&memory, NULL, 0);
    const enum symbol_result result = elf_symbol_source.open(&asked, &memory, &handle);
    if (result == SYMBOL_FOUND)
        assert_string_equal(name_at(&elf_symbol_source, handle, address), name);
    elf_symbol_source.close(handle);
    return result;
}

/* The section index of the second symbol is in a separate table, which is in the bytes of .text. */
TEST(elf_symbols_find_long_indices_of_sections) {
    for (int variant = 0; variant < 4; variant++) {
        struct opened o;
        build(&o, variant);
        const bool wide = o.bytes.wide;
        const size_t symbols = section_at(&o.bytes, 3), indices = section_at(&o.bytes, 6);
        const size_t table = wide ? number_at(&o.bytes, symbols + 24, 8) : number_at(&o.bytes, symbols + 16, 4);
        put_at(&o.bytes, table + (wide ? 2 * 24 + 6 : 2 * 16 + 14), 2, SHN_XINDEX);
        assert_result_is(start(&o), SYMBOL_FOUND);
        end(&o);
        assert_result_is(find_name(&o, BUILT_TEXT_ADDRESS + 0x10, symbol_result_text(SYMBOL_NO_MATCH)), SYMBOL_FOUND);
        put_spot(&o.bytes, indices, type_of, SHT_SYMTAB_SHNDX);
        put_spot(&o.bytes, indices, offset_of, BUILT_TEXT_OFFSET);
        put_spot(&o.bytes, indices, size_of, 12);
        put_spot(&o.bytes, indices, link_of, 3);
        put_at(&o.bytes, BUILT_TEXT_OFFSET + 8, 4, 1);
        assert_result_is(start(&o), SYMBOL_FOUND);
        end(&o);
        assert_result_is(find_name(&o, BUILT_TEXT_ADDRESS + 0x10, "two"), SYMBOL_FOUND);
        scratch_remove(&o.scratch);
    }
}

static size_t put_note_at(struct elf_bytes *bytes, size_t at, uint32_t type, size_t size, size_t align, uint8_t fill) {
    put_at(bytes, at, 4, 4);
    put_at(bytes, at + 4, 4, size);
    put_at(bytes, at + 8, 4, type);
    memcpy(bytes->at + at + 12, "GNU", 4);
    memset(bytes->at + at + 16, fill, size);
    return at + (16 + size + align - 1) / align * align;
}

/* Notes aligned to 8, the first of which ends in the middle of a word; and the same notes aligned to 4. */
TEST(elf_notes_are_aligned_as_their_section) {
    for (int variant = 0; variant < 8; variant++) {
        const size_t align = variant & 4 ? 8 : 4;
        struct opened o;
        struct build_id id;
        build(&o, variant & 3);
        const size_t next = put_note_at(&o.bytes, BUILT_TEXT_OFFSET, 5, 12, align, 0xee);
        const size_t last = put_note_at(&o.bytes, next, NT_GNU_BUILD_ID, 20, align, 0xab);
        const size_t notes = section_at(&o.bytes, 2);
        put_spot(&o.bytes, notes, offset_of, BUILT_TEXT_OFFSET);
        put_spot(&o.bytes, notes, size_of, last - BUILT_TEXT_OFFSET);
        put_spot(&o.bytes, notes, align_of, align);
        assert_result_is(start(&o), SYMBOL_FOUND);
        elf_read_build_id(&o.object, &id);
        assert_int_equal(id.size, 20);
        assert_int_equal(id.bytes[0], 0xab);
        end(&o);
        scratch_remove(&o.scratch);
    }
}

/* A file that is truncated while it is open is an error, in any part. */
TEST(elf_object_of_a_file_that_shrinks) {
    for (size_t length = 0; length < 0x300; length += 7) {
        struct opened o;
        struct elf_symbols symbols;
        build(&o, 1);
        assert_result_is(start(&o), SYMBOL_FOUND);
        assert_int_equal(ftruncate(o.fd, (off_t)length), 0);
        assert_result_is(elf_symbols_read(&o.object, &o.object.sections[3], &o.memory, &symbols), SYMBOL_IO);
        elf_symbols_free(&symbols, &o.memory);
        elf_object_end(&o.object);
        const enum symbol_result again = elf_object_start(&o.object, o.fd, o.bytes.length, &o.memory);
        assert_true(again == SYMBOL_NOT_ELF || again == SYMBOL_IO || o.object.section_count == 0);
        end(&o);
        scratch_remove(&o.scratch);
    }
}

TEST(elf_object_every_allocation_fails_once) {
    struct opened o;
    struct failing_alloc failing;
    build(&o, 3);
    assert_result_is(start(&o), SYMBOL_FOUND);
    elf_object_end(&o.object);
    for (long n = 1;; n++) {
        failing_alloc_begin(&failing, n);
        memory_init(&o.memory, &failing.alloc, 0);
        const enum symbol_result result = elf_object_start(&o.object, o.fd, o.bytes.length, &o.memory);
        elf_object_end(&o.object);
        assert_int_equal(failing.blocks, 0);
        assert_result_is(result, failing.has_failed ? SYMBOL_NO_MEMORY : SYMBOL_FOUND);
        if (!failing.has_failed)
            break;
    }
    close(o.fd);
    scratch_remove(&o.scratch);
}
