/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DWARF_SCOPES_H
#define PFR_SYMBOL_DWARF_SCOPES_H
/*
 * Functions of one unit and the calls inlined into them, found in one walk over its entries. A binary search finds the
 * innermost function of an address; `parent` leads to the functions around it.
 */
#include "symbol/dwarf/dwarf_names.h"

#define SCOPE_NONE UINT32_MAX

struct dwarf_scope {
    uint64_t entry;      /* offset in .debug_info */
    const char *name;    /* valid if `is_named`; may be NULL */
    uint32_t parent;     /* function it was inlined into; SCOPE_NONE: not inlined, or unknown */
    uint32_t file, line; /* position of the inlined call */
    bool is_inlined, is_named;
};

struct dwarf_scopes {
    struct dwarf_scope *at; /* parents before children */
    size_t count, room;
    struct range_map map; /* address -> the innermost scope */
};

/* FOUND; damage ends the walk, and earlier entries are kept. LIMIT, NO_MEMORY. Free the scopes after every outcome. */
enum symbol_result dwarf_scopes_read(struct dwarf_scopes *scopes, struct dwarf_info *info,
                                     const struct info_unit *unit);
void dwarf_scopes_free(struct dwarf_scopes *scopes, struct memory *memory);

/* Finds the name of a scope, mangled if known. The name is looked up only once; *name is NULL if there is no name.
   FOUND, LIMIT, NO_MEMORY. */
enum symbol_result dwarf_scope_name(struct dwarf_scope *scope, struct dwarf_names *names, struct dwarf_info *info,
                                    const char **name);

#endif
