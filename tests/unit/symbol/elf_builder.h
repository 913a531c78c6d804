/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_ELF_BUILDER_H
#define PFR_TESTS_ELF_BUILDER_H
/*
 * Builds the bytes of a small ELF object, of either class and byte order, field by field in the order of elf(5). The
 * object has one executable segment (file offset 0x100 at address 0x401100), a build-id note and these sections:
 *
 *     0 null   1 .text   2 .note.gnu.build-id   3 .symtab or .dynsym   4 .strtab   5 .shstrtab   6 .data
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <elf.h>
#include "test.h"

struct built_symbol {
    const char *name;
    uint64_t value, size;
    uint8_t info;     /* ELF64_ST_INFO(binding, type) */
    uint16_t section; /* index of the symbol's section; 0: undefined */
    uint8_t visibility;
};

struct elf_recipe {
    bool wide, big;
    uint16_t type, machine;
    uint32_t symbol_section_type; /* SHT_SYMTAB, SHT_DYNSYM; SHT_NULL: no symbols */
    bool has_build_id;
    const struct built_symbol *symbols;
    size_t symbol_count;
};

struct elf_bytes {
    uint8_t at[8192];
    size_t length;
    bool wide, big;
};

#define BUILT_TEXT_OFFSET 0x100u
#define BUILT_TEXT_SIZE 0x200u
#define BUILT_TEXT_ADDRESS 0x401100u
#define BUILT_ID_SIZE 20u

static inline void put_number(struct elf_bytes *out, uint64_t value, size_t size) {
    assert_true(out->length + size <= sizeof out->at);
    for (size_t i = 0; i < size; i++)
        out->at[out->length + i] = (uint8_t)(value >> 8 * (out->big ? size - 1 - i : i));
    out->length += size;
}

static inline void put_word(struct elf_bytes *out, uint64_t value) {
    put_number(out, value, out->wide ? 8 : 4);
}

static inline void put_zeros_to(struct elf_bytes *out, size_t length) {
    assert_true(out->length <= length && length <= sizeof out->at);
    memset(out->at + out->length, 0, length - out->length);
    out->length = length;
}

static inline void put_raw(struct elf_bytes *out, const void *bytes, size_t length) {
    assert_true(out->length + length <= sizeof out->at);
    memcpy(out->at + out->length, bytes, length);
    out->length += length;
}

static inline void put_header(struct elf_bytes *out, const struct elf_recipe *recipe, uint64_t section_table) {
    const uint8_t ident[16] = {0x7f, 'E', 'L', 'F', recipe->wide ? 2 : 1, recipe->big ? 2 : 1, 1};
    put_raw(out, ident, sizeof ident);
    put_number(out, recipe->type, 2);
    put_number(out, recipe->machine, 2);
    put_number(out, 1, 4);                      /* e_version */
    put_word(out, 0);                           /* e_entry */
    put_word(out, recipe->wide ? 64 : 52);      /* e_phoff */
    put_word(out, section_table);               /* e_shoff */
    put_number(out, 0, 4);                      /* e_flags */
    put_number(out, recipe->wide ? 64 : 52, 2); /* e_ehsize */
    put_number(out, recipe->wide ? 56 : 32, 2); /* e_phentsize */
    put_number(out, 2, 2);                      /* e_phnum */
    put_number(out, recipe->wide ? 64 : 40, 2); /* e_shentsize */
    put_number(out, section_table ? 7 : 0, 2);  /* e_shnum */
    put_number(out, section_table ? 5 : 0, 2);  /* e_shstrndx */
}

static inline void put_segment(struct elf_bytes *out, uint32_t type, uint32_t flags, uint64_t offset, uint64_t address,
                               uint64_t size, uint64_t align) {
    put_number(out, type, 4);
    if (out->wide)
        put_number(out, flags, 4);
    put_word(out, offset);
    put_word(out, address);
    put_word(out, address);
    put_word(out, size);
    put_word(out, size);
    if (!out->wide)
        put_number(out, flags, 4);
    put_word(out, align);
}

static inline void put_note(struct elf_bytes *out) {
    put_number(out, 4, 4);
    put_number(out, BUILT_ID_SIZE, 4);
    put_number(out, 3, 4);
    put_raw(out, "GNU", 4);
    for (uint8_t i = 0; i < BUILT_ID_SIZE; i++)
        put_number(out, i + 1u, 1);
}

static inline void put_symbol(struct elf_bytes *out, const struct built_symbol *symbol, uint32_t name) {
    put_number(out, name, 4);
    if (!out->wide) {
        put_number(out, symbol->value, 4);
        put_number(out, symbol->size, 4);
    }
    put_number(out, symbol->info, 1);
    put_number(out, symbol->visibility, 1);
    put_number(out, symbol->section, 2);
    if (out->wide) {
        put_number(out, symbol->value, 8);
        put_number(out, symbol->size, 8);
    }
}

struct section_recipe {
    uint32_t name, type;
    uint64_t flags, address, offset, size, entry_size;
    uint32_t link;
};

static inline void put_section(struct elf_bytes *out, const struct section_recipe *section) {
    put_number(out, section->name, 4);
    put_number(out, section->type, 4);
    put_word(out, section->flags);
    put_word(out, section->address);
    put_word(out, section->offset);
    put_word(out, section->size);
    put_number(out, section->link, 4);
    put_number(out, 0, 4); /* sh_info */
    put_word(out, 4);      /* sh_addralign */
    put_word(out, section->entry_size);
}

/* Adds the symbols, then their names; sets the offsets of both. */
static inline void put_symbols(struct elf_bytes *out, const struct elf_recipe *recipe, size_t *table, size_t *names) {
    static const struct built_symbol null_symbol = {"", 0, 0, 0, 0, 0};
    *table = out->length;
    put_symbol(out, &null_symbol, 0);
    uint32_t name = 1;
    for (size_t i = 0; i < recipe->symbol_count; i++) {
        put_symbol(out, &recipe->symbols[i], name);
        name += (uint32_t)strlen(recipe->symbols[i].name) + 1;
    }
    *names = out->length;
    put_number(out, 0, 1);
    for (size_t i = 0; i < recipe->symbol_count; i++)
        put_raw(out, recipe->symbols[i].name, strlen(recipe->symbols[i].name) + 1);
}

static inline void put_sections(struct elf_bytes *out, const struct elf_recipe *recipe, size_t table, size_t names,
                                size_t section_names) {
    const struct section_recipe sections[] = {
        {0},
        {1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, recipe->type == ET_REL ? 0 : BUILT_TEXT_ADDRESS, BUILT_TEXT_OFFSET,
         BUILT_TEXT_SIZE, 0, 0},
        {7, recipe->has_build_id ? SHT_NOTE : SHT_PROGBITS, SHF_ALLOC, 0, 0xc0, 36, 0, 0},
        {26, recipe->symbol_section_type, 0, 0, table, names - table, recipe->wide ? 24 : 16, 4},
        {26, SHT_STRTAB, 0, 0, names, section_names - names, 0, 0},
        {26, SHT_STRTAB, 0, 0, section_names, 40, 0, 0},
        {34, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x500000, 0x100, 0x10, 0, 0},
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        put_section(out, &sections[i]);
}

static inline void build_once(struct elf_bytes *out, const struct elf_recipe *recipe, uint64_t section_table) {
    static const char section_names[40] = "\0.text\0.note.gnu.build-id\0.names\0\0.data";
    size_t table, names;
    *out = (struct elf_bytes){.wide = recipe->wide, .big = recipe->big};
    put_header(out, recipe, section_table);
    put_segment(out, PT_LOAD, PF_R | PF_X, BUILT_TEXT_OFFSET, BUILT_TEXT_ADDRESS, BUILT_TEXT_SIZE, 0x1000);
    put_segment(out, recipe->has_build_id ? PT_NOTE : PT_NULL, PF_R, 0xc0, 0, 36, 4);
    put_zeros_to(out, 0xc0);
    put_note(out);
    put_zeros_to(out, BUILT_TEXT_OFFSET + BUILT_TEXT_SIZE);
    put_symbols(out, recipe, &table, &names);
    const size_t names_at = out->length;
    put_raw(out, section_names, sizeof section_names);
    put_zeros_to(out, (out->length + 7) / 8 * 8);
    if (section_table)
        assert_int_equal(out->length, section_table);
    const size_t sections_at = out->length;
    put_sections(out, recipe, table, names, names_at);
    if (!section_table)
        build_once(out, recipe, sections_at);
}

static inline void build_elf(struct elf_bytes *out, const struct elf_recipe *recipe) {
    build_once(out, recipe, 0);
}

#endif
