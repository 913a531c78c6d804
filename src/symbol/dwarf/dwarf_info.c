/* SPDX-License-Identifier: Apache-2.0 */
/* Units and entries; see dwarf_info.h. */
#include "symbol/dwarf/dwarf_info.h"

#include "base/memory/fail.h"

#include <string.h>

#define RANGES_FREE 4096u

static struct dwarf_value *member_of(struct dwarf_entry *e, uint16_t name) {
    switch ((enum dwarf_attribute)name) {
    case AT_LOW_PC:
        return &e->low;
    case AT_HIGH_PC:
        return &e->high;
    case AT_RANGES:
        return &e->ranges;
    case AT_NAME:
        return &e->name;
    case AT_LINKAGE_NAME:
    case AT_MIPS_LINKAGE_NAME:
        return &e->linkage;
    case AT_ABSTRACT_ORIGIN:
        return &e->origin;
    case AT_SPECIFICATION:
        return &e->specification;
    case AT_CALL_FILE:
        return &e->call_file;
    case AT_CALL_LINE:
        return &e->call_line;
    case AT_SIBLING:
        return &e->sibling;
    case AT_STMT_LIST:
        return &e->lines;
    case AT_COMP_DIR:
        return &e->folder;
    case AT_DWO_NAME:
    case AT_GNU_DWO_NAME:
        return &e->split_name;
    case AT_GNU_DWO_ID:
        return &e->split_id;
    case AT_STR_OFFSETS_BASE:
        return &e->str_offsets;
    case AT_ADDR_BASE:
    case AT_GNU_ADDR_BASE:
        return &e->addresses;
    case AT_RNGLISTS_BASE:
    case AT_GNU_RANGES_BASE:
        return &e->range_lists;
    }
    return NULL;
}

static bool is_read(uint16_t tag) {
    return tag == TAG_SUBPROGRAM || tag == TAG_INLINED_SUBROUTINE || tag == TAG_COMPILE_UNIT ||
           tag == TAG_SKELETON_UNIT;
}

static bool read_values(struct entry_reader *r, struct dwarf_entry *e) {
    struct dwarf_value value;
    for (uint32_t i = 0; i < e->abbrev->count; i++) {
        const struct dwarf_attr *attr = &r->abbrevs.attrs[e->abbrev->first + i];
        if (!take_value(&r->in, &r->unit->unit.shape, attr, &value))
            return false;
        struct dwarf_value *to = member_of(e, attr->name);
        if (value.is == VALUE_UNIT_ENTRY)
            value = (struct dwarf_value){VALUE_ENTRY, value.number + r->unit->unit.offset, NULL};
        if (to)
            *to = value;
    }
    return true;
}

bool entries_next(struct entry_reader *r, struct dwarf_entry *e) {
    uint64_t code;
    const uint8_t *skipped;
    e->offset = cursor_offset(&r->in);
    e->abbrev = NULL;
    e->sibling.is = VALUE_NONE;
    if (!take_uleb(&r->in, &code))
        return false;
    if (code == 0)
        return true;
    e->abbrev = abbrevs_find(&r->abbrevs, code);
    if (!e->abbrev)
        return false;
    if (e->abbrev->fixed && !is_read(e->abbrev->tag))
        return take_bytes(&r->in, e->abbrev->size, &skipped);
    *e = (struct dwarf_entry){.offset = e->offset, .abbrev = e->abbrev};
    return read_values(r, e);
}

static enum symbol_result read_table(struct dwarf_info *info, uint64_t offset, const struct dwarf_shape *shape,
                                     uint64_t *number) {
    struct abbrevs_slot *grown =
        mem_grow(info->memory, info->tables, info->table_count, &info->table_room, 16, sizeof *grown);
    if (!grown)
        return table_memory_result(info->memory);
    info->tables = grown;
    struct abbrevs_slot *slot = &info->tables[info->table_count];
    struct section_bytes section = info->sections->at[DEBUG_ABBREV];
    if (offset < section.size && section.size - offset > info->abbrevs_left)
        section.size = offset + info->abbrevs_left;
    uint64_t taken;
    const enum symbol_result result =
        abbrevs_read(&slot->abbrevs, section, offset, info->sections->swap, shape, info->memory, &taken);
    info->abbrevs_left -= taken;
    if (result != SYMBOL_FOUND && result != SYMBOL_DAMAGED) {
        abbrevs_free(&slot->abbrevs, info->memory);
        return result;
    }
    slot->offset = offset;
    *number = ++info->table_count;
    return SYMBOL_FOUND;
}

static enum symbol_result find_table(struct dwarf_info *info, const struct dwarf_unit *unit,
                                     struct dwarf_abbrevs *abbrevs) {
    const struct dwarf_shape *shape = &unit->shape;
    const uint64_t key = unit->abbrevs << 8 | (shape->version == 2 ? 4u : 0u) | (shape->address_size == 8 ? 2u : 0u) |
                         (shape->offset_size == 8 ? 1u : 0u);
    uint64_t number = 0;
    if (!u64_map_get(&info->table_of, key, &number)) {
        const enum symbol_result result = read_table(info, unit->abbrevs, shape, &number);
        if (result != SYMBOL_FOUND)
            return result;
        if (u64_map_put(&info->table_of, key, number, NULL) != PFR_OK)
            return table_memory_result(info->memory);
    }
    *abbrevs = info->tables[number - 1].abbrevs;
    return SYMBOL_FOUND;
}

enum symbol_result entries_begin(struct dwarf_info *info, const struct info_unit *unit, uint64_t offset,
                                 struct entry_reader *r) {
    const uint8_t *const bytes = info->sections->at[DEBUG_INFO].bytes;
    *r = (struct entry_reader){.info = info, .unit = unit};
    if (unit->unit.entries == 0 || offset < unit->unit.entries || offset > unit->unit.end)
        return SYMBOL_DAMAGED;
    r->in = cursor_on(bytes + offset, unit->unit.end - offset, offset, info->sections->swap);
    return find_table(info, &unit->unit, &r->abbrevs);
}

bool entry_text_place(const struct dwarf_info *info, const struct info_unit *unit, const struct dwarf_value *value,
                      size_t most, struct text_place *place) {
    const struct section_bytes *at = info->sections->at;
    uint64_t offset = value->number;
    switch (value->is) {
    case VALUE_STR:
        return section_place(at[DEBUG_STR], offset, most, place);
    case VALUE_LINE_STR:
        return section_place(at[DEBUG_LINE_STR], offset, most, place);
    case VALUE_STRX:
        return section_number(info->sections, DEBUG_STR_OFFSETS, unit->str_offsets, value->number,
                              unit->unit.shape.offset_size, &offset) &&
               section_place(at[DEBUG_STR], offset, most, place);
    case VALUE_SHARED_STR:
        return info->shared && section_place(info->shared->sections->at[DEBUG_STR], offset, most, place);
    default:
        return false;
    }
}

/* The text of a folder or file. */
static const char *path_text(const struct dwarf_info *info, const struct info_unit *unit,
                             const struct dwarf_value *value) {
    struct text_place place;
    if (value->is == VALUE_TEXT)
        return value->text;
    return entry_text_place(info, unit, value, PATH_TEXT_MOST, &place) ? place_text(&place) : NULL;
}

static bool entry_address(const struct dwarf_info *info, const struct info_unit *unit, const struct dwarf_value *value,
                          uint64_t *address) {
    *address = value->number;
    if (value->is == VALUE_INDEX)
        return section_number(info->sections, DEBUG_ADDR, unit->addresses, value->number, unit->unit.shape.address_size,
                              address);
    return value->is == VALUE_ADDRESS;
}

/* Linkers give these addresses to code that they remove: the highest address, and in .debug_ranges also the highest
 * address minus 1. */
static bool is_nowhere(const struct info_unit *unit, uint64_t address) {
    const uint64_t highest = unit->unit.shape.address_size == 8 ? UINT64_MAX : UINT32_MAX;
    return address >= highest - 1;
}

struct range_reader {
    struct dwarf_info *info;
    const struct info_unit *unit;
    struct range_list *list;
    uint64_t base;
    uint32_t rank, value;
};

static enum symbol_result add(struct range_reader *r, uint64_t from, uint64_t end) {
    if (is_nowhere(r->unit, from) || is_nowhere(r->unit, end))
        return SYMBOL_FOUND;
    return range_add(r->list, r->info->memory, (struct address_range){from, end, r->rank, r->value});
}

/* Reads .debug_ranges: DWARF 4, 2.17.3. */
static enum symbol_result read_old_ranges(struct range_reader *r, uint64_t offset) {
    const struct section_bytes section = r->info->sections->at[DEBUG_RANGES];
    const unsigned size = r->unit->unit.shape.address_size;
    const uint64_t highest = size == 8 ? UINT64_MAX : UINT32_MAX;
    uint64_t from, end;
    enum symbol_result result = SYMBOL_FOUND;
    if (offset >= section.size)
        return SYMBOL_FOUND;
    struct cursor in = cursor_on(section.bytes + offset, section.size - offset, offset, r->info->sections->swap);
    while (result == SYMBOL_FOUND && take_sized(&in, size, &from) && take_sized(&in, size, &end) && (from || end)) {
        if (from == highest)
            r->base = end;
        else if (r->list->left == 0)
            return SYMBOL_LIMIT;
        else if (!is_nowhere(r->unit, from) && !is_nowhere(r->unit, r->base))
            result = add(r, r->base + from, r->base + end);
        r->list->left -= r->list->left > 0;
    }
    return result;
}

enum list_entry {
    END_OF_LIST,
    BASE_X,
    START_X_END_X,
    START_X_LENGTH,
    OFFSET_PAIR,
    BASE_ADDRESS,
    START_END,
    START_LENGTH
};

static bool take_list_address(struct range_reader *r, struct cursor *in, bool is_index, uint64_t *address) {
    const unsigned size = r->unit->unit.shape.address_size;
    uint64_t index;
    if (!is_index)
        return take_sized(in, size, address);
    return take_uleb(in, &index) &&
           section_number(r->info->sections, DEBUG_ADDR, r->unit->addresses, index, size, address);
}

/* Takes an entry of a range list. If from == end, the entry has no range, but sets the base. */
static bool take_list_range(struct range_reader *r, struct cursor *in, uint8_t kind, uint64_t *from, uint64_t *end) {
    *from = *end = 0;
    switch (kind) {
    case BASE_X:
    case BASE_ADDRESS:
        return take_list_address(r, in, kind == BASE_X, &r->base);
    case START_X_END_X:
    case START_END:
        return take_list_address(r, in, kind == START_X_END_X, from) &&
               take_list_address(r, in, kind == START_X_END_X, end);
    case START_X_LENGTH:
    case START_LENGTH:
        if (!take_list_address(r, in, kind == START_X_LENGTH, from) || !take_uleb(in, end))
            return false;
        *end += *from;
        return true;
    case OFFSET_PAIR:
        if (!take_uleb(in, from) || !take_uleb(in, end))
            return false;
        *from += r->base;
        *end += r->base;
        if (is_nowhere(r->unit, r->base))
            *end = *from;
        return true;
    default:
        return false;
    }
}

/* Reads .debug_rnglists: DWARF 5, 7.25. */
static enum symbol_result read_new_ranges(struct range_reader *r, uint64_t offset) {
    const struct section_bytes section = r->info->sections->at[DEBUG_RNGLISTS];
    uint8_t kind;
    uint64_t from, end;
    enum symbol_result result = SYMBOL_FOUND;
    if (offset >= section.size)
        return SYMBOL_FOUND;
    struct cursor in = cursor_on(section.bytes + offset, section.size - offset, offset, r->info->sections->swap);
    while (result == SYMBOL_FOUND && take_u8(&in, &kind) && kind != END_OF_LIST &&
           take_list_range(r, &in, kind, &from, &end)) {
        result = r->list->left ? add(r, from, end) : SYMBOL_LIMIT;
        r->list->left -= r->list->left > 0;
    }
    return result;
}

static enum symbol_result read_list(struct range_reader *r, const struct dwarf_value *value) {
    uint64_t offset = value->number;
    const uint64_t base = r->unit->range_lists;
    if (value->is == VALUE_LIST) {
        if (!section_number(r->info->sections, DEBUG_RNGLISTS, base, value->number, r->unit->unit.shape.offset_size,
                            &offset))
            return SYMBOL_FOUND;
        offset += base;
    } else
        offset += r->unit->range_offset;
    return r->unit->unit.shape.version >= 5 ? read_new_ranges(r, offset) : read_old_ranges(r, offset);
}

enum symbol_result entry_ranges(struct dwarf_info *info, const struct info_unit *unit, const struct dwarf_entry *e,
                                uint32_t rank, uint32_t value, struct range_list *list) {
    struct range_reader r = {info, unit, list, unit->low, rank, value};
    uint64_t from, end;
    if (e->ranges.is != VALUE_NONE)
        return read_list(&r, &e->ranges);
    if (!entry_address(info, unit, &e->low, &from) || e->high.is == VALUE_NONE)
        return SYMBOL_FOUND;
    if (!entry_address(info, unit, &e->high, &end))
        end = from + e->high.number;
    return add(&r, from, end);
}

const struct info_unit *dwarf_info_unit(const struct dwarf_info *info, uint64_t offset) {
    size_t low = 0, high = info->unit_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (info->units[middle].unit.end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < info->unit_count && info->units[low].unit.offset <= offset ? &info->units[low] : NULL;
}

static uint64_t base_of(const struct dwarf_value *value, uint64_t usual) {
    return value->is == VALUE_NUMBER ? value->number : usual;
}

/* Notes the attributes of a unit's first entry. Bases may follow the attributes that depend on them, so all bases are
   set first, and texts last. */
static void note_first_entry(struct dwarf_info *info, struct info_unit *u, const struct dwarf_entry *e) {
    const bool is_new = u->unit.shape.version >= 5;
    u->str_offsets = base_of(&e->str_offsets, is_new ? 2u * u->unit.shape.offset_size : 0);
    u->addresses = base_of(&e->addresses, is_new ? u->unit.shape.offset_size + 4u : 0);
    u->range_lists = base_of(&e->range_lists, is_new ? u->unit.shape.offset_size + 8u : 0);
    u->has_lines = e->lines.is == VALUE_NUMBER;
    u->lines = e->lines.number;
    if (!entry_address(info, u, &e->low, &u->low))
        u->low = 0;
    u->has_ranges = e->ranges.is != VALUE_NONE || e->high.is != VALUE_NONE;
    u->folder = path_text(info, u, &e->folder);
    u->split_name = path_text(info, u, &e->split_name);
    u->split_id = u->unit.type == UNIT_SKELETON ? u->unit.id : e->split_id.number;
}

static enum symbol_result read_first_entry(struct dwarf_info *info, struct info_unit *u, uint32_t number) {
    struct entry_reader r;
    struct dwarf_entry e;
    const enum symbol_result result = entries_begin(info, u, u->unit.entries, &r);
    if (result != SYMBOL_FOUND)
        return result;
    if (!entries_next(&r, &e) || !e.abbrev || !is_read(e.abbrev->tag))
        return SYMBOL_DAMAGED;
    note_first_entry(info, u, &e);
    return entry_ranges(info, u, &e, UINT32_MAX - number, number, &info->ranges);
}

static enum symbol_result add_unit(struct dwarf_info *info, const struct dwarf_unit *unit) {
    struct info_unit *grown =
        mem_grow(info->memory, info->units, info->unit_count, &info->unit_room, 64, sizeof *grown);
    if (!grown)
        return table_memory_result(info->memory);
    info->units = grown;
    struct info_unit *u = &info->units[info->unit_count];
    *u = (struct info_unit){.unit = *unit};
    const enum symbol_result result =
        unit->entries ? read_first_entry(info, u, (uint32_t)info->unit_count) : SYMBOL_DAMAGED;
    info->unit_count++;
    return result == SYMBOL_DAMAGED ? SYMBOL_FOUND : result;
}

enum symbol_result dwarf_info_open(struct dwarf_info *info, const struct debug_sections *sections,
                                   struct dwarf_info *shared, struct memory *memory) {
    const struct section_bytes at = sections->at[DEBUG_INFO];
    *info = (struct dwarf_info){.memory = memory, .sections = sections, .shared = shared};
    u64_map_init(&info->table_of, memory);
    info->abbrevs_left = 2 * (uint64_t)sections->at[DEBUG_ABBREV].size;
    info->ranges.left =
        RANGES_FREE + 4 * ((uint64_t)at.size + sections->at[DEBUG_RANGES].size + sections->at[DEBUG_RNGLISTS].size);
    struct cursor in = cursor_on(at.bytes, at.size, 0, sections->swap);
    struct dwarf_unit unit;
    enum symbol_result result = SYMBOL_FOUND;
    while (result == SYMBOL_FOUND && info->unit_count < UINT32_MAX - 1 && take_unit(&in, &unit))
        result = add_unit(info, &unit);
    return result;
}

/* Makes a split unit, which has the bases of its skeleton, and of its place in the package. */
static struct info_unit split_unit(const struct dwarf_unit *unit, const struct split_place *place,
                                   const struct info_unit *skeleton) {
    const bool is_new = unit->shape.version >= 5;
    struct info_unit u = {.unit = *unit, .low = skeleton->low, .addresses = skeleton->addresses};
    u.unit.abbrevs += place->abbrevs;
    u.str_offsets = place->str_offsets + (is_new ? 2u * unit->shape.offset_size : 0);
    u.range_lists = place->range_lists + (is_new ? unit->shape.offset_size + 8u : 0);
    u.range_offset = is_new ? place->range_lists : skeleton->range_lists;
    return u;
}

static enum symbol_result check_split(struct dwarf_info *info, const struct info_unit *u,
                                      const struct info_unit *skeleton) {
    struct entry_reader r;
    struct dwarf_entry e;
    const enum symbol_result result = entries_begin(info, u, u->unit.entries, &r);
    if (result != SYMBOL_FOUND)
        return result == SYMBOL_DAMAGED ? SYMBOL_NO_MATCH : result;
    if (!entries_next(&r, &e) || !e.abbrev || e.abbrev->tag != TAG_COMPILE_UNIT)
        return SYMBOL_NO_MATCH;
    const uint64_t id = u->unit.shape.version >= 5 ? u->unit.id : e.split_id.number;
    return id == skeleton->split_id ? SYMBOL_FOUND : SYMBOL_NO_MATCH;
}

static enum symbol_result find_split(struct dwarf_info *info, const struct split_place *place,
                                     const struct info_unit *skeleton, struct split_budget *budget) {
    const struct section_bytes at = info->sections->at[DEBUG_INFO];
    struct dwarf_unit unit;
    if (place->info > place->info_end || place->info_end > at.size)
        return SYMBOL_NO_MATCH;
    struct cursor in =
        cursor_on(at.bytes + place->info, place->info_end - place->info, place->info, info->sections->swap);
    enum symbol_result result = SYMBOL_NO_MATCH;
    while (result == SYMBOL_NO_MATCH && take_unit(&in, &unit)) {
        if (budget->headers-- == 0)
            return budget->headers = 0, SYMBOL_LIMIT;
        info->units[0] = split_unit(&unit, place, skeleton);
        if (unit.entries)
            result = check_split(info, &info->units[0], skeleton);
    }
    return result;
}

enum symbol_result dwarf_info_open_split(struct dwarf_info *info, const struct debug_sections *sections,
                                         const struct split_place *place, const struct info_unit *skeleton,
                                         struct memory *memory, struct split_budget *budget) {
    *info = (struct dwarf_info){.memory = memory, .sections = sections, .abbrevs_left = budget->abbrevs};
    u64_map_init(&info->table_of, memory);
    info->units = mem_grow(memory, NULL, 0, &info->unit_room, 1, sizeof *info->units);
    if (!info->units)
        return table_memory_result(memory);
    info->unit_count = 1;
    const enum symbol_result result = find_split(info, place, skeleton, budget);
    budget->abbrevs = info->abbrevs_left;
    return result;
}

void dwarf_info_close(struct dwarf_info *info) {
    if (!info->memory)
        return;
    for (size_t i = 0; i < info->table_count; i++)
        abbrevs_free(&info->tables[i].abbrevs, info->memory);
    mem_free(info->memory, info->tables, info->table_room, sizeof *info->tables);
    mem_free(info->memory, info->units, info->unit_room, sizeof *info->units);
    u64_map_free(&info->table_of);
    range_list_free(&info->ranges, info->memory);
    *info = (struct dwarf_info){0};
}
