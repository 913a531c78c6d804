/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_RECORD_CELLS_H
#define PFR_SQL_RECORD_CELLS_H
/*
 * The fields of a record as cells, made by the code of the dump, so the cells have the same fields and names as
 * `dump --format=jsonl`.
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
            const void *at; /* bytes in the record; valid until the next record is read */
            size_t length;
        } bytes;
        struct {
            size_t from, to; /* range in the output of record_cells */
        } json;
    } as;
};

struct record_cells {
    struct dump dump; /* must be the first member: its forms receive a pointer to it */
    struct pfr_output to;
    const struct layout_columns *layouts;
    struct cell *at;                  /* cells of the fields, of the sample_id's fields, and of trailing bytes */
    unsigned room;                    /* number of elements of `at` */
    unsigned base[DUMP_DEPTH], level; /* by level: first column of each layout that is being read */
    unsigned json_depth, json_cell;
    size_t json_from;
};

pfr_status record_cells_open(struct record_cells **cells, pfr_reader *reader, const struct layout_columns *layouts,
                             struct memory *memory, pfr_error *err);
void record_cells_close(struct record_cells *cells); /* NULL is allowed */

/* Fills cells->at. PFR_ERR_DAMAGE: the bytes do not fit the layout, as *err describes, and all fields are NULL. Also
   PFR_ERR_MEMORY, PFR_ERR_LIMIT. */
pfr_status record_cells_read(struct record_cells *cells, const pfr_record *rec, unsigned layout, pfr_error *err);

/* Gets the objects "fields" or "id" of the dump as text, valid until the next call. PFR_END: the record has no such
   object. */
pfr_status record_cells_fields(struct record_cells *cells, const pfr_record *rec, unsigned layout, const char **text,
                               size_t *length, pfr_error *err);
pfr_status record_cells_id(struct record_cells *cells, const pfr_record *rec, const char **text, size_t *length,
                           pfr_error *err);

#endif
