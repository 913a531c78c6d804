/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions, found with a bounded amount of work; see dwarf_names.h. */
#include "symbol/dwarf/dwarf_names.h"

#include <string.h>

#define ORIGINS_MOST 16u /* maximum steps along abstract origins */
#define FLOOD_TIMES 4u   /* the budget is this many times the bytes of the sections */
#define FLOOD_LEAST 64u  /* added to the budget: the memory limit of the object's lines divided by this */
#define ENTRY_BYTES 32u  /* cost of an entry in addition to its bytes */

void dwarf_names_init(struct dwarf_names *n, struct memory *memory) {
    *n = (struct dwarf_names){.memory = memory, .left = memory->limit / FLOOD_LEAST};
    u64_map_init(&n->texts, memory);
    u64_map_init(&n->linkages, memory);
    u64_map_init(&n->plains, memory);
}

void dwarf_names_free(struct dwarf_names *n) {
    if (!n->memory)
        return;
    u64_map_free(&n->texts);
    u64_map_free(&n->linkages);
    u64_map_free(&n->plains);
    n->memory = NULL;
}

void dwarf_names_add(struct dwarf_names *n, const struct debug_sections *sections) {
    static const enum debug_section read[] = {DEBUG_INFO, DEBUG_STR, DEBUG_LINE_STR};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        n->left += FLOOD_TIMES * (uint64_t)sections->at[read[i]].size;
}

static bool may_read(struct dwarf_names *n, uint64_t bytes) {
    n->is_cut = n->is_cut || bytes > n->left;
    n->left -= bytes > n->left ? 0 : bytes;
    return !n->is_cut;
}

/* Sets *text, NULL if there is no text. FOUND, LIMIT or NO_MEMORY. */
static enum symbol_result read_text(struct dwarf_names *n, const struct text_place *place, const char **text) {
    uint64_t ends;
    *text = NULL;
    if (!u64_map_get(&n->texts, (uintptr_t)place->at, &ends)) {
        const size_t length = strnlen(place->at, place->room);
        ends = length < place->room;
        if (!may_read(n, length))
            return SYMBOL_FOUND;
        if (u64_map_put(&n->texts, (uintptr_t)place->at, ends, NULL) != PFR_OK)
            return table_memory_result(n->memory);
    }
    *text = ends ? place->at : NULL;
    return SYMBOL_FOUND;
}

static enum symbol_result text_of(struct dwarf_names *n, const struct dwarf_info *info, const struct info_unit *unit,
                                  const struct dwarf_value *value, const char **text) {
    struct text_place place;
    *text = value->is == VALUE_TEXT ? value->text : NULL;
    if (n->is_cut || value->is == VALUE_TEXT || !entry_text_place(info, unit, value, NAME_TEXT_MOST, &place))
        return SYMBOL_FOUND;
    return read_text(n, &place, text);
}

/* An entry; it may be the abstract origin of another entry. */
struct origin {
    struct dwarf_info *info;
    uint64_t offset;
};

static bool next_origin(struct dwarf_info *info, const struct dwarf_entry *e, struct origin *next) {
    const struct dwarf_value *value = e->origin.is == VALUE_NONE ? &e->specification : &e->origin;
    *next = (struct origin){value->is == VALUE_SHARED_ENTRY ? info->shared : info, value->number};
    return next->info && (value->is == VALUE_ENTRY || value->is == VALUE_SHARED_ENTRY);
}

/* Reads the names of one entry; *has_next: whether it refers to an origin. */
static enum symbol_result read_names(struct dwarf_names *n, const struct origin *at, const char **linkage,
                                     const char **plain, struct origin *next, bool *has_next) {
    struct entry_reader r;
    struct dwarf_entry e;
    const struct info_unit *unit = dwarf_info_unit(at->info, at->offset);
    enum symbol_result result = unit ? entries_begin(at->info, unit, at->offset, &r) : SYMBOL_DAMAGED;
    *linkage = *plain = NULL;
    *has_next = false;
    if (result == SYMBOL_LIMIT || result == SYMBOL_NO_MEMORY)
        return result;
    if (result != SYMBOL_FOUND || !entries_next(&r, &e) || !e.abbrev)
        return SYMBOL_FOUND;
    if (!may_read(n, cursor_offset(&r.in) - at->offset + ENTRY_BYTES))
        return SYMBOL_FOUND;
    result = text_of(n, at->info, unit, &e.linkage, linkage);
    if (result == SYMBOL_FOUND)
        result = text_of(n, at->info, unit, &e.name, plain);
    *has_next = next_origin(at->info, &e, next);
    return result;
}

/* Follows origins up to the first linkage name; also returns the first plain name. */
static enum symbol_result follow(struct dwarf_names *n, struct origin at, const char **linkage, const char **plain) {
    const char *first = NULL;
    bool has_next = true;
    enum symbol_result result = SYMBOL_FOUND;
    *linkage = NULL;
    for (unsigned step = 1; result == SYMBOL_FOUND && has_next && !*linkage && step < ORIGINS_MOST; step++) {
        result = read_names(n, &at, linkage, plain, &at, &has_next);
        first = first ? first : *plain;
    }
    *plain = first;
    return result;
}

static enum symbol_result origin_names(struct dwarf_names *n, struct origin at, const char **linkage,
                                       const char **plain) {
    const uint64_t key = (uintptr_t)at.info->sections->at[DEBUG_INFO].bytes + at.offset;
    uint64_t kept[2];
    if (u64_map_get(&n->linkages, key, &kept[0]) && u64_map_get(&n->plains, key, &kept[1])) {
        *linkage = (const char *)(uintptr_t)kept[0];
        *plain = (const char *)(uintptr_t)kept[1];
        return SYMBOL_FOUND;
    }
    const enum symbol_result result = follow(n, at, linkage, plain);
    if (result == SYMBOL_FOUND && (u64_map_put(&n->linkages, key, (uintptr_t)*linkage, NULL) != PFR_OK ||
                                   u64_map_put(&n->plains, key, (uintptr_t)*plain, NULL) != PFR_OK))
        return table_memory_result(n->memory);
    return result;
}

enum symbol_result entry_function(struct dwarf_names *n, struct dwarf_info *info, uint64_t offset, const char **name) {
    const char *plain, *other = NULL;
    struct origin own = {info, offset}, next;
    bool has_next;
    enum symbol_result result = read_names(n, &own, name, &plain, &next, &has_next);
    if (result == SYMBOL_FOUND && !*name && has_next)
        result = origin_names(n, next, name, &other);
    if (!*name)
        *name = plain ? plain : other;
    return result;
}
