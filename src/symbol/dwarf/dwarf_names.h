/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DWARF_NAMES_H
#define PFR_SYMBOL_DWARF_NAMES_H
/*
 * What the functions of entries are called. Entries of one function have one text, and inlined ones are made from one
 * entry: each text and each such entry is read once. Damaged or hostile objects have entries and texts that overlap, so
 * that reading each costs their number times their length: beyond a few times the bytes of the sections functions have
 * no names, and `is_cut` is set.
 */
#include "symbol/dwarf/dwarf_info.h"

struct dwarf_names {
    struct memory *memory;
    struct u64_map texts;            /* where a text begins -> 1: it ends, 0: it does not */
    struct u64_map linkages, plains; /* where an entry begins that others are made from -> its function's name, or 0 */
    uint64_t left;                   /* bytes of texts and entries that may still be read */
    bool is_cut;
};

/* Takes no memory yet. */
void dwarf_names_init(struct dwarf_names *names, struct memory *memory);
void dwarf_names_free(struct dwarf_names *names);

/* Names may be read out of these sections, too. */
void dwarf_names_add(struct dwarf_names *names, const struct debug_sections *sections);

/* What the function of an entry is called, for linkers where that is known: its own name, or that of what it was made
   from. name is NULL where there is none. FOUND, LIMIT, NO_MEMORY. */
enum symbol_result entry_function(struct dwarf_names *names, struct dwarf_info *info, uint64_t offset,
                                  const char **name);

#endif
