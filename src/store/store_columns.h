/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_STORE_COLUMNS_H
#define PFR_STORE_STORE_COLUMNS_H
/*
 * Builds a batch: values are put into the current row column by column; texts and lists are copied.
 *
 *     store_columns_open(&c, STORE_TABLE_comm, memory, &err);
 *     store_columns_number(&c, 0, hash);
 *     store_columns_text(&c, 1, name, length, &err);
 *     if (store_columns_next(&c))                  the batch is full
 *         engine->insert(handle, c.number, store_columns_batch(&c), &err), store_columns_clear(&c);
 *     store_columns_close(&c);
 */
#include "base/memory/arena.h"
#include "store/store_engine.h"

struct store_columns {
    const struct store_table *table;
    enum store_table_number number;
    struct memory *memory;
    struct arena arena; /* texts and lists */
    uint64_t bytes;     /* bytes of the texts and lists */
    struct store_batch batch;
    void *at[STORE_COLUMNS_MOST];
};

/* The size of a value in a batch, in bytes. */
size_t store_kind_size(enum store_kind kind);

pfr_status store_columns_open(struct store_columns *c, enum store_table_number table, struct memory *memory,
                              pfr_error *err);
void store_columns_close(struct store_columns *c); /* also for a struct that is all zero */
/* Set values of the current row. store_columns_number takes numbers of any width. */
void store_columns_number(struct store_columns *c, uint32_t column, uint64_t value);
pfr_status store_columns_text(struct store_columns *c, uint32_t column, const void *bytes, size_t length,
                              pfr_error *err);
pfr_status store_columns_list(struct store_columns *c, uint32_t column, const void *values, size_t count,
                              pfr_error *err);
/* Completes the row. Returns true if the batch is full and must be cleared: it has STORE_BATCH_ROWS rows, or too many
   bytes of texts and lists. */
bool store_columns_next(struct store_columns *c);
static inline const struct store_batch *store_columns_batch(const struct store_columns *c) {
    return &c->batch;
}
void store_columns_clear(struct store_columns *c);

/* A value of a batch. */
static inline uint64_t store_u64(const struct store_batch *b, uint32_t column, uint32_t row) {
    return ((const uint64_t *)b->column[column])[row];
}
static inline uint32_t store_u32(const struct store_batch *b, uint32_t column, uint32_t row) {
    return ((const uint32_t *)b->column[column])[row];
}
static inline uint8_t store_u8(const struct store_batch *b, uint32_t column, uint32_t row) {
    return ((const uint8_t *)b->column[column])[row];
}
static inline struct store_text store_text_at(const struct store_batch *b, uint32_t column, uint32_t row) {
    return ((const struct store_text *)b->column[column])[row];
}
static inline struct store_list store_list_at(const struct store_batch *b, uint32_t column, uint32_t row) {
    return ((const struct store_list *)b->column[column])[row];
}
/* Any column of numbers. */
uint64_t store_number_at(const struct store_table *table, const struct store_batch *b, uint32_t column, uint32_t row);

#endif
