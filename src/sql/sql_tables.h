/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_TABLES_H
#define PFR_SQL_TABLES_H
/*
 * Tables whose rows are at hand by number: those of a model, its facts, and sums by symbol. One module serves all of
 * them; a table is its declaration and functions for its size and one column of one row.
 */
#include "sql/sql_parts.h"

struct model_table {
    const char *name, *declaration;
    bool by_id;     /* the first column is the number of the row from 1 */
    bool has_lists; /* is `stack` */
    /* What the rows need beside the model; NULL: nothing. */
    pfr_status (*prepare)(struct sql_source *source, pfr_error *err);
    /* Rows are 1 to this number; UINT64_MAX: as long as `exists` says so. */
    uint64_t (*count)(const struct sql_source *source);
    void (*column)(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to);
    bool (*exists)(const struct sql_source *source, uint64_t row);
};

/* Lists of the table `stack`, for columns 1 (parent) and 3 (symbol). */
#define STACK_PARENT 1
#define STACK_SYMBOL 3
pfr_status stack_lists_need(struct sql_source *source, pfr_error *err);

extern const struct model_table model_tables[];
extern const unsigned nr_model_tables;

#endif
