/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ELF_PLT_H
#define PFR_SYMBOL_ELF_PLT_H
/* Names of PLT entries: see elf_plt.c. */
#include "symbol/elf/elf_names.h"

/* Reads the relocations of .plt; entries are numbered after the symbols. */
enum symbol_result elf_stubs_read(struct elf_names *names, const struct elf_object *object);
void elf_stubs_free(struct elf_stubs *stubs, struct memory *memory);
void elf_stubs_add(struct elf_names *names);
void elf_stubs_extent(const struct elf_names *names, uint32_t number, uint64_t *start, uint64_t *size);
enum symbol_result elf_stubs_put(const struct elf_names *names, uint32_t number, struct symbol_table *table);

#endif
