/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ELF_SYMBOLS_H
#define PFR_SYMBOL_ELF_SYMBOLS_H
/* What other files use of elf_symbols.c, which says how it works. */
#include "symbol/elf/elf_names.h"

void elf_names_init(struct elf_names *names, struct memory *memory);
void elf_names_free(struct elf_names *names);

/* Reads the tables of one more file. FOUND, also when there are none; LIMIT, NO_MEMORY, IO. */
enum symbol_result elf_names_read(struct elf_names *names, const struct elf_object *object);

/* Reads one table of symbols with its names; `table` is empty when there is none. FOUND, LIMIT, NO_MEMORY, IO. */
enum symbol_result elf_symbols_read(const struct elf_object *object, const struct elf_section *section,
                                    struct memory *memory, struct elf_symbols *table);

/* The same without names and long indices. */
enum symbol_result elf_symbols_read_bare(const struct elf_object *object, const struct elf_section *section,
                                         struct memory *memory, struct elf_symbols *table);
void elf_symbols_free(struct elf_symbols *table, struct memory *memory);

/* How many symbols all tables have. */
uint64_t elf_names_count(const struct elf_names *names);

/* Puts those that name something into the groups, which must have room for all. False: there are none. */
bool elf_names_add(struct elf_names *names);

/* Where a symbol that was put into the groups begins, and its size. */
void elf_names_extent(const struct elf_names *names, uint32_t number, uint64_t *start, uint64_t *size);

/* A symbol into the table of its group. FOUND, LIMIT, NO_MEMORY, IO. */
enum symbol_result elf_names_put(const struct elf_names *names, uint32_t number, struct symbol_table *table);

#endif
