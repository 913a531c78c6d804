/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_CLICK_BATCH_H
#define PFR_STORE_CLICK_BATCH_H
/* Converts rows of answers to batches of the core. Values are copied; texts point into the answer. */
#include "store/clickhouse/native.h"
#include "store/store_engine.h"

/* A row: its block and its number in the block. */
struct click_row {
    const struct native_block *block;
    size_t row;
};

/* Passes `count` rows with the columns of `table`, in the table's order, to `rows`. Batches are allocated from `arena`,
   which is emptied for each batch. */
pfr_status click_hand_rows(enum store_table_number table, const struct click_row *at, size_t count, struct arena *arena,
                           store_rows *rows, void *context, pfr_error *err);

#endif
