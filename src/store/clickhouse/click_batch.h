/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_CLICK_BATCH_H
#define PFR_STORE_CLICK_BATCH_H
/* Rows of answers as batches of the core: values are copied, texts are those of the answer. */
#include "store/clickhouse/native.h"
#include "store/store_engine.h"

/* Where a row is. */
struct click_row {
    const struct native_block *block;
    size_t row;
};

/* Hands `count` rows, columns of `table` in its order, to `rows`. Batches live in `arena`, which is emptied for each.
 */
pfr_status click_hand_rows(enum store_table_number table, const struct click_row *at, size_t count, struct arena *arena,
                           store_rows *rows, void *context, pfr_error *err);

#endif
