/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ELF_SYMBOLS_H
#define PFR_SYMBOL_ELF_SYMBOLS_H
/* Symbols of ELF objects: see elf_symbols.c. */
#include "symbol/elf/elf_names.h"

void elf_names_init(struct elf_names *names, struct memory *memory);
void elf_names_free(struct elf_names *names);

/* Reads the symbol tables of one more file. FOUND, even if the file has no tables; LIMIT, NO_MEMORY, IO. */
enum symbol_result elf_names_read(struct elf_names *names, const struct elf_object *object);

/* Reads one symbol table with its names; `table` is empty if there is no section. FOUND, LIMIT, NO_MEMORY, IO. */
enum symbol_result elf_symbols_read(const struct elf_object *object, const struct elf_section *section,
                                    struct memory *memory, struct elf_symbols *table);

/* Like elf_symbols_read, but without names and SHT_SYMTAB_SHNDX. */
enum symbol_result elf_symbols_read_bare(const struct elf_object *object, const struct elf_section *section,
                                         struct memory *memory, struct elf_symbols *table);
void elf_symbols_free(struct elf_symbols *table, struct memory *memory);

/* Number of symbols in all tables. */
uint64_t elf_names_count(const struct elf_names *names);

/* Adds the selected symbols to the groups, which must have room for all symbols. False: no symbol was selected. */
bool elf_names_add(struct elf_names *names);

/* Start and size of a symbol that was added to the groups. */
void elf_names_extent(const struct elf_names *names, uint32_t number, uint64_t *start, uint64_t *size);

/* Adds a symbol to the table of its group. FOUND, LIMIT, NO_MEMORY, IO. */
enum symbol_result elf_names_put(const struct elf_names *names, uint32_t number, struct symbol_table *table);

#endif
