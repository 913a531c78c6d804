/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_TABLES_H
#define PFR_SQL_TABLES_H
/*
 * Tables whose rows can be accessed by number: tables of a model, facts about the model, and sums by symbol. One module
 * implements all these tables. A table consists of its declaration, a function for its size, and a function for one
 * column of one row.
 */
#include "sql/sql_parts.h"

struct model_table {
    const char *name, *declaration;
    bool by_id;     /* the first column is the number of the row, from 1 */
    bool has_lists; /* the table is `stack` */
    /* Prepares data that the rows need in addition to the model; NULL: none are needed. */
    pfr_status (*prepare)(struct sql_source *source, pfr_error *err);
    /* Number of the last row, from 1; UINT64_MAX: `exists` determines the end. */
    uint64_t (*count)(const struct sql_source *source);
    void (*column)(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to);
    bool (*exists)(const struct sql_source *source, uint64_t row);
};

/* Columns of the table `stack` for which lists of rows with the same value exist: parent and symbol. */
#define STACK_PARENT 1
#define STACK_SYMBOL 3
pfr_status stack_lists_need(struct sql_source *source, pfr_error *err);

extern const struct model_table model_tables[];
extern const unsigned nr_model_tables;

#endif
