/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ELF_NAMES_H
#define PFR_SYMBOL_ELF_NAMES_H
/*
 * Names of an ELF object: its symbol tables as they are in the file. Each symbol and each PLT entry has a number.
 * Lookup tables for groups of symbols are made when an address is first looked up (symbol_groups.h).
 *
 *  numbers    0 ...        .symtab   .dynsym   .symtab and .dynsym of the packed object   PLT entries
 *
 * elf_symbols.c selects the symbols, elf_plt.c names PLT entries, elf_source.c combines the two.
 */
#include "symbol/elf/elf_object.h"
#include "symbol/elf/lazy_names.h"
#include "symbol/elf/symbol_groups.h"

#define ELF_TABLES 2u /* .symtab and .dynsym */
#define ELF_PARTS 2u  /* the object itself, and the compressed one inside it (debug_link.h) */

/* A symbol table. */
struct elf_symbols {
    uint8_t *bytes;         /* `count` entries */
    uint8_t *long_indices;  /* SHT_SYMTAB_SHNDX, 4 bytes per symbol; NULL: the object has no such section */
    char *text;             /* the names */
    struct late_text *late; /* names that are read on demand, if there are very many; NULL: all are in `text` */
    size_t count, size, long_size, text_size, text_room;
    uint32_t first;   /* number of the table's first symbol */
    uint32_t section; /* index in the object */
};

/* Properties of a section that determine how its symbols are used. */
struct named_section {
    bool is_placed;  /* the section has an address in memory; in relocatable objects only code has one */
    bool has_labels; /* the name contains "text" or "data": symbols without a type count as names */
    uint64_t base;
};

/* A file with symbols: the object, or the compressed object inside it. */
struct elf_part {
    struct elf_symbols tables[ELF_TABLES];
    struct named_section *sections;
    size_t section_count;
    uint64_t low, high;   /* address range of its code */
    uint8_t *descriptors; /* .opd of 64-bit PowerPC (ELFv1) */
    uint64_t descriptors_size, descriptors_address;
    size_t descriptors_section;
    struct elf_form form;
    uint16_t machine;
};

/* The PLT entries of an object; the n-th entry belongs to the n-th relocation. */
struct elf_stubs {
    uint8_t *relocations;
    uint64_t count, size; /* number of entries; bytes of relocations */
    uint64_t address, each;
    struct elf_symbols own; /* symbol table with the names of PLT entries, if the object's parts do not contain it */
    const struct elf_symbols *symbols; /* NULL: they have no names */
    uint32_t first;
    bool has_addends;
};

struct elf_names {
    struct memory *memory;
    struct elf_part parts[ELF_PARTS];
    size_t part_count;
    struct elf_stubs stubs;
    struct symbol_groups groups;
};

/* NULL: no such name. Not for tables whose names are read on demand. */
static inline const char *elf_symbols_name(const struct elf_symbols *table, uint32_t at) {
    return at < table->text_size ? table->text + at : NULL;
}

/* Like elf_symbols_name, but for any table. FOUND, LIMIT, NO_MEMORY, IO. */
static inline enum symbol_result elf_symbols_find_name(const struct elf_symbols *table, uint32_t at,
                                                       const char **name) {
    if (table->late)
        return late_text_at(table->late, at, name);
    *name = elf_symbols_name(table, at);
    return SYMBOL_FOUND;
}

#endif
