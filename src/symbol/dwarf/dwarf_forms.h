/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DWARF_FORMS_H
#define PFR_SYMBOL_DWARF_FORMS_H
/*
 * Basic elements of DWARF 2 to 5 (dwarfstd.org, DWARF5.pdf): unit headers (7.5.1), abbreviations (7.5.3), attribute
 * values (7.5.5, 7.5.6). All bytes are read through a cursor; damage only makes functions return false.
 */
#include "base/memory/arena.h"
#include "base/memory/cursor.h"
#include "base/tables/hashmap.h"
#include "symbol/dwarf/debug_sections.h"

enum dwarf_tag {
    TAG_COMPILE_UNIT = 0x11,
    TAG_INLINED_SUBROUTINE = 0x1d,
    TAG_SUBPROGRAM = 0x2e,
    TAG_SKELETON_UNIT = 0x4a
};

enum dwarf_attribute {
    AT_SIBLING = 0x01,
    AT_NAME = 0x03,
    AT_STMT_LIST = 0x10,
    AT_LOW_PC = 0x11,
    AT_HIGH_PC = 0x12,
    AT_COMP_DIR = 0x1b,
    AT_ABSTRACT_ORIGIN = 0x31,
    AT_SPECIFICATION = 0x47,
    AT_RANGES = 0x55,
    AT_CALL_FILE = 0x58,
    AT_CALL_LINE = 0x59,
    AT_LINKAGE_NAME = 0x6e,
    AT_STR_OFFSETS_BASE = 0x72,
    AT_ADDR_BASE = 0x73,
    AT_RNGLISTS_BASE = 0x74,
    AT_DWO_NAME = 0x76,
    AT_MIPS_LINKAGE_NAME = 0x2007,
    AT_GNU_DWO_NAME = 0x2130,
    AT_GNU_DWO_ID = 0x2131,
    AT_GNU_RANGES_BASE = 0x2132,
    AT_GNU_ADDR_BASE = 0x2133
};

/* Class of a value, which gives its number a meaning. */
enum dwarf_class {
    VALUE_NONE,       /* blocks, and types by signature */
    VALUE_NUMBER,     /* constants, flags, offsets in other sections */
    VALUE_ADDRESS,    /* address in the object */
    VALUE_INDEX,      /* index of an address in .debug_addr */
    VALUE_LIST,       /* index of a range list (rnglistx) */
    VALUE_ENTRY,      /* offset of an entry in .debug_info */
    VALUE_UNIT_ENTRY, /* offset of an entry from the start of its unit */
    VALUE_STR,        /* offset in .debug_str */
    VALUE_LINE_STR,
    VALUE_STRX,         /* index of an offset in .debug_str_offsets */
    VALUE_TEXT,         /* text in the entry itself */
    VALUE_SHARED_ENTRY, /* offset of an entry in .debug_info of the shared file (dwz) */
    VALUE_SHARED_STR    /* offset in .debug_str of the shared file */
};

struct dwarf_value {
    enum dwarf_class is;
    uint64_t number;
    const char *text; /* VALUE_TEXT */
};

struct dwarf_attr {
    uint16_t name, form;
    int64_t implicit; /* value of DW_FORM_implicit_const */
};

struct dwarf_abbrev {
    uint64_t code;
    uint32_t first, count; /* its attributes in `attrs` */
    uint16_t tag;
    bool children;
    bool fixed; /* its values always take `size` bytes */
    uint32_t size;
};

struct dwarf_abbrevs {
    struct dwarf_abbrev *at; /* sorted by code */
    struct dwarf_attr *attrs;
    size_t count, room, attr_count, attr_room;
    bool dense; /* entry i has code i + 1 */
};

/* Sizes of the values of a unit. */
struct dwarf_shape {
    uint16_t version;
    uint8_t address_size, offset_size;
};

struct dwarf_unit {
    uint64_t offset, entries, end; /* offsets in .debug_info: header, first entry, end */
    uint64_t abbrevs;              /* offset of its abbreviation table */
    uint64_t id;                   /* id of a skeleton or split unit, since version 5 */
    struct dwarf_shape shape;
    uint8_t type; /* DW_UT_* since version 5; else DW_UT_compile */
};

#define UNIT_COMPILE 1u
#define UNIT_PARTIAL 3u
#define UNIT_SKELETON 4u

/* Takes a LEB128 number; bits beyond 64 are dropped. */
bool take_uleb(struct cursor *in, uint64_t *value);
bool take_sleb(struct cursor *in, int64_t *value);
/* Takes a number of 1, 2, 3, 4 or 8 bytes. */
bool take_sized(struct cursor *in, unsigned size, uint64_t *value);
/* Takes text with its NUL. */
bool take_text(struct cursor *in, const char **text);
/* Takes the length of a unit or table. Sets `part` to the bytes that the length covers, and *offset_size to 4 or 8. */
bool take_unit_length(struct cursor *in, struct cursor *part, uint8_t *offset_size);

/* Takes the unit at the front of `in`. If the result is true and unit->entries is 0, the header is not understood, but
 * the unit can be skipped. */
bool take_unit(struct cursor *in, struct dwarf_unit *unit);

/* Takes a value; false: it is damaged or of an unknown form, so the next value cannot be found. */
bool take_value(struct cursor *in, const struct dwarf_shape *shape, const struct dwarf_attr *attr,
                struct dwarf_value *value);

/* Reads the table at an offset; *taken: bytes read. FOUND; DAMAGED: the entries before the damage are kept; LIMIT,
 * NO_MEMORY. Call abbrevs_free after every outcome. */
enum symbol_result abbrevs_read(struct dwarf_abbrevs *abbrevs, struct section_bytes section, uint64_t offset, bool swap,
                                const struct dwarf_shape *shape, struct memory *memory, uint64_t *taken);
void abbrevs_free(struct dwarf_abbrevs *abbrevs, struct memory *memory);

/* Returns NULL if the table does not have this code. */
const struct dwarf_abbrev *abbrevs_find(const struct dwarf_abbrevs *abbrevs, uint64_t code);

/* Maximum bytes in which the NUL of a text is searched. Units and files that share a text search it again each time, so
   paths must end within the maximum length of a path. */
#define NAME_TEXT_MOST ((size_t)1 << 20)
#define PATH_TEXT_MOST ((size_t)4096)

/* Start of a text, and the maximum number of its bytes, including the NUL. */
struct text_place {
    const char *at;
    size_t room;
};

/* Finds a text at an offset of a section of texts; false: the section ends before the offset. */
bool section_place(struct section_bytes section, uint64_t offset, size_t most, struct text_place *place);
/* Returns the text; NULL: it has no NUL within its maximum length. */
const char *place_text(const struct text_place *place);

/* Reads the number of `size` bytes at base + index * size of a section; false: these bytes are outside the section. */
bool section_number(const struct debug_sections *sections, enum debug_section which, uint64_t base, uint64_t index,
                    unsigned size, uint64_t *number);

#endif
