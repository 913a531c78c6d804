/* SPDX-License-Identifier: Apache-2.0 */
/* A form of the dump that keeps values instead of printing them: see record_cells.h. Arrays are printed by the JSON
   form. */
#include "sql/record_cells.h"

#include "base/memory/fail.h"
#include "view/dump/dump_walk.h"
#include "view/dump/dump_decode.h"

#include <string.h>

static struct record_cells *cells_of(struct dump *d) {
    return (struct record_cells *)(void *)d;
}

/* The cell of a field of the current layout; NULL for a key that is not a field. */
static struct cell *cell_of(struct record_cells *c, const struct dump_key *key) {
    if (!key || key < c->dump.keys || key >= c->dump.keys + c->dump.nr_keys)
        return NULL;
    const unsigned column = c->base[c->level] + c->layouts->start[key - c->dump.keys];
    return column < c->room ? &c->at[column] : NULL;
}

static bool is_expanded(const struct record_cells *c, const struct dump_key *key) {
    return key && key >= c->dump.keys && key < c->dump.keys + c->dump.nr_keys &&
           c->layouts->expanded[key - c->dump.keys];
}

/* Begins a cell of JSON, which extends to the matching end. */
static void begin_json(struct record_cells *c, const struct dump_key *key) {
    const struct cell *cell = cell_of(c, key);
    c->json_cell = cell ? (unsigned)(cell - c->at) : c->room;
    c->json_from = c->to.out.used;
    c->dump.filled = false;
}

static void end_json(struct record_cells *c) {
    if (c->json_cell >= c->room)
        return;
    struct cell *cell = &c->at[c->json_cell];
    cell->kind = CELL_JSON;
    cell->as.json.from = c->json_from;
    cell->as.json.to = c->to.out.used;
}

static void cells_begin_part(struct dump *d, const struct dump_key *key) {
    struct record_cells *c = cells_of(d);
    if (c->json_depth == 0 && is_expanded(c, key) && c->level + 1 < DUMP_DEPTH) {
        c->base[c->level + 1] = c->base[c->level] + c->layouts->start[key - d->keys];
        c->level++;
        return;
    }
    if (c->json_depth++ == 0) {
        begin_json(c, key);
        key = NULL;
    }
    dump_json_form.begin_part(d, key);
}

static void cells_end_part(struct dump *d) {
    struct record_cells *c = cells_of(d);
    if (c->json_depth == 0) {
        c->level--;
        return;
    }
    dump_json_form.end_part(d);
    if (--c->json_depth == 0)
        end_json(c);
}

static void cells_begin_array(struct dump *d, const struct dump_key *key, uint64_t count) {
    struct record_cells *c = cells_of(d);
    if (c->json_depth++ == 0) {
        begin_json(c, key);
        key = NULL;
    }
    dump_json_form.begin_array(d, key, count);
}

static void cells_end_array(struct dump *d) {
    struct record_cells *c = cells_of(d);
    dump_json_form.end_array(d);
    if (--c->json_depth == 0)
        end_json(c);
}

static void cells_integer(struct dump *d, const struct dump_key *key, const struct field *f, uint64_t value) {
    struct record_cells *c = cells_of(d);
    if (c->json_depth) {
        dump_json_form.integer(d, key, f, value);
        return;
    }
    struct cell *cell = cell_of(c, key);
    if (!cell)
        return;
    cell->kind = f->show == SHOW_DOUBLE ? CELL_REAL : CELL_INTEGER;
    if (f->show == SHOW_DOUBLE)
        memcpy(&cell->as.real, &value, sizeof value);
    else
        cell->as.integer = f->show == SHOW_SDEC && f->kind != K_U64 ? (int32_t)value : (int64_t)value;
}

static void set_bytes(struct cell *cell, enum cell_kind kind, const void *at, size_t length) {
    if (!cell)
        return;
    cell->kind = kind;
    cell->as.bytes.at = at;
    cell->as.bytes.length = length;
}

static void cells_text(struct dump *d, const struct dump_key *key, const void *at, size_t length) {
    struct record_cells *c = cells_of(d);
    if (c->json_depth)
        dump_json_form.text(d, key, at, length);
    else
        set_bytes(cell_of(c, key), CELL_TEXT, at, length);
}

static void cells_bytes(struct dump *d, const struct dump_key *key, const uint8_t *at, uint64_t length) {
    struct record_cells *c = cells_of(d);
    if (c->json_depth)
        dump_json_form.bytes(d, key, at, length);
    else
        set_bytes(cell_of(c, key), CELL_BLOB, at, (size_t)length);
}

static void cells_numbers(struct dump *d, const struct dump_key *key, const struct field *f, const pfr_u64s *numbers) {
    struct record_cells *c = cells_of(d);
    if (c->json_depth) {
        dump_json_form.numbers(d, key, f, numbers);
        return;
    }
    begin_json(c, key);
    dump_json_form.numbers(d, NULL, f, numbers);
    end_json(c);
}

static const struct dump_form cells_form = {
    .begin_part = cells_begin_part,
    .end_part = cells_end_part,
    .begin_array = cells_begin_array,
    .end_array = cells_end_array,
    .integer = cells_integer,
    .text = cells_text,
    .bytes = cells_bytes,
    .numbers = cells_numbers,
};

static unsigned most_columns(const struct layout_columns *layouts) {
    unsigned most = 0;
    for (unsigned n = L_NONE + 1; n < LAYOUTS; n++)
        if (layouts->columns[n] && layouts->count[n] > most)
            most = layouts->count[n];
    return most + layouts->count[L_sample_id] + 1;
}

pfr_status record_cells_open(struct record_cells **out, pfr_reader *reader, const struct layout_columns *layouts,
                             struct memory *memory, pfr_error *err) {
    *out = NULL;
    struct record_cells *c = mem_zeroed(memory, 1, sizeof *c);
    if (!c)
        return mem_fail(memory, err, "record");
    memory_share(&c->to.memory, memory);
    out_open_memory(&c->to.out, &c->to.memory);
    c->layouts = layouts;
    c->room = most_columns(layouts);
    c->dump.reader = reader;
    c->dump.to = &c->to;
    c->dump.out = &c->to.out;
    c->dump.quiet = true;
    c->at = mem_alloc(&c->to.memory, c->room, sizeof *c->at);
    const pfr_status st = c->at ? dump_tables_make(&c->dump, err) : mem_fail(&c->to.memory, err, "record");
    if (st < 0)
        record_cells_close(c);
    else
        *out = c;
    return st;
}

void record_cells_close(struct record_cells *c) {
    if (!c)
        return;
    struct memory *memory = c->to.memory.of;
    mem_free(&c->to.memory, c->at, c->room, sizeof *c->at);
    dump_tables_free(&c->dump);
    out_close(&c->to.out, NULL);
    mem_free(memory, c, 1, sizeof *c);
}

static pfr_status finish_cell(struct record_cells *c, pfr_error *err) {
    if (c->to.out.status >= 0)
        return PFR_OK;
    return mem_fail(&c->to.memory, err, "record");
}

static void begin(struct record_cells *c, const struct dump_form *form, unsigned base) {
    c->dump.form = form;
    c->dump.filled = false;
    c->level = c->json_depth = 0;
    c->base[0] = base;
}

static pfr_status read_id(struct record_cells *c, const pfr_record *rec, unsigned base) {
    struct pfr_rec_sample_id id;
    const uint8_t *end = rec->bytes + rec->size;
    if (rec->tail == 0 || dump_decode_id(rec, &id, NULL) != PFR_OK)
        return PFR_END;
    begin(c, c->dump.form, base);
    dump_fields(&c->dump, L_sample_id, rec->context, &id, end - rec->tail, end);
    return PFR_OK;
}

pfr_status record_cells_read(struct record_cells *c, const pfr_record *rec, unsigned layout, pfr_error *err) {
    struct cursor in;
    const unsigned fields = c->layouts->count[layout], ids = c->layouts->count[L_sample_id];
    memset(c->at, 0, (fields + ids + 1) * sizeof *c->at);
    out_clear(&c->to.out);
    PFR_TRY(dump_decode(&c->dump, rec, layout, &in, err));
    begin(c, &cells_form, 0);
    dump_fields(&c->dump, layout, &c->dump.context, &c->dump.body, in.start, in.end);
    read_id(c, rec, fields);
    if (cursor_left(&in))
        set_bytes(&c->at[fields + ids], CELL_BLOB, in.at, cursor_left(&in));
    return finish_cell(c, err);
}

pfr_status record_cells_fields(struct record_cells *c, const pfr_record *rec, unsigned layout, const char **text,
                               size_t *length, pfr_error *err) {
    struct cursor in;
    out_clear(&c->to.out);
    PFR_TRY(dump_decode(&c->dump, rec, layout, &in, err));
    begin(c, &dump_json_form, 0);
    dump_json_form.begin_part(&c->dump, NULL);
    dump_fields(&c->dump, layout, &c->dump.context, &c->dump.body, in.start, in.end);
    dump_json_form.end_part(&c->dump);
    *text = out_bytes(&c->to.out, length);
    return finish_cell(c, err);
}

pfr_status record_cells_id(struct record_cells *c, const pfr_record *rec, const char **text, size_t *length,
                           pfr_error *err) {
    struct pfr_rec_sample_id id;
    const uint8_t *end = rec->bytes + rec->size;
    if (rec->tail == 0 || dump_decode_id(rec, &id, NULL) != PFR_OK)
        return PFR_END;
    out_clear(&c->to.out);
    begin(c, &dump_json_form, 0);
    dump_json_form.begin_part(&c->dump, NULL);
    dump_fields(&c->dump, L_sample_id, rec->context, &id, end - rec->tail, end);
    dump_json_form.end_part(&c->dump);
    *text = out_bytes(&c->to.out, length);
    return finish_cell(c, err);
}
