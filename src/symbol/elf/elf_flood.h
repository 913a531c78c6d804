/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ELF_FLOOD_H
#define PFR_SYMBOL_ELF_FLOOD_H
/* What other files use of elf_flood.c, which says how it works. */
#include "symbol/elf/elf_names.h"

/* Whether the names of all symbols, each counted, are many times the bytes of names that the table has: symbols may
   share bytes, and those of a table made for it all have the same long one. False of names that are read late
   (lazy_names.h bounds those). In elf_flood.c. */
bool elf_names_flood(const struct elf_symbols *table, struct elf_form form, const struct memory *memory);

#endif
