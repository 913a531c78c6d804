/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DWARF_INFO_H
#define PFR_SYMBOL_DWARF_INFO_H
/*
 * .debug_info by unit: what the first entry of each says of the whole, and the entries of one, one after the other.
 *
 *     dwarf_info_open(&info, &sections, memory);           hops from unit to unit
 *     struct entry_reader r;
 *     entries_begin(&info, &info.units[i], info.units[i].unit.entries, &r);
 *     while (entries_next(&r, &entry)) ...
 *
 * Every function that may need memory gives a symbol_result; where it says DAMAGED what was asked for is not known and
 * all else still is. Tables of abbreviations are kept, by their offset; no byte of them is read more than twice.
 */
#include "symbol/dwarf/address_ranges.h"
#include "symbol/dwarf/dwarf_forms.h"

/* What an entry says that is of use here. Texts are not looked up yet. */
struct dwarf_entry {
    uint64_t offset;
    const struct dwarf_abbrev *abbrev; /* NULL: the end of a list of children */
    struct dwarf_value low, high, ranges, name, linkage, origin, specification, call_file, call_line, sibling;
    struct dwarf_value lines, folder, split_name, split_id; /* of the first entry of a unit */
    struct dwarf_value str_offsets, addresses, range_lists;
};

struct info_unit {
    struct dwarf_unit unit;
    uint64_t low;                                 /* what range lists count from */
    uint64_t str_offsets, addresses, range_lists; /* bases of indices */
    uint64_t lines;                               /* offset in .debug_line */
    const char *folder;                           /* DW_AT_comp_dir, or NULL */
    const char *split_name;                       /* the file that its entries are in; NULL: they are here */
    uint64_t split_id;
    uint64_t range_offset;      /* added to offsets of range lists */
    bool has_lines, has_ranges; /* has_ranges: it said itself which addresses are its own */
};

struct abbrevs_slot {
    struct dwarf_abbrevs abbrevs;
    uint64_t offset;
};

struct dwarf_info {
    struct memory *memory;
    const struct debug_sections *sections;
    struct dwarf_info *shared; /* what several objects share; NULL: nothing, or it is not there */
    struct info_unit *units;   /* by offset */
    size_t unit_count, unit_room;
    struct abbrevs_slot *tables;
    size_t table_count, table_room;
    struct u64_map table_of;  /* offset and shape of a table -> its number + 1; 0: there is none */
    uint64_t abbrevs_left;    /* bytes of tables that may still be read */
    struct range_list ranges; /* those of units, by number; its `left` counts for all ranges of the object */
};

struct entry_reader {
    struct dwarf_info *info;
    const struct info_unit *unit;
    struct dwarf_abbrevs abbrevs; /* a view of the table that the info keeps */
    struct cursor in;
};

/* FOUND, LIMIT or NO_MEMORY. `sections` and `shared` must outlive it. Close it after every outcome. */
enum symbol_result dwarf_info_open(struct dwarf_info *info, const struct debug_sections *sections,
                                   struct dwarf_info *shared, struct memory *memory);

/* Where the parts of a unit lie in the sections of another file; all of them in one that has no index. */
struct split_place {
    uint64_t info, info_end, abbrevs, str_offsets, range_lists;
};

/* What may still be read of all split files: bytes of abbreviations, and headers of units. */
struct split_budget {
    uint64_t abbrevs, headers;
};

/* The one unit that was split off a skeleton, which is then info->units[0]. `sections` have the addresses and old
   ranges of the skeleton's object. NO_MATCH: none there has its id. What was read is taken off the budget. */
enum symbol_result dwarf_info_open_split(struct dwarf_info *info, const struct debug_sections *sections,
                                         const struct split_place *place, const struct info_unit *skeleton,
                                         struct memory *memory, struct split_budget *budget);
void dwarf_info_close(struct dwarf_info *info);

/* Stands before the entry at `offset`, which must be inside the unit. */
enum symbol_result entries_begin(struct dwarf_info *info, const struct info_unit *unit, uint64_t offset,
                                 struct entry_reader *reader);

/* False: the unit ends, or is damaged. *entry is filled for those of the tags that dwarf_forms.h lists; of others only
   offset, abbrev and sibling are. */
bool entries_next(struct entry_reader *reader, struct dwarf_entry *entry);

/* The unit that an offset of .debug_info lies in; NULL: none. */
const struct info_unit *dwarf_info_unit(const struct dwarf_info *info, uint64_t offset);

/* Adds the ranges of an entry to `list`, whose `left` is the object's. FOUND, also where there are none; LIMIT,
   NO_MEMORY. */
enum symbol_result entry_ranges(struct dwarf_info *info, const struct info_unit *unit, const struct dwarf_entry *entry,
                                uint32_t rank, uint32_t value, struct range_list *list);

/* Where the text of a value is, `most` bytes of it; false: it is none of a section. */
bool entry_text_place(const struct dwarf_info *info, const struct info_unit *unit, const struct dwarf_value *value,
                      size_t most, struct text_place *place);

#endif
