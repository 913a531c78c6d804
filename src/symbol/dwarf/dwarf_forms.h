/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DWARF_FORMS_H
#define PFR_SYMBOL_DWARF_FORMS_H
/*
 * The words of DWARF 2 to 5 (dwarfstd.org, DWARF5.pdf): headers of units (7.5.1), abbreviations (7.5.3), values of
 * attributes (7.5.5, 7.5.6). Everything is taken through a cursor; what is damaged is a false result, never more.
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

/* What a value is; its number means different things for each. */
enum dwarf_class {
    VALUE_NONE,       /* blocks, and types by their signature */
    VALUE_NUMBER,     /* constants, flags, offsets of other sections */
    VALUE_ADDRESS,    /* in the object */
    VALUE_INDEX,      /* of an address in .debug_addr */
    VALUE_LIST,       /* index of a range list (rnglistx) */
    VALUE_ENTRY,      /* offset of an entry in .debug_info */
    VALUE_UNIT_ENTRY, /* the same from the start of its unit */
    VALUE_STR,        /* offset in .debug_str */
    VALUE_LINE_STR,
    VALUE_STRX,         /* index of an offset in .debug_str_offsets */
    VALUE_TEXT,         /* in place */
    VALUE_SHARED_ENTRY, /* offset of an entry in .debug_info of the file that several objects share */
    VALUE_SHARED_STR    /* the same in its .debug_str */
};

struct dwarf_value {
    enum dwarf_class is;
    uint64_t number;
    const char *text; /* VALUE_TEXT */
};

struct dwarf_attr {
    uint16_t name, form;
    int64_t implicit; /* the value of DW_FORM_implicit_const */
};

struct dwarf_abbrev {
    uint64_t code;
    uint32_t first, count; /* of its attributes */
    uint16_t tag;
    bool children;
    bool fixed; /* its values take `size` bytes, whatever they are */
    uint32_t size;
};

struct dwarf_abbrevs {
    struct dwarf_abbrev *at; /* by code */
    struct dwarf_attr *attrs;
    size_t count, room, attr_count, attr_room;
    bool dense; /* entry i has code i + 1 */
};

/* How the values of one unit are written. */
struct dwarf_shape {
    uint16_t version;
    uint8_t address_size, offset_size;
};

struct dwarf_unit {
    uint64_t offset, entries, end; /* in .debug_info: of its header, of its first entry, behind it */
    uint64_t abbrevs;              /* offset of its table */
    uint64_t id;                   /* of a skeleton and of what was split off it, from version 5 on */
    struct dwarf_shape shape;
    uint8_t type; /* DW_UT_*, from version 5 on; else DW_UT_compile */
};

#define UNIT_COMPILE 1u
#define UNIT_PARTIAL 3u
#define UNIT_SKELETON 4u

/* A number in 7-bit groups; bits beyond 64 are dropped. */
bool take_uleb(struct cursor *in, uint64_t *value);
bool take_sleb(struct cursor *in, int64_t *value);
/* A number of 1, 2, 3, 4 or 8 bytes. */
bool take_sized(struct cursor *in, unsigned size, uint64_t *value);
/* Text in place, its NUL taken too. */
bool take_text(struct cursor *in, const char **text);
/* The length that opens a unit or table: `part` is what it covers; *offset_size 4 or 8. */
bool take_unit_length(struct cursor *in, struct cursor *part, uint8_t *offset_size);

/* The unit at the front of `in`, which is moved behind it. True with unit->entries 0: one that is not understood. */
bool take_unit(struct cursor *in, struct dwarf_unit *unit);

/* Reads a value; false: damaged or of an unknown form, and what follows cannot be found. */
bool take_value(struct cursor *in, const struct dwarf_shape *shape, const struct dwarf_attr *attr,
                struct dwarf_value *value);

/* The table at this offset, of which *taken bytes were read. FOUND; DAMAGED: what was read before the damage is there;
   LIMIT, NO_MEMORY. Free it after every outcome. */
enum symbol_result abbrevs_read(struct dwarf_abbrevs *abbrevs, struct section_bytes section, uint64_t offset, bool swap,
                                const struct dwarf_shape *shape, struct memory *memory, uint64_t *taken);
void abbrevs_free(struct dwarf_abbrevs *abbrevs, struct memory *memory);

/* NULL: no such code. */
const struct dwarf_abbrev *abbrevs_find(const struct dwarf_abbrevs *abbrevs, uint64_t code);

/* Bytes of a text that are looked through for its NUL. Units and files that share one text look through it again each:
   what is a path must end where paths do. */
#define NAME_TEXT_MOST ((size_t)1 << 20)
#define PATH_TEXT_MOST ((size_t)4096)

/* Where a text begins, and how many bytes it may have with its NUL. */
struct text_place {
    const char *at;
    size_t room;
};

/* At an offset of a section of texts; false: the section ends before. */
bool section_place(struct section_bytes section, uint64_t offset, size_t most, struct text_place *place);
/* NULL: it does not end there. */
const char *place_text(const struct text_place *place);

/* The number of `size` bytes at base + index * size of a section; false: it lies outside. */
bool section_number(const struct debug_sections *sections, enum debug_section which, uint64_t base, uint64_t index,
                    unsigned size, uint64_t *number);

#endif
