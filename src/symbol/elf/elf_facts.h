/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ELF_FACTS_H
#define PFR_SYMBOL_ELF_FACTS_H
/*
 * Determines the contents of an ELF file from headers and notes, to explain why addresses have no names, and which file
 * would provide the names.
 *
 *  struct elf_facts facts;
 *  if (elf_look(&object, memory, &facts) == SYMBOL_FOUND && !facts.has_symtab)
 *      ... it is stripped ...
 */
#include "symbol/elf/elf_object.h"

struct elf_facts {
    struct build_id id;
    bool has_code;       /* has instructions, unlike a separate debug file */
    bool has_symtab;     /* .symtab, not empty */
    bool has_debug_info; /* .debug_info, whether compressed or not */
};

/* FOUND, or a result of opening the object. After OTHER_BUILD, facts->id is set if the file has a build-id. */
enum symbol_result elf_look(const struct symbol_object *object, struct memory *memory, struct elf_facts *facts);

#endif
