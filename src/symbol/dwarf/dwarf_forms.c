/* SPDX-License-Identifier: Apache-2.0 */
/* Attribute forms are one table with the size and the class of each value. Sizes that depend on the value have
   constants of their own. */
#include "symbol/dwarf/dwarf_forms.h"

#include <stdlib.h>
#include <string.h>

#define EMPTY_MOST 64u /* an abbreviation with this many attributes drops further ones that take no bytes */

enum form_size {
    SIZE_ADDRESS = 20, /* address size of the unit */
    SIZE_OFFSET,       /* offset size of the unit */
    SIZE_REFERENCE,    /* offset size, but address size in version 2 */
    SIZE_ULEB,
    SIZE_SLEB,
    SIZE_TEXT,
    SIZE_BLOCK1, /* a length of 1, 2 or 4 bytes, or ULEB, then that many bytes */
    SIZE_BLOCK2,
    SIZE_BLOCK4,
    SIZE_BLOCK,
    SIZE_INDIRECT,
    SIZE_IMPLICIT,
    SIZE_UNKNOWN
};

struct form {
    uint16_t id;
    uint8_t size, is;
};

#define FORMS_USUAL 0x2du

/* Indexed by form; DWARF 5, table 7.6. */
static const struct form usual_forms[FORMS_USUAL] = {
    [0x00] = {0x00, SIZE_UNKNOWN, VALUE_NONE},
    [0x01] = {0x01, SIZE_ADDRESS, VALUE_ADDRESS},
    [0x02] = {0x02, SIZE_UNKNOWN, VALUE_NONE},
    [0x03] = {0x03, SIZE_BLOCK2, VALUE_NONE},
    [0x04] = {0x04, SIZE_BLOCK4, VALUE_NONE},
    [0x05] = {0x05, 2, VALUE_NUMBER},
    [0x06] = {0x06, 4, VALUE_NUMBER},
    [0x07] = {0x07, 8, VALUE_NUMBER},
    [0x08] = {0x08, SIZE_TEXT, VALUE_TEXT},
    [0x09] = {0x09, SIZE_BLOCK, VALUE_NONE},
    [0x0a] = {0x0a, SIZE_BLOCK1, VALUE_NONE},
    [0x0b] = {0x0b, 1, VALUE_NUMBER},
    [0x0c] = {0x0c, 1, VALUE_NUMBER},
    [0x0d] = {0x0d, SIZE_SLEB, VALUE_NUMBER},
    [0x0e] = {0x0e, SIZE_OFFSET, VALUE_STR},
    [0x0f] = {0x0f, SIZE_ULEB, VALUE_NUMBER},
    [0x10] = {0x10, SIZE_REFERENCE, VALUE_ENTRY},
    [0x11] = {0x11, 1, VALUE_UNIT_ENTRY},
    [0x12] = {0x12, 2, VALUE_UNIT_ENTRY},
    [0x13] = {0x13, 4, VALUE_UNIT_ENTRY},
    [0x14] = {0x14, 8, VALUE_UNIT_ENTRY},
    [0x15] = {0x15, SIZE_ULEB, VALUE_UNIT_ENTRY},
    [0x16] = {0x16, SIZE_INDIRECT, VALUE_NONE},
    [0x17] = {0x17, SIZE_OFFSET, VALUE_NUMBER},
    [0x18] = {0x18, SIZE_BLOCK, VALUE_NONE},
    [0x19] = {0x19, 0, VALUE_NUMBER},
    [0x1a] = {0x1a, SIZE_ULEB, VALUE_STRX},
    [0x1b] = {0x1b, SIZE_ULEB, VALUE_INDEX},
    [0x1c] = {0x1c, 4, VALUE_SHARED_ENTRY},
    [0x1d] = {0x1d, SIZE_OFFSET, VALUE_SHARED_STR},
    [0x1e] = {0x1e, 16, VALUE_NONE},
    [0x1f] = {0x1f, SIZE_OFFSET, VALUE_LINE_STR},
    [0x20] = {0x20, 8, VALUE_NONE},
    [0x21] = {0x21, SIZE_IMPLICIT, VALUE_NUMBER},
    [0x22] = {0x22, SIZE_ULEB, VALUE_NUMBER},
    [0x23] = {0x23, SIZE_ULEB, VALUE_LIST},
    [0x24] = {0x24, 8, VALUE_SHARED_ENTRY},
    [0x25] = {0x25, 1, VALUE_STRX},
    [0x26] = {0x26, 2, VALUE_STRX},
    [0x27] = {0x27, 3, VALUE_STRX},
    [0x28] = {0x28, 4, VALUE_STRX},
    [0x29] = {0x29, 1, VALUE_INDEX},
    [0x2a] = {0x2a, 2, VALUE_INDEX},
    [0x2b] = {0x2b, 3, VALUE_INDEX},
    [0x2c] = {0x2c, 4, VALUE_INDEX},
};

static const struct form other_forms[] = {
    {0x1f01, SIZE_ULEB, VALUE_INDEX},          /* GNU_addr_index */
    {0x1f02, SIZE_ULEB, VALUE_STRX},           /* GNU_str_index */
    {0x1f20, SIZE_OFFSET, VALUE_SHARED_ENTRY}, /* GNU_ref_alt, GNU_strp_alt */
    {0x1f21, SIZE_OFFSET, VALUE_SHARED_STR},
};

static struct form form_of(uint64_t id) {
    if (id < FORMS_USUAL)
        return usual_forms[id];
    for (size_t i = 0; i < sizeof other_forms / sizeof *other_forms; i++)
        if (other_forms[i].id == id)
            return other_forms[i];
    return usual_forms[0];
}

bool take_uleb(struct cursor *in, uint64_t *value) {
    struct cursor at = *in;
    uint64_t sum = 0;
    uint8_t byte;
    unsigned shift = 0;
    do {
        if (!take_u8(&at, &byte))
            return false;
        if (shift < 64)
            sum |= (uint64_t)(byte & 0x7f) << shift;
        shift += shift < 64 ? 7 : 0;
    } while (byte & 0x80);
    *value = sum;
    *in = at;
    return true;
}

bool take_sleb(struct cursor *in, int64_t *value) {
    struct cursor at = *in;
    uint64_t sum = 0;
    uint8_t byte;
    unsigned shift = 0;
    do {
        if (!take_u8(&at, &byte))
            return false;
        if (shift < 64)
            sum |= (uint64_t)(byte & 0x7f) << shift;
        shift += shift < 64 ? 7 : 0;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40))
        sum |= UINT64_MAX << shift;
    *value = (int64_t)sum;
    *in = at;
    return true;
}

bool take_sized(struct cursor *in, unsigned size, uint64_t *value) {
    const uint8_t *bytes;
    if (size > 8 || !take_bytes(in, size, &bytes))
        return false;
    const bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != in->swap;
    *value = 0;
    for (unsigned i = 0; i < size; i++)
        *value |= (uint64_t)bytes[big ? size - 1 - i : i] << (8 * i);
    return true;
}

bool take_text(struct cursor *in, const char **text) {
    const uint8_t *end = memchr(in->at, 0, cursor_left(in));
    *text = (const char *)in->at;
    if (end)
        in->at = end + 1;
    return end != NULL;
}

bool take_unit_length(struct cursor *in, struct cursor *part, uint8_t *offset_size) {
    uint32_t short_length;
    uint64_t length;
    if (!take_u32(in, &short_length))
        return false;
    length = short_length;
    *offset_size = short_length == UINT32_MAX ? 8 : 4;
    if (short_length == UINT32_MAX && !take_u64(in, &length))
        return false;
    return take_cursor(in, length, part);
}

/* Takes the part of the unit header after the version; its order changed in version 5 (7.5.1). */
static bool take_unit_header(struct cursor *in, struct dwarf_unit *unit) {
    struct dwarf_shape *shape = &unit->shape;
    const bool is_new = shape->version >= 5;
    if (is_new && (!take_u8(in, &unit->type) || !take_u8(in, &shape->address_size)))
        return false;
    if (!take_sized(in, shape->offset_size, &unit->abbrevs))
        return false;
    if (!is_new && !take_u8(in, &shape->address_size))
        return false;
    return unit->type < UNIT_SKELETON || take_u64(in, &unit->id);
}

bool take_unit(struct cursor *in, struct dwarf_unit *unit) {
    struct cursor part;
    *unit = (struct dwarf_unit){.offset = cursor_offset(in), .type = UNIT_COMPILE};
    if (!take_unit_length(in, &part, &unit->shape.offset_size))
        return false;
    unit->end = cursor_offset(in);
    const uint8_t *address_size = &unit->shape.address_size;
    if (take_u16(&part, &unit->shape.version) && unit->shape.version >= 2 && unit->shape.version <= 5 &&
        take_unit_header(&part, unit) && (*address_size == 4 || *address_size == 8))
        unit->entries = cursor_offset(&part);
    return true;
}

/* Bytes of a value; SIZE_ULEB and above: depends on the value. */
static unsigned size_in(const struct form *form, const struct dwarf_shape *shape) {
    switch (form->size) {
    case SIZE_ADDRESS:
        return shape->address_size;
    case SIZE_OFFSET:
        return shape->offset_size;
    case SIZE_REFERENCE:
        return shape->version == 2 ? shape->address_size : shape->offset_size;
    case SIZE_IMPLICIT:
        return 0;
    default:
        return form->size;
    }
}

static bool skip_block(struct cursor *in, unsigned size) {
    static const uint8_t widths[] = {1, 2, 4};
    uint64_t length;
    const uint8_t *skipped;
    const bool has_length =
        size == SIZE_BLOCK ? take_uleb(in, &length) : take_sized(in, widths[size - SIZE_BLOCK1], &length);
    return has_length && take_bytes(in, length, &skipped);
}

static bool take_number(struct cursor *in, unsigned size, struct dwarf_value *value) {
    int64_t number;
    const uint8_t *skipped;
    switch (size) {
    case SIZE_ULEB:
        return take_uleb(in, &value->number);
    case SIZE_SLEB:
        if (!take_sleb(in, &number))
            return false;
        value->number = (uint64_t)number;
        return true;
    case SIZE_TEXT:
        return take_text(in, &value->text);
    case SIZE_BLOCK1:
    case SIZE_BLOCK2:
    case SIZE_BLOCK4:
    case SIZE_BLOCK:
        return skip_block(in, size);
    case 16:
        return take_bytes(in, 16, &skipped);
    default:
        return take_sized(in, size, &value->number);
    }
}

bool take_value(struct cursor *in, const struct dwarf_shape *shape, const struct dwarf_attr *attr,
                struct dwarf_value *value) {
    uint64_t id = attr->form;
    struct form form = form_of(id);
    *value = (struct dwarf_value){.number = 0};
    if (form.size == SIZE_INDIRECT) {
        if (!take_uleb(in, &id))
            return false;
        form = form_of(id);
        if (form.size == SIZE_INDIRECT || form.size == SIZE_IMPLICIT)
            return false;
    }
    if (form.size == SIZE_UNKNOWN || !take_number(in, size_in(&form, shape), value))
        return false;
    if (form.size == SIZE_IMPLICIT)
        value->number = (uint64_t)attr->implicit;
    if (form.id == 0x19)
        value->number = 1;
    value->is = (enum dwarf_class)form.is;
    return true;
}

static bool add_attr(struct dwarf_abbrevs *a, struct memory *memory, struct dwarf_attr attr) {
    struct dwarf_attr *grown = mem_grow(memory, a->attrs, a->attr_count, &a->attr_room, 64, sizeof *grown);
    if (!grown)
        return false;
    a->attrs = grown;
    a->attrs[a->attr_count++] = attr;
    return true;
}

static bool take_attr(struct cursor *in, struct dwarf_attr *attr) {
    uint64_t name, form;
    *attr = (struct dwarf_attr){0};
    if (!take_uleb(in, &name) || !take_uleb(in, &form))
        return false;
    attr->name = name > UINT16_MAX ? UINT16_MAX : (uint16_t)name;
    attr->form = form > UINT16_MAX ? 0 : (uint16_t)form;
    return form != 0x21 || take_sleb(in, &attr->implicit);
}

static bool is_asked_for(uint16_t name) {
    switch ((enum dwarf_attribute)name) {
    case AT_SIBLING:
    case AT_NAME:
    case AT_STMT_LIST:
    case AT_LOW_PC:
    case AT_HIGH_PC:
    case AT_COMP_DIR:
    case AT_ABSTRACT_ORIGIN:
    case AT_SPECIFICATION:
    case AT_RANGES:
    case AT_CALL_FILE:
    case AT_CALL_LINE:
    case AT_LINKAGE_NAME:
    case AT_STR_OFFSETS_BASE:
    case AT_ADDR_BASE:
    case AT_RNGLISTS_BASE:
    case AT_DWO_NAME:
    case AT_MIPS_LINKAGE_NAME:
    case AT_GNU_DWO_NAME:
    case AT_GNU_DWO_ID:
    case AT_GNU_RANGES_BASE:
    case AT_GNU_ADDR_BASE:
        return true;
    }
    return false;
}

/* Whether to drop an attribute that takes no byte in entries, because it is not needed or the abbreviation already has
 * EMPTY_MOST attributes. An entry of one byte could have any number of such attributes, and each would be read with
 * each entry. If an attribute occurs several times, the last occurrence counts. */
static bool is_idle(const struct dwarf_abbrevs *a, const struct dwarf_abbrev *abbrev, const struct dwarf_attr *attr,
                    unsigned size) {
    if (size > 0)
        return false;
    return !is_asked_for(attr->name) || a->attr_count - abbrev->first >= EMPTY_MOST;
}

/* Reads the attributes of an abbreviation, up to the pair of zeros. */
static enum symbol_result read_attrs(struct dwarf_abbrevs *a, struct cursor *in, const struct dwarf_shape *shape,
                                     struct dwarf_abbrev *abbrev, struct memory *memory) {
    struct dwarf_attr attr;
    abbrev->first = (uint32_t)a->attr_count;
    abbrev->fixed = true;
    for (;;) {
        if (!take_attr(in, &attr) || a->attr_count == UINT32_MAX)
            return SYMBOL_DAMAGED;
        if (attr.name == 0 && attr.form == 0)
            break;
        const struct form form = form_of(attr.form);
        const unsigned size = size_in(&form, shape);
        if (is_idle(a, abbrev, &attr, size))
            continue;
        if (!add_attr(a, memory, attr))
            return table_memory_result(memory);
        abbrev->fixed = abbrev->fixed && size < SIZE_ADDRESS;
        abbrev->size += abbrev->fixed && abbrev->size < UINT32_MAX / 2 ? size : 0;
    }
    abbrev->count = (uint32_t)a->attr_count - abbrev->first;
    return SYMBOL_FOUND;
}

static int compare_codes(const void *a, const void *b) {
    const uint64_t x = ((const struct dwarf_abbrev *)a)->code, y = ((const struct dwarf_abbrev *)b)->code;
    return (x > y) - (x < y);
}

static void put_in_order(struct dwarf_abbrevs *a) {
    a->dense = true;
    for (size_t i = 0; i < a->count && a->dense; i++)
        a->dense = a->at[i].code == i + 1;
    if (!a->dense && a->count > 1)
        qsort(a->at, a->count, sizeof *a->at, compare_codes);
}

static enum symbol_result read_abbrev(struct dwarf_abbrevs *a, struct cursor *in, const struct dwarf_shape *shape,
                                      uint64_t code, struct memory *memory) {
    uint64_t tag;
    uint8_t children;
    struct dwarf_abbrev abbrev = {.code = code};
    if (!take_uleb(in, &tag) || !take_u8(in, &children))
        return SYMBOL_DAMAGED;
    abbrev.tag = tag > UINT16_MAX ? UINT16_MAX : (uint16_t)tag;
    abbrev.children = children != 0;
    const enum symbol_result result = read_attrs(a, in, shape, &abbrev, memory);
    if (result != SYMBOL_FOUND)
        return result;
    struct dwarf_abbrev *grown = mem_grow(memory, a->at, a->count, &a->room, 32, sizeof *grown);
    if (!grown)
        return table_memory_result(memory);
    a->at = grown;
    a->at[a->count++] = abbrev;
    return SYMBOL_FOUND;
}

enum symbol_result abbrevs_read(struct dwarf_abbrevs *a, struct section_bytes section, uint64_t offset, bool swap,
                                const struct dwarf_shape *shape, struct memory *memory, uint64_t *taken) {
    *a = (struct dwarf_abbrevs){0};
    *taken = 0;
    if (offset >= section.size)
        return SYMBOL_DAMAGED;
    struct cursor in = cursor_on(section.bytes + offset, section.size - offset, offset, swap);
    uint64_t code;
    enum symbol_result result = SYMBOL_FOUND;
    while (result == SYMBOL_FOUND && take_uleb(&in, &code) && code != 0)
        result = read_abbrev(a, &in, shape, code, memory);
    put_in_order(a);
    *taken = cursor_offset(&in) - offset;
    return result;
}

void abbrevs_free(struct dwarf_abbrevs *a, struct memory *memory) {
    mem_free(memory, a->at, a->room, sizeof *a->at);
    mem_free(memory, a->attrs, a->attr_room, sizeof *a->attrs);
    *a = (struct dwarf_abbrevs){0};
}

const struct dwarf_abbrev *abbrevs_find(const struct dwarf_abbrevs *a, uint64_t code) {
    if (a->dense)
        return code - 1 < a->count ? &a->at[code - 1] : NULL;
    const struct dwarf_abbrev key = {.code = code};
    return a->count ? bsearch(&key, a->at, a->count, sizeof *a->at, compare_codes) : NULL;
}

bool section_place(struct section_bytes section, uint64_t offset, size_t most, struct text_place *place) {
    if (offset >= section.size)
        return false;
    const size_t left = section.size - offset;
    *place = (struct text_place){(const char *)section.bytes + offset, left < most ? left : most};
    return true;
}

const char *place_text(const struct text_place *place) {
    return memchr(place->at, 0, place->room) ? place->at : NULL;
}

bool section_number(const struct debug_sections *sections, enum debug_section which, uint64_t base, uint64_t index,
                    unsigned size, uint64_t *number) {
    const struct section_bytes at = sections->at[which];
    if (base > at.size || index >= (at.size - base) / size)
        return false;
    const size_t offset = base + index * size;
    struct cursor in = cursor_on(at.bytes + offset, size, offset, sections->swap);
    return take_sized(&in, size, number);
}
