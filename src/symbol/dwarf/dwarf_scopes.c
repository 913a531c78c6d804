/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries are walked parents first, so among the entries that contain an address the last one is the innermost: its
 * rank is its position in the walk. A stack holds the parents. For an entry that is not a function, the children are in
 * the scope around the entry.
 */
#include "symbol/dwarf/dwarf_scopes.h"

#define DEPTH_MOST 4096u

struct scope_walk {
    struct dwarf_scopes *scopes;
    struct dwarf_info *info;
    const struct info_unit *unit;
    struct range_list ranges;
    uint32_t *inside; /* indexed by depth; the scope around the entries of that depth */
    size_t depth, room;
};

static bool is_function(const struct dwarf_entry *e) {
    return e->abbrev->tag == TAG_INLINED_SUBROUTINE || e->abbrev->tag == TAG_SUBPROGRAM;
}

static bool has_code(const struct dwarf_entry *e) {
    return e->low.is != VALUE_NONE || e->ranges.is != VALUE_NONE;
}

static uint32_t number_of(const struct dwarf_value *value) {
    return value->is == VALUE_NUMBER && value->number < UINT32_MAX ? (uint32_t)value->number : 0;
}

static enum symbol_result add_scope(struct scope_walk *w, const struct dwarf_entry *e, uint32_t *added) {
    struct dwarf_scopes *s = w->scopes;
    struct memory *memory = w->info->memory;
    const bool is_inlined = e->abbrev->tag == TAG_INLINED_SUBROUTINE;
    struct dwarf_scope *grown = mem_grow(memory, s->at, s->count, &s->room, 64, sizeof *grown);
    if (!grown)
        return table_memory_result(memory);
    s->at = grown;
    if (s->count >= SCOPE_NONE)
        return SYMBOL_LIMIT;
    *added = (uint32_t)s->count++;
    s->at[*added] = (struct dwarf_scope){.entry = e->offset,
                                         .parent = is_inlined ? w->inside[w->depth] : SCOPE_NONE,
                                         .file = number_of(&e->call_file),
                                         .line = number_of(&e->call_line),
                                         .is_inlined = is_inlined};
    return entry_ranges(w->info, w->unit, e, *added, *added, &w->ranges);
}

/* The scope of the children of an entry. */
static enum symbol_result scope_of(struct scope_walk *w, const struct dwarf_entry *e, uint32_t *scope) {
    *scope = w->inside[w->depth];
    if (!is_function(e))
        return SYMBOL_FOUND;
    if (!has_code(e) && !e->abbrev->children) /* neither the entry nor its children contain an address */
        return SYMBOL_FOUND;
    if (e->abbrev->tag == TAG_SUBPROGRAM && !has_code(e)) {
        *scope = SCOPE_NONE;
        return SYMBOL_FOUND;
    }
    return add_scope(w, e, scope);
}

static enum symbol_result descend(struct scope_walk *w, uint32_t scope) {
    uint32_t *grown = mem_grow(w->info->memory, w->inside, w->depth + 1, &w->room, 32, sizeof *grown);
    if (!grown)
        return table_memory_result(w->info->memory);
    w->inside = grown;
    w->inside[++w->depth] = scope;
    return SYMBOL_FOUND;
}

static enum symbol_result walk(struct scope_walk *w, struct entry_reader *r) {
    struct dwarf_entry e;
    uint32_t scope;
    enum symbol_result result = SYMBOL_FOUND;
    while (result == SYMBOL_FOUND && w->depth < DEPTH_MOST && entries_next(r, &e)) {
        if (!e.abbrev && w->depth == 0)
            break;
        if (!e.abbrev) {
            w->depth--;
            continue;
        }
        result = scope_of(w, &e, &scope);
        if (result == SYMBOL_FOUND && e.abbrev->children)
            result = descend(w, scope);
    }
    return result;
}

static enum symbol_result trim(struct dwarf_scopes *s, struct memory *memory) {
    struct dwarf_scope *trimmed = mem_trim(memory, s->at, s->count, &s->room, sizeof *trimmed);
    if (!trimmed)
        return table_memory_result(memory);
    s->at = trimmed;
    return SYMBOL_FOUND;
}

enum symbol_result dwarf_scopes_read(struct dwarf_scopes *scopes, struct dwarf_info *info,
                                     const struct info_unit *unit) {
    struct scope_walk w = {.scopes = scopes, .info = info, .unit = unit, .ranges.left = info->ranges.left};
    struct entry_reader r;
    *scopes = (struct dwarf_scopes){0};
    enum symbol_result result = entries_begin(info, unit, unit->unit.entries, &r);
    if (result != SYMBOL_FOUND)
        return result == SYMBOL_DAMAGED ? SYMBOL_FOUND : result;
    w.inside = mem_grow(info->memory, NULL, 0, &w.room, 32, sizeof *w.inside);
    if (!w.inside)
        return table_memory_result(info->memory);
    w.inside[0] = SCOPE_NONE;
    result = walk(&w, &r);
    info->ranges.left = w.ranges.left;
    if (result == SYMBOL_FOUND)
        result = ranges_flatten(&w.ranges, info->memory, &scopes->map);
    if (result == SYMBOL_FOUND && scopes->at)
        result = trim(scopes, info->memory);
    range_list_free(&w.ranges, info->memory);
    mem_free(info->memory, w.inside, w.room, sizeof *w.inside);
    return result;
}

void dwarf_scopes_free(struct dwarf_scopes *scopes, struct memory *memory) {
    mem_free(memory, scopes->at, scopes->room, sizeof *scopes->at);
    range_map_free(&scopes->map, memory);
    *scopes = (struct dwarf_scopes){0};
}

enum symbol_result dwarf_scope_name(struct dwarf_scope *scope, struct dwarf_names *names, struct dwarf_info *info,
                                    const char **name) {
    if (!scope->is_named) {
        const enum symbol_result result = entry_function(names, info, scope->entry, &scope->name);
        if (result != SYMBOL_FOUND)
            return result;
        scope->is_named = true;
    }
    *name = scope->name;
    return SYMBOL_FOUND;
}
