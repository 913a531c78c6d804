/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Format of the index:
 *
 *  version (4 bytes; since 5: 2 bytes, and 2 unused), columns, units, slots
 *  slots x id, slots x row number from 1 (0: free)
 *  columns x section, units x columns x offset, units x columns x size
 */
#include "symbol/dwarf/split_package.h"

#define HEADER 16u
#define COLUMNS_MOST 16u
#define PROBES_MOST 1024u /* maximum probes per lookup: tables are one third empty */

enum column { COLUMN_INFO = 1, COLUMN_ABBREV = 3, COLUMN_STR_OFFSETS = 6, COLUMN_RNGLISTS = 8 };

struct package_index {
    struct section_bytes section;
    uint64_t version, columns, units, slots;
    uint64_t rows, names, offsets, sizes; /* offset of each table */
    bool swap;
};

/* The number of `size` bytes at an offset, which must be inside the section. */
static uint64_t number_at(const struct package_index *index, uint64_t offset, unsigned size) {
    struct cursor in = cursor_on(index->section.bytes + offset, size, offset, index->swap);
    uint64_t number = 0;
    take_sized(&in, size, &number);
    return number;
}

static bool read_header(struct package_index *index, const struct debug_sections *sections) {
    *index = (struct package_index){.section = sections->at[DEBUG_CU_INDEX], .swap = sections->swap};
    if (index->section.size < HEADER)
        return false;
    index->version = number_at(index, 0, 4);
    if (index->version != 2)
        index->version = number_at(index, 0, 2);
    index->columns = number_at(index, 4, 4);
    index->units = number_at(index, 8, 4);
    index->slots = number_at(index, 12, 4);
    if ((index->version != 2 && index->version != 5) || index->columns == 0 || index->columns > COLUMNS_MOST)
        return false;
    index->rows = HEADER + 8 * index->slots;
    index->names = index->rows + 4 * index->slots;
    index->offsets = index->names + 4 * index->columns;
    index->sizes = index->offsets + 4 * index->columns * index->units;
    const bool is_power = index->slots && (index->slots & (index->slots - 1)) == 0;
    return is_power && index->sizes + 4 * index->columns * index->units <= index->section.size;
}

/* The row of a unit, from 1; 0: no such unit. */
static uint64_t find_row(const struct package_index *index, uint64_t id) {
    const uint64_t mask = index->slots - 1, step = ((id >> 32) & mask) | 1;
    uint64_t slot = id & mask;
    for (unsigned i = 0; i < PROBES_MOST; i++, slot = (slot + step) & mask) {
        const uint64_t row = number_at(index, index->rows + 4 * slot, 4);
        if (row == 0 || number_at(index, HEADER + 8 * slot, 8) == id)
            return row <= index->units ? row : 0;
    }
    return 0;
}

bool split_package_find(const struct debug_sections *sections, uint64_t id, struct split_place *place) {
    struct package_index index;
    *place = (struct split_place){0};
    const uint64_t row = read_header(&index, sections) ? find_row(&index, id) : 0;
    for (uint64_t i = 0; row && i < index.columns; i++) {
        const uint64_t cell = 4 * ((row - 1) * index.columns + i);
        const uint64_t offset = number_at(&index, index.offsets + cell, 4);
        const uint64_t which = number_at(&index, index.names + 4 * i, 4);
        if (which == COLUMN_INFO) {
            place->info = offset;
            place->info_end = offset + number_at(&index, index.sizes + cell, 4);
        } else if (which == COLUMN_ABBREV)
            place->abbrevs = offset;
        else if (which == COLUMN_STR_OFFSETS)
            place->str_offsets = offset;
        else if (which == COLUMN_RNGLISTS && index.version == 5)
            place->range_lists = offset;
    }
    return place->info_end > place->info;
}
