/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DWARF_NAMES_H
#define PFR_SYMBOL_DWARF_NAMES_H
/*
 * Names of the functions of entries. Entries of one function share a text, and all its inlined copies share an origin,
 * so each text and each origin is read once. In damaged or hostile objects, entries and texts may overlap, so that
 * reading all of them would cost their number times their length. The bytes read are therefore limited to a few times
 * the bytes of the sections; at the limit, functions get no more names, and `is_cut` is set.
 */
#include "symbol/dwarf/dwarf_info.h"

struct dwarf_names {
    struct memory *memory;
    struct u64_map texts;            /* start of a text -> 1: it has a NUL, 0: it has no NUL */
    struct u64_map linkages, plains; /* start of an origin -> name of its function, or 0 */
    uint64_t left;                   /* bytes of texts and entries that may still be read */
    bool is_cut;
};

/* Allocates nothing yet. */
void dwarf_names_init(struct dwarf_names *names, struct memory *memory);
void dwarf_names_free(struct dwarf_names *names);

/* Allows names to be read from these sections as well. */
void dwarf_names_add(struct dwarf_names *names, const struct debug_sections *sections);

/* Finds the name of an entry's function, mangled if known: its own name, or that of its origin. *name is NULL if there
   is no name. FOUND, LIMIT, NO_MEMORY. */
enum symbol_result entry_function(struct dwarf_names *names, struct dwarf_info *info, uint64_t offset,
                                  const char **name);

#endif
