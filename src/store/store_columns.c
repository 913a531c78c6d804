/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a batch: see store_columns.h. */
#include "store/store_columns.h"

#include "base/memory/fail.h"

#define TEXT_MOST ((uint64_t)8 << 20) /* approximate limit of the bytes of texts and lists in one batch */

size_t store_kind_size(enum store_kind kind) {
    static const size_t sizes[] = {[STORE_U8] = sizeof(uint8_t),
                                   [STORE_U32] = sizeof(uint32_t),
                                   [STORE_U64] = sizeof(uint64_t),
                                   [STORE_I64] = sizeof(uint64_t),
                                   [STORE_DAY] = sizeof(uint32_t),
                                   [STORE_TEXT] = sizeof(struct store_text),
                                   [STORE_LIST] = sizeof(struct store_list)};
    return sizes[kind];
}

pfr_status store_columns_open(struct store_columns *c, enum store_table_number table, struct memory *memory,
                              pfr_error *err) {
    *c = (struct store_columns){.table = &store_tables[table], .number = table, .memory = memory};
    arena_init(&c->arena, memory);
    for (uint32_t i = 0; i < c->table->nr_columns; i++) {
        c->at[i] = mem_zeroed(memory, STORE_BATCH_ROWS, store_kind_size(c->table->columns[i].kind));
        if (!c->at[i])
            return mem_fail(memory, err, "store");
        c->batch.column[i] = c->at[i];
    }
    return PFR_OK;
}

void store_columns_close(struct store_columns *c) {
    if (!c->table)
        return;
    for (uint32_t i = 0; i < c->table->nr_columns; i++)
        mem_free(c->memory, c->at[i], c->at[i] ? STORE_BATCH_ROWS : 0, store_kind_size(c->table->columns[i].kind));
    arena_free(&c->arena);
    c->table = NULL;
}

void store_columns_number(struct store_columns *c, uint32_t column, uint64_t value) {
    switch (c->table->columns[column].kind) {
    case STORE_U8:
        ((uint8_t *)c->at[column])[c->batch.rows] = (uint8_t)value;
        break;
    case STORE_U32:
    case STORE_DAY:
        ((uint32_t *)c->at[column])[c->batch.rows] = (uint32_t)value;
        break;
    default:
        ((uint64_t *)c->at[column])[c->batch.rows] = value;
    }
}

pfr_status store_columns_text(struct store_columns *c, uint32_t column, const void *bytes, size_t length,
                              pfr_error *err) {
    const char *own = arena_text(&c->arena, bytes, length);
    if (!own)
        return mem_fail(c->memory, err, "store");
    ((struct store_text *)c->at[column])[c->batch.rows] = (struct store_text){own, length};
    c->bytes += length;
    return PFR_OK;
}

pfr_status store_columns_list(struct store_columns *c, uint32_t column, const void *values, size_t count,
                              pfr_error *err) {
    const uint64_t *own = arena_copy(&c->arena, values, count * sizeof *own, sizeof *own);
    if (!own)
        return mem_fail(c->memory, err, "store");
    ((struct store_list *)c->at[column])[c->batch.rows] = (struct store_list){own, count};
    c->bytes += count * sizeof *own;
    return PFR_OK;
}

bool store_columns_next(struct store_columns *c) {
    return ++c->batch.rows == STORE_BATCH_ROWS || c->bytes > TEXT_MOST;
}

void store_columns_clear(struct store_columns *c) {
    arena_free(&c->arena);
    c->batch.rows = 0;
    c->bytes = 0;
}

uint64_t store_number_at(const struct store_table *table, const struct store_batch *b, uint32_t column, uint32_t row) {
    switch (store_kind_size(table->columns[column].kind)) {
    case sizeof(uint64_t):
        return store_u64(b, column, row);
    case sizeof(uint32_t):
        return store_u32(b, column, row);
    default:
        return store_u8(b, column, row);
    }
}
