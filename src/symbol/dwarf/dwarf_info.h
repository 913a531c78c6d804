/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DWARF_INFO_H
#define PFR_SYMBOL_DWARF_INFO_H
/*
 * .debug_info by unit: attributes of each unit's first entry, and the entries of one unit in order.
 *
 *  dwarf_info_open(&info, &sections, shared, memory);   reads the first entry of each unit
 *  struct entry_reader r;
 *  entries_begin(&info, &info.units[i], info.units[i].unit.entries, &r);
 *  while (entries_next(&r, &entry)) ...
 *
 * Functions that may need memory return a symbol_result. DAMAGED affects only what was requested. Abbreviation tables
 * are kept by offset, and at most twice the bytes of the section are read in total.
 */
#include "symbol/dwarf/address_ranges.h"
#include "symbol/dwarf/dwarf_forms.h"

/* The attributes of an entry that perfray uses. Texts are not looked up yet. */
struct dwarf_entry {
    uint64_t offset;
    const struct dwarf_abbrev *abbrev; /* NULL: this entry ends a list of children */
    struct dwarf_value low, high, ranges, name, linkage, origin, specification, call_file, call_line, sibling;
    struct dwarf_value lines, folder, split_name, split_id; /* only in the first entry of a unit */
    struct dwarf_value str_offsets, addresses, range_lists;
};

struct info_unit {
    struct dwarf_unit unit;
    uint64_t low;                                 /* base address of range lists */
    uint64_t str_offsets, addresses, range_lists; /* bases of indices */
    uint64_t lines;                               /* offset in .debug_line */
    const char *folder;                           /* DW_AT_comp_dir, or NULL */
    const char *split_name;                       /* file that has the unit's entries; NULL: the object has them */
    uint64_t split_id;
    uint64_t range_offset;      /* added to offsets of range lists */
    bool has_lines, has_ranges; /* has_ranges: the unit's first entry has address ranges */
};

struct abbrevs_slot {
    struct dwarf_abbrevs abbrevs;
    uint64_t offset;
};

struct dwarf_info {
    struct memory *memory;
    const struct debug_sections *sections;
    struct dwarf_info *shared; /* shared with other objects (dwz); may be NULL */
    struct info_unit *units;   /* sorted by offset */
    size_t unit_count, unit_room;
    struct abbrevs_slot *tables;
    size_t table_count, table_room;
    struct u64_map table_of; /* offset and shape of a table -> its index + 1 */
    uint64_t abbrevs_left;   /* bytes of tables that may still be read */
    struct range_list
        ranges; /* ranges of units; value: index of the unit; `left` is the budget for all ranges of the object */
};

struct entry_reader {
    struct dwarf_info *info;
    const struct info_unit *unit;
    struct dwarf_abbrevs abbrevs; /* a view of the table in `info` */
    struct cursor in;
};

/* FOUND, LIMIT or NO_MEMORY. `sections` and `shared` (may be NULL) must outlive `info`. Call dwarf_info_close after
 * every outcome. */
enum symbol_result dwarf_info_open(struct dwarf_info *info, const struct debug_sections *sections,
                                   struct dwarf_info *shared, struct memory *memory);

/* Offsets of the parts of a unit in the sections of another file; if the file has no index, the whole sections. */
struct split_place {
    uint64_t info, info_end, abbrevs, str_offsets, range_lists;
};

/* Amounts that may still be read from all split files together: bytes of abbreviations, and number of unit headers. */
struct split_budget {
    uint64_t abbrevs, headers;
};

/* Opens the split part of a skeleton unit as info->units[0]. `sections` include the address and old range sections of
   the skeleton's object. NO_MATCH: no unit of the file has the skeleton's id. Bytes read are subtracted from the
   budget. */
enum symbol_result dwarf_info_open_split(struct dwarf_info *info, const struct debug_sections *sections,
                                         const struct split_place *place, const struct info_unit *skeleton,
                                         struct memory *memory, struct split_budget *budget);
void dwarf_info_close(struct dwarf_info *info);

/* Positions the reader before the entry at `offset`, which must be inside the unit. */
enum symbol_result entries_begin(struct dwarf_info *info, const struct info_unit *unit, uint64_t offset,
                                 struct entry_reader *reader);

/* False: the unit ends here, or is damaged. All members of *entry are set for the tags of dwarf_forms.h; for other
   tags, only offset, abbrev and sibling are. */
bool entries_next(struct entry_reader *reader, struct dwarf_entry *entry);

/* The unit that contains an offset of .debug_info, or NULL. */
const struct info_unit *dwarf_info_unit(const struct dwarf_info *info, uint64_t offset);

/* Adds the ranges of an entry to `list`; its member `left` is the budget of the whole object. FOUND, even if the entry
 * has no ranges; LIMIT, NO_MEMORY. */
enum symbol_result entry_ranges(struct dwarf_info *info, const struct info_unit *unit, const struct dwarf_entry *entry,
                                uint32_t rank, uint32_t value, struct range_list *list);

/* Finds the text of a value, of at most `most` bytes; false: the value is not a text in a section. */
bool entry_text_place(const struct dwarf_info *info, const struct info_unit *unit, const struct dwarf_value *value,
                      size_t most, struct text_place *place);

#endif
