/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ELF_FACTS_H
#define PFR_SYMBOL_ELF_FACTS_H
/*
 * What an ELF file has, by its headers and notes alone: for who asks why addresses have no names, and which file would
 * give them some.
 *
 *     struct elf_facts facts;
 *     if (elf_look(&object, memory, &facts) == SYMBOL_FOUND && !facts.has_symtab)
 *         ... it is stripped ...
 */
#include "symbol/elf/elf_object.h"

struct elf_facts {
    struct build_id id;
    bool has_code;       /* bytes of instructions: not only what was taken out of another file */
    bool has_symtab;     /* .symtab, with something in it */
    bool has_debug_info; /* .debug_info, however it is packed */
};

/* FOUND; else as opening the object gives, and facts->id is filled as far as the file has one (OTHER_BUILD). */
enum symbol_result elf_look(const struct symbol_object *object, struct memory *memory, struct elf_facts *facts);

#endif
