/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_RECORD_CELLS_H
#define PFR_SQL_RECORD_CELLS_H
/*
 * The fields of a record as cells, by the walker of the dump: what is present, and what it is called, is what
 * `dump --format=jsonl` prints.
 *
 *     PFR_TRY(record_cells_open(&cells, reader, &sql->layouts, &sql->memory, err));
 *     if (record_cells_read(cells, &rec, layout) == PFR_OK)
 *         use(&cells->at[0]);
 */
#include "sql/layout_columns.h"
#include "view/dump/dump_form.h"

enum cell_kind { CELL_NULL, CELL_INTEGER, CELL_REAL, CELL_TEXT, CELL_BLOB, CELL_JSON };

struct cell {
    enum cell_kind kind;
    union {
        int64_t integer;
        double real;
        struct {
            const void *at; /* in the record: until the next one is read */
            size_t length;
        } bytes;
        struct {
            size_t from, to; /* in the output of record_cells */
        } json;
    } as;
};

struct record_cells {
    struct dump dump; /* first: its forms are given this */
    struct pfr_output to;
    const struct layout_columns *layouts;
    struct cell *at;                  /* fields, then those of the sample_id, then trailing bytes */
    unsigned room;                    /* of `at` */
    unsigned base[DUMP_DEPTH], level; /* the first column of each layout that is being walked */
    unsigned json_depth, json_cell;
    size_t json_from;
};

pfr_status record_cells_open(struct record_cells **cells, pfr_reader *reader, const struct layout_columns *layouts,
                             struct memory *memory, pfr_error *err);
void record_cells_close(struct record_cells *cells); /* NULL is fine */

/* Fills cells->at. DAMAGE: the bytes do not fit the layout, all fields are NULL, *err says why. MEMORY, LIMIT. */
pfr_status record_cells_read(struct record_cells *cells, const pfr_record *rec, unsigned layout, pfr_error *err);

/* The objects "fields" and "id" of the dump; *text until the next call. PFR_END: the record has no such object. */
pfr_status record_cells_fields(struct record_cells *cells, const pfr_record *rec, unsigned layout, const char **text,
                               size_t *length, pfr_error *err);
pfr_status record_cells_id(struct record_cells *cells, const pfr_record *rec, const char **text, size_t *length,
                           pfr_error *err);

#endif
