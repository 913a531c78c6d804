/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ELF_NAMES_H
#define PFR_SYMBOL_ELF_NAMES_H
/*
 * The names that an ELF object has for addresses: its tables of symbols as they lie in the file, each symbol and each
 * stub a number, and what is made of them when an address is asked for (symbol_groups.h).
 *
 *     numbers    0 ...        .symtab   .dynsym   .symtab and .dynsym of the packed object   stubs of .plt
 *
 * Which symbols name something is said in elf_symbols.c, what stubs are called in elf_plt.c; elf_source.c puts it
 * together.
 */
#include "symbol/elf/elf_object.h"
#include "symbol/elf/lazy_names.h"
#include "symbol/elf/symbol_groups.h"

#define ELF_TABLES 2u /* .symtab and .dynsym */
#define ELF_PARTS 2u  /* the object, and one packed in it (debug_link.h) */

/* One table of symbols. */
struct elf_symbols {
    uint8_t *bytes;         /* `count` entries */
    uint8_t *long_indices;  /* of sections, 4 bytes for each symbol; NULL: there are none */
    char *text;             /* of the names */
    struct late_text *late; /* the same where there is very much of it; NULL: all is in `text` */
    size_t count, size, long_size, text_size, text_room;
    uint32_t first;   /* the number of its first symbol */
    uint32_t section; /* of the object */
};

/* What a symbol must know of its section. */
struct named_section {
    bool is_placed;  /* it has an address in memory; of a relocatable object code alone has */
    bool has_labels; /* its name holds "text" or "data": what has no type there is a name, too */
    uint64_t base;
};

/* What symbols of one file need. */
struct elf_part {
    struct elf_symbols tables[ELF_TABLES];
    struct named_section *sections;
    size_t section_count;
    uint64_t low, high;   /* of its code */
    uint8_t *descriptors; /* .opd of 64-bit PowerPC (ELFv1) */
    uint64_t descriptors_size, descriptors_address;
    size_t descriptors_section;
    struct elf_form form;
    uint16_t machine;
};

/* The stubs of .plt: the n-th is of the n-th relocation. */
struct elf_stubs {
    uint8_t *relocations;
    uint64_t count, size; /* of stubs; bytes of the relocations */
    uint64_t address, each;
    struct elf_symbols own;            /* what they are called by, where it is no table of the object's */
    const struct elf_symbols *symbols; /* NULL: nothing */
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

/* NULL: it has none. Not of tables that elf_names_read read. */
static inline const char *elf_symbols_name(const struct elf_symbols *table, uint32_t at) {
    return at < table->text_size ? table->text + at : NULL;
}

/* The same of any table. FOUND, LIMIT, NO_MEMORY, IO. */
static inline enum symbol_result elf_symbols_find_name(const struct elf_symbols *table, uint32_t at,
                                                       const char **name) {
    if (table->late)
        return late_text_at(table->late, at, name);
    *name = elf_symbols_name(table, at);
    return SYMBOL_FOUND;
}

#endif
