/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header lists folders and files. In versions 2 to 4 these are lists of texts, numbered from 1; since version 5
 * they are tables that define their own columns, numbered from 0. The program after the header is run to its end, or to
 * the first damage. A sequence is kept if it has an end and its addresses do not decrease.
 */
#include "symbol/dwarf/line_table.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS_MOST 16u

enum line_opcode { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC = 9 };
enum line_extended { END_SEQUENCE = 1, SET_ADDRESS, DEFINE_FILE };
enum line_column { COLUMN_PATH = 1, COLUMN_FOLDER = 2 };

struct line_header {
    struct dwarf_shape shape;
    uint8_t least, most_operations, line_range, opcode_base;
    int8_t line_base;
    uint8_t operands[255]; /* number of operands of standard opcodes, from 1 */
};

struct line_machine {
    uint64_t address, operation, file, line;
    uint64_t before; /* address of the previous row */
    size_t first;    /* first row of the current sequence */
    bool is_ordered;
};

struct program_reader {
    struct line_table *table;
    const struct debug_sections *sections;
    struct line_header header;
    struct line_machine machine;
    uint64_t str_offsets;
};

static bool add_folder(struct line_table *t, const char *name) {
    const char **grown = mem_grow(t->memory, t->folders, t->folder_count, &t->folder_room, 16, sizeof *grown);
    if (!grown)
        return false;
    t->folders = grown;
    t->folders[t->folder_count++] = name;
    return true;
}

static bool add_file(struct line_table *t, struct line_file file) {
    struct line_file *grown = mem_grow(t->memory, t->files, t->file_count, &t->file_room, 32, sizeof *grown);
    if (!grown)
        return false;
    t->files = grown;
    t->files[t->file_count++] = file;
    return true;
}

/* Takes an entry with name, folder, time and size, as in the lists of versions 2 to 4 and in DW_LNE_define_file. */
static bool take_old_file(struct cursor *in, struct line_file *file) {
    uint64_t skipped;
    return take_text(in, &file->name) && (*file->name == '\0' || (take_uleb(in, &file->folder) &&
                                                                  take_uleb(in, &skipped) && take_uleb(in, &skipped)));
}

static enum symbol_result read_old_lists(struct program_reader *r, struct cursor *in) {
    const char *folder;
    struct line_file file = {0};
    bool added = add_folder(r->table, "") && add_file(r->table, file); /* number 0: the unit's own folder and file */
    for (;;) {
        if (!added)
            return table_memory_result(r->table->memory);
        if (!take_text(in, &folder))
            return SYMBOL_DAMAGED;
        if (*folder == '\0')
            break;
        added = add_folder(r->table, folder);
    }
    while (added) {
        if (!take_old_file(in, &file))
            return SYMBOL_DAMAGED;
        if (*file.name == '\0')
            return SYMBOL_FOUND;
        added = add_file(r->table, file);
    }
    return table_memory_result(r->table->memory);
}

static const char *text_of(const struct program_reader *r, const struct dwarf_value *value) {
    const struct section_bytes *at = r->sections->at;
    uint64_t number = value->number;
    struct text_place place;
    bool found = false;
    switch (value->is) {
    case VALUE_TEXT:
        return value->text;
    case VALUE_LINE_STR:
        found = section_place(at[DEBUG_LINE_STR], number, PATH_TEXT_MOST, &place);
        break;
    case VALUE_STRX:
        if (!section_number(r->sections, DEBUG_STR_OFFSETS, r->str_offsets, number, r->header.shape.offset_size,
                            &number))
            break;
        __attribute__((fallthrough));
    case VALUE_STR:
        found = section_place(at[DEBUG_STR], number, PATH_TEXT_MOST, &place);
        break;
    default:
        break;
    }
    return found ? place_text(&place) : NULL;
}

struct columns {
    struct dwarf_attr at[COLUMNS_MOST];
    unsigned count;
};

static bool take_columns(struct cursor *in, struct columns *columns) {
    uint8_t count;
    uint64_t name, form;
    if (!take_u8(in, &count) || count > COLUMNS_MOST)
        return false;
    columns->count = count;
    for (unsigned i = 0; i < count; i++) {
        if (!take_uleb(in, &name) || !take_uleb(in, &form))
            return false;
        columns->at[i] = (struct dwarf_attr){name > UINT16_MAX ? UINT16_MAX : (uint16_t)name,
                                             form > UINT16_MAX ? 0 : (uint16_t)form, 0};
    }
    return true;
}

static bool take_entry(const struct program_reader *r, struct cursor *in, const struct columns *columns,
                       struct line_file *file) {
    struct dwarf_value value;
    *file = (struct line_file){0};
    for (unsigned i = 0; i < columns->count; i++) {
        if (!take_value(in, &r->header.shape, &columns->at[i], &value))
            return false;
        if (columns->at[i].name == COLUMN_PATH)
            file->name = text_of(r, &value);
        else if (columns->at[i].name == COLUMN_FOLDER)
            file->folder = value.number;
    }
    return true;
}

/* Reads a table of version 5. Entries without bytes are refused, because the length of the table would not bound their
   number. */
static enum symbol_result read_entries(struct program_reader *r, struct cursor *in, bool are_files) {
    struct columns columns;
    struct line_file file;
    uint64_t count;
    if (!take_columns(in, &columns) || !take_uleb(in, &count))
        return SYMBOL_DAMAGED;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *was = in->at;
        if (!take_entry(r, in, &columns, &file) || in->at == was)
            return SYMBOL_DAMAGED;
        if (!(are_files ? add_file(r->table, file) : add_folder(r->table, file.name)))
            return table_memory_result(r->table->memory);
    }
    return SYMBOL_FOUND;
}

static enum symbol_result read_names(struct program_reader *r, struct cursor *in) {
    if (r->header.shape.version < 5)
        return read_old_lists(r, in);
    const enum symbol_result result = read_entries(r, in, false);
    return result == SYMBOL_FOUND ? read_entries(r, in, true) : result;
}

static bool take_header(struct cursor *in, const struct dwarf_unit *unit, struct line_header *h, struct cursor *names) {
    uint8_t skipped, base;
    uint64_t length;
    h->shape.address_size = unit->shape.address_size;
    h->most_operations = 1;
    if (!take_u16(in, &h->shape.version) || h->shape.version < 2 || h->shape.version > 5)
        return false;
    if (h->shape.version >= 5 && (!take_u8(in, &h->shape.address_size) || !take_u8(in, &skipped)))
        return false;
    if (!take_sized(in, h->shape.offset_size, &length) || !take_cursor(in, length, names))
        return false;
    if (!take_u8(names, &h->least) || (h->shape.version >= 4 && !take_u8(names, &h->most_operations)))
        return false;
    if (!take_u8(names, &skipped) || !take_u8(names, &base) || !take_u8(names, &h->line_range) ||
        !take_u8(names, &h->opcode_base))
        return false;
    h->line_base = (int8_t)base;
    for (unsigned i = 1; i < h->opcode_base; i++)
        if (!take_u8(names, &h->operands[i]))
            return false;
    return true;
}

static void begin_sequence(struct program_reader *r) {
    r->machine = (struct line_machine){.file = 1, .line = 1, .first = r->table->row_count, .is_ordered = true};
}

/* Whether the file and line are those of the previous row; such a row is not stored. */
static bool goes_on(const struct line_table *t, const struct line_machine *m) {
    const struct line_row *before = &t->rows[t->row_count - 1];
    return m->file == before->file && m->line == before->line;
}

static bool add_row(struct program_reader *r, bool is_last) {
    struct line_table *t = r->table;
    struct line_machine *m = &r->machine;
    const bool is_first = t->row_count == m->first;
    if (!is_first && m->before > m->address)
        m->is_ordered = false;
    m->before = m->address;
    if (!is_first && !is_last && goes_on(t, m))
        return true;
    struct line_row *grown = mem_grow(t->memory, t->rows, t->row_count, &t->row_room, 256, sizeof *grown);
    if (!grown)
        return false;
    t->rows = grown;
    t->rows[t->row_count++] =
        (struct line_row){m->address, m->file > UINT32_MAX ? UINT32_MAX : (uint32_t)m->file, (uint32_t)m->line};
    return true;
}

/* Drops a sequence that is empty or has decreasing addresses. */
static bool end_sequence(struct program_reader *r) {
    struct line_table *t = r->table;
    struct line_machine *m = &r->machine;
    if (!add_row(r, true))
        return false;
    const struct line_sequence made = {t->rows[m->first].address, m->address, m->first, t->row_count};
    if (!m->is_ordered || made.from >= made.to) {
        t->row_count = m->first;
        return true;
    }
    struct line_sequence *grown =
        mem_grow(t->memory, t->sequences, t->sequence_count, &t->sequence_room, 16, sizeof *grown);
    if (!grown)
        return false;
    t->sequences = grown;
    t->sequences[t->sequence_count++] = made;
    return true;
}

/* Advances by a number of operations. If instructions hold several operations, the address counts instructions
   (6.2.5.1). */
static void advance(struct program_reader *r, uint64_t operations) {
    struct line_machine *m = &r->machine;
    const uint64_t most = r->header.most_operations;
    if (most <= 1) {
        m->address += operations * r->header.least;
        return;
    }
    m->address += r->header.least * ((m->operation + operations) / most);
    m->operation = (m->operation + operations) % most;
}

static bool run_special(struct program_reader *r, uint8_t opcode) {
    const struct line_header *h = &r->header;
    const unsigned adjusted = (unsigned)opcode - h->opcode_base;
    if (h->line_range == 0)
        return true;
    advance(r, adjusted / h->line_range);
    r->machine.line += (uint64_t)(int64_t)(h->line_base + (int)(adjusted % h->line_range));
    return add_row(r, false);
}

/* Returns false only if memory runs out. Damage ends the program by emptying `in`. */
static bool run_extended(struct program_reader *r, struct cursor *in) {
    uint64_t length;
    struct cursor part = {0};
    uint8_t opcode;
    struct line_file file = {0};
    if (!take_uleb(in, &length) || !take_cursor(in, length, &part)) {
        in->at = in->end;
        return true;
    }
    if (!take_u8(&part, &opcode))
        return true;
    switch (opcode) {
    case END_SEQUENCE: {
        const bool added = end_sequence(r);
        begin_sequence(r);
        return added;
    }
    case SET_ADDRESS:
        r->machine.operation = 0;
        take_sized(&part, length - 1 > 8 ? 8 : (unsigned)(length - 1), &r->machine.address);
        return true;
    case DEFINE_FILE:
        return !take_old_file(&part, &file) || add_file(r->table, file);
    default:
        return true;
    }
}

static bool skip_operands(struct program_reader *r, struct cursor *in, uint8_t opcode) {
    uint64_t skipped;
    for (unsigned i = 0; i < r->header.operands[opcode]; i++)
        if (!take_uleb(in, &skipped))
            return false;
    return true;
}

/* Runs a standard opcode other than COPY; false: damaged. Needs no memory: only add_row allocates. */
static bool run_standard(struct program_reader *r, struct cursor *in, uint8_t opcode) {
    struct line_machine *m = &r->machine;
    uint64_t number;
    int64_t delta;
    uint16_t fixed;
    switch (opcode) {
    case ADVANCE_PC:
        if (!take_uleb(in, &number))
            return false;
        advance(r, number);
        return true;
    case ADVANCE_LINE:
        if (!take_sleb(in, &delta))
            return false;
        m->line += (uint64_t)delta;
        return true;
    case SET_FILE:
        return take_uleb(in, &m->file);
    case CONST_ADD_PC:
        if (r->header.line_range)
            advance(r, (255u - r->header.opcode_base) / r->header.line_range);
        return true;
    case FIXED_ADVANCE_PC:
        if (!take_u16(in, &fixed))
            return false;
        m->address += fixed;
        m->operation = 0;
        return true;
    default:
        return skip_operands(r, in, opcode);
    }
}

static enum symbol_result run(struct program_reader *r, struct cursor *in) {
    uint8_t opcode;
    bool has_memory = true;
    begin_sequence(r);
    while (has_memory && take_u8(in, &opcode)) {
        if (opcode >= r->header.opcode_base)
            has_memory = run_special(r, opcode);
        else if (opcode == 0)
            has_memory = run_extended(r, in);
        else if (opcode == COPY)
            has_memory = add_row(r, false);
        else if (!run_standard(r, in, opcode))
            break;
    }
    r->table->row_count = r->machine.first; /* drops the rows of a sequence that has no end */
    return has_memory ? SYMBOL_FOUND : table_memory_result(r->table->memory);
}

static int compare_sequences(const void *a, const void *b) {
    const struct line_sequence *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static enum symbol_result trim_rows(struct line_table *t) {
    struct line_row *trimmed = mem_trim(t->memory, t->rows, t->row_count, &t->row_room, sizeof *trimmed);
    if (!trimmed)
        return table_memory_result(t->memory);
    t->rows = trimmed;
    return SYMBOL_FOUND;
}

enum symbol_result line_table_read(struct line_table *t, const struct debug_sections *sections, uint64_t offset,
                                   const struct dwarf_unit *unit, uint64_t str_offsets, uint64_t most,
                                   struct memory *memory, uint64_t *taken) {
    struct program_reader r = {.table = t, .sections = sections, .str_offsets = str_offsets};
    const struct section_bytes lines = sections->at[DEBUG_LINE];
    struct cursor part, names;
    *t = (struct line_table){.memory = memory};
    *taken = 0;
    if (offset >= lines.size)
        return SYMBOL_DAMAGED;
    struct cursor in = cursor_on(lines.bytes + offset, lines.size - offset, offset, sections->swap);
    if (!take_unit_length(&in, &part, &r.header.shape.offset_size))
        return SYMBOL_DAMAGED;
    if (cursor_left(&part) > most)
        return SYMBOL_LIMIT;
    *taken = cursor_left(&part);
    if (!take_header(&part, unit, &r.header, &names))
        return SYMBOL_DAMAGED;
    t->version = r.header.shape.version;
    enum symbol_result result = read_names(&r, &names);
    if (result == SYMBOL_FOUND)
        result = run(&r, &part);
    if (result == SYMBOL_FOUND && t->rows)
        result = trim_rows(t);
    if (t->sequence_count > 1)
        qsort(t->sequences, t->sequence_count, sizeof *t->sequences, compare_sequences);
    return result;
}

void line_table_free(struct line_table *t) {
    if (!t->memory)
        return;
    mem_free(t->memory, t->rows, t->row_room, sizeof *t->rows);
    mem_free(t->memory, t->sequences, t->sequence_room, sizeof *t->sequences);
    mem_free(t->memory, t->files, t->file_room, sizeof *t->files);
    mem_free(t->memory, t->folders, t->folder_room, sizeof *t->folders);
    *t = (struct line_table){0};
}

/* The last row at or before the address. */
static const struct line_row *find_row(const struct line_table *t, const struct line_sequence *s, uint64_t address) {
    size_t low = s->first, high = s->end - 1;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (t->rows[middle].address <= address)
            low = middle;
        else
            high = middle;
    }
    return &t->rows[low];
}

const struct line_row *line_table_find(const struct line_table *t, uint64_t address, uint64_t *from, uint64_t *end) {
    size_t low = 0, high = t->sequence_count; /* the first sequence that ends after the address */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (t->sequences[middle].to <= address)
            low = middle + 1;
        else
            high = middle;
    }
    *from = *end = address;
    if (*end != UINT64_MAX)
        ++*end;
    if (low == t->sequence_count || address < t->sequences[low].from)
        return NULL;
    const struct line_row *row = find_row(t, &t->sequences[low], address);
    const uint64_t before = low ? t->sequences[low - 1].to
                                : 0; /* if sequences overlap, this one counts from the end of the previous sequence */
    *from = row->address > before ? row->address : before;
    *end = row[1].address;
    return row;
}

bool line_table_file(const struct line_table *t, uint64_t number, struct line_path *path) {
    if (number >= t->file_count || (t->version < 5 && number == 0) || !t->files[number].name)
        return false;
    const struct line_file *file = &t->files[number];
    const bool has_folder = file->folder < t->folder_count && (t->version >= 5 || file->folder > 0);
    *path = (struct line_path){has_folder ? t->folders[file->folder] : NULL, file->name,
                               t->version < 5 || file->folder != 0};
    return true;
}
