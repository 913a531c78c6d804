/* SPDX-License-Identifier: Apache-2.0 */
/* Converts rows of answers to batches; click_push.c does the inverse. */
#include "store/clickhouse/click_batch.h"

#include "base/memory/fail.h"

#include <string.h>

static const size_t size_of_kind[] = {
    [STORE_U8] = sizeof(uint8_t),
    [STORE_U32] = sizeof(uint32_t),
    [STORE_U64] = sizeof(uint64_t),
    [STORE_I64] = sizeof(int64_t),
    [STORE_DAY] = sizeof(uint32_t),
    [STORE_TEXT] = sizeof(struct store_text),
    [STORE_LIST] = sizeof(struct store_list),
};

static bool copy_list(const struct click_row *at, unsigned column, struct arena *arena, struct store_list *list) {
    const size_t count = native_list_length(at->block, column, at->row);
    uint64_t *values = arena_zeroed(arena, count, sizeof *values);
    if (!values)
        return false;
    for (size_t i = 0; i < count; i++)
        values[i] = native_list_value(at->block, column, at->row, i);
    *list = (struct store_list){values, count};
    return true;
}

static bool copy_value(const struct click_row *at, unsigned column, enum store_kind kind, struct arena *arena,
                       void *values, size_t row) {
    struct native_text text;
    switch (kind) {
    case STORE_U8:
        ((uint8_t *)values)[row] = (uint8_t)native_u64(at->block, column, at->row);
        return true;
    case STORE_U32:
    case STORE_DAY:
        ((uint32_t *)values)[row] = (uint32_t)native_u64(at->block, column, at->row);
        return true;
    case STORE_U64:
    case STORE_I64:
        ((uint64_t *)values)[row] = native_u64(at->block, column, at->row);
        return true;
    case STORE_TEXT:
        text = native_text(at->block, column, at->row);
        ((struct store_text *)values)[row] = (struct store_text){(const char *)text.at, (size_t)text.length};
        return true;
    case STORE_LIST:
        return copy_list(at, column, arena, (struct store_list *)values + row);
    }
    return false;
}

static pfr_status fill_batch(enum store_table_number table, const struct click_row *at, uint32_t count,
                             struct arena *arena, struct store_batch *batch, pfr_error *err) {
    const struct store_table *of = &store_tables[table];
    *batch = (struct store_batch){.rows = count};
    for (unsigned column = 0; column < of->nr_columns; column++) {
        const enum store_kind kind = of->columns[column].kind;
        void *values = arena_zeroed(arena, count, size_of_kind[kind]);
        if (!values)
            return mem_fail(arena->memory, err, "store");
        for (uint32_t row = 0; row < count; row++)
            if (!copy_value(&at[row], column, kind, arena, values, row))
                return mem_fail(arena->memory, err, "store");
        batch->column[column] = values;
    }
    return PFR_OK;
}

pfr_status click_hand_rows(enum store_table_number table, const struct click_row *at, size_t count, struct arena *arena,
                           store_rows *rows, void *context, pfr_error *err) {
    while (count) {
        const uint32_t some = count < STORE_BATCH_ROWS ? (uint32_t)count : STORE_BATCH_ROWS;
        struct store_batch batch;
        pfr_status st = fill_batch(table, at, some, arena, &batch, err);
        if (st >= 0)
            st = rows(context, &batch, err);
        arena_free(arena);
        PFR_TRY(st);
        at += some;
        count -= some;
    }
    return PFR_OK;
}
