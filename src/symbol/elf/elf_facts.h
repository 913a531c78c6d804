/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ELF_FACTS_H
#define PFR_SYMBOL_ELF_FACTS_H
/*
 * Tells from headers and notes what an ELF file contains, to explain why addresses have no names, and which file would
 * provide them.
 *
 *  struct elf_facts facts;
 *  if (elf_look(&object, memory, &facts) == SYMBOL_FOUND && !facts.has_symtab)
 *      ... it is stripped ...
 */
#include "symbol/elf/elf_object.h"

struct elf_facts {
    struct build_id id;
    bool has_code;       /* has bytes of instructions, unlike a separate debug file */
    bool has_symtab;     /* .symtab, not empty */
    bool has_debug_info; /* .debug_info, compressed or not */
};

/* FOUND, else a result of opening the object. After OTHER_BUILD facts->id is set if the file has one. */
enum symbol_result elf_look(const struct symbol_object *object, struct memory *memory, struct elf_facts *facts);

#endif
