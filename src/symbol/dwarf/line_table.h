/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_LINE_TABLE_H
#define PFR_SYMBOL_LINE_TABLE_H
/*
 * Runs the line number program of one unit (DWARF 2 to 5, 6.2) once, and finds file and line of addresses.
 *
 *  struct line_table lines;
 *  line_table_read(&lines, &sections, offset, &unit, str_offsets, most, memory, &taken);
 *  const struct line_row *row = line_table_find(&lines, address, &from, &end);
 *  line_table_file(&lines, row->file, &path);
 */
#include "symbol/dwarf/dwarf_forms.h"

struct line_row {
    uint64_t address; /* the row is valid up to the next row of its sequence */
    uint32_t file, line;
};

/* Rows [first, end), sorted by address; the last row has no line and marks the end of the sequence. */
struct line_sequence {
    uint64_t from, to;
    size_t first, end;
};

struct line_file {
    const char *name;
    uint64_t folder;
};

struct line_table {
    struct memory *memory;
    struct line_row *rows;
    struct line_sequence *sequences; /* sorted by `to` */
    struct line_file *files;
    const char **folders;
    size_t row_count, row_room, sequence_count, sequence_room, file_count, file_room, folder_count, folder_room;
    uint16_t version;
};

/* The components of a path. The path is made by joining them, beginning with the last absolute component. */
struct line_path {
    const char *folder, *name; /* folder may be NULL */
    bool in_unit;              /* the path is relative to the unit's folder (DW_AT_comp_dir) */
};

/* FOUND; DAMAGED: the rows before the damage are kept; LIMIT, also if the program has more than `most` bytes;
   NO_MEMORY. *taken: bytes of the program. Free the table after every outcome. */
enum symbol_result line_table_read(struct line_table *table, const struct debug_sections *sections, uint64_t offset,
                                   const struct dwarf_unit *unit, uint64_t str_offsets, uint64_t most,
                                   struct memory *memory, uint64_t *taken);
void line_table_free(struct line_table *table);

/* NULL: no line. The result is the same for all of [*from, *end). */
const struct line_row *line_table_find(const struct line_table *table, uint64_t address, uint64_t *from, uint64_t *end);

/* Finds the file for a number from a row or from DW_AT_call_file; false: there is no such file. */
bool line_table_file(const struct line_table *table, uint64_t number, struct line_path *path);

#endif
