/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DWARF_SCOPES_H
#define PFR_SYMBOL_DWARF_SCOPES_H
/*
 * The functions of one unit and what was inlined into them, out of one walk over its entries: which of them an address
 * is in, by bisection, and what each is inside of.
 */
#include "symbol/dwarf/dwarf_names.h"

#define SCOPE_NONE UINT32_MAX

struct dwarf_scope {
    uint64_t entry;      /* offset in .debug_info */
    const char *name;    /* once `is_named`; may be NULL */
    uint32_t parent;     /* what it was inlined into; SCOPE_NONE: nothing, or that is not known */
    uint32_t file, line; /* of the call that was inlined */
    bool is_inlined, is_named;
};

struct dwarf_scopes {
    struct dwarf_scope *at; /* parents before children */
    size_t count, room;
    struct range_map map; /* address -> the innermost scope */
};

/* FOUND; what is damaged ends the walk and keeps what came before. LIMIT, NO_MEMORY. Free it after every outcome. */
enum symbol_result dwarf_scopes_read(struct dwarf_scopes *scopes, struct dwarf_info *info,
                                     const struct info_unit *unit);
void dwarf_scopes_free(struct dwarf_scopes *scopes, struct memory *memory);

/* Its name for linkers where it has one, looked up once; NULL in *name: it has none. FOUND, LIMIT, NO_MEMORY. */
enum symbol_result dwarf_scope_name(struct dwarf_scope *scope, struct dwarf_names *names, struct dwarf_info *info,
                                    const char **name);

#endif
