/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ELF_FLOOD_H
#define PFR_SYMBOL_ELF_FLOOD_H
/* Limit on the names in symbol tables: see elf_flood.c. */
#include "symbol/elf/elf_names.h"

/* Whether the names of all symbols, each counted separately, are many times as long as the table's text. Symbols may
   share bytes; in a crafted table, all symbols may have the same long name. False for names that are read on demand;
   lazy_names.h bounds these. */
bool elf_names_flood(const struct elf_symbols *table, struct elf_form form, const struct memory *memory);

#endif
