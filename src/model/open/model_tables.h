/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_MODEL_TABLES_H
#define PFR_MODEL_OPEN_MODEL_TABLES_H
/* Interface of model_tables.c, which describes how it works. */
#include "model/open/model_parts.h"

/* Makes room for one more row. */
pfr_status rows_grow(struct pfr_model *m, struct id_table *rows, size_t size, const char *table, pfr_error *err);

/* Adds a copy of `row`; the rows may move in memory. Errors: memory; limit (also for 2^32 - 1 rows). */
static inline pfr_status rows_add(struct pfr_model *m, struct id_table *rows, const void *row, size_t size,
                                  uint32_t *id, const char *table, pfr_error *err) {
    *id = 0;
    if ((size_t)rows->count + 1 >= rows->room || rows->count >= UINT32_MAX - 1)
        PFR_TRY(rows_grow(m, rows, size, table, err));
    *id = ++rows->count;
    memcpy((uint8_t *)rows->at + *id * size, row, size);
    return PFR_OK;
}
void model_init(struct pfr_model *m, struct memory *memory);
void model_sort_intervals(struct pfr_model *m); /* by start */

/* Makes a copy of a text that belongs to the model; NULL remains NULL. */
pfr_status model_text(struct pfr_model *m, const char *text, size_t length, const char **own, pfr_error *err);
pfr_status columns_grow(struct memory *memory, struct sample_columns *c, size_t more, pfr_error *err);
/* As columns_grow, without room for further rows. */
pfr_status columns_fit(struct memory *memory, struct sample_columns *c, size_t more, pfr_error *err);
void columns_free(struct memory *memory, struct sample_columns *c);
void columns_set(struct sample_columns *c, size_t at, const struct pfr_sample *row);

/* columns_append adds the rows of a batch to the columns that are kept; columns_join moves all columns of `from` to
   `to`. */
void columns_append(struct sample_columns *c, const pfr_sample_batch *rows);
void columns_join(struct sample_columns *to, struct sample_columns *from);

/* Reorders the columns: row i becomes the former row from[i]. */
pfr_status columns_permute(struct memory *memory, struct sample_columns *c, const uint32_t *from, pfr_error *err);

/* Frees the rows of all tables; the columns of samples stay. */
void model_free_rows(struct pfr_model *m);

#endif
