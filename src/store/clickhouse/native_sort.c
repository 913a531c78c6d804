/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts rows before they are encoded. If a block is not sorted by the key of the table, the server sorts it, which
   takes up to half of the server's time for an INSERT. */
#include "store/clickhouse/native.h"
#include "store/clickhouse/native_types.h"

#include "base/memory/fail.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

struct sorted_row {
    uint64_t first; /* the value of the first key; equal values are compared by the other keys */
    size_t row;
};

struct sorting {
    const struct native_encoder *encoder;
    const unsigned *keys;
    unsigned count;
};

static size_t width_of(const struct native_encoder *encoder, unsigned column) {
    return native_types[encoder->columns[column].type].width;
}

static uint64_t value_at(const struct native_encoder *encoder, unsigned column, size_t row) {
    const size_t width = width_of(encoder, column);
    uint64_t little = 0;
    memcpy(&little, encoder->data[column].buffer + row * width, width);
    return le64toh(little);
}

static int compare_u64(uint64_t one, uint64_t other) {
    return (one > other) - (one < other);
}

/* Rows with equal keys keep their order, so that the same rows always make the same block. */
static int by_keys(const void *a, const void *b, void *context) {
    const struct sorting *sorting = context;
    const struct sorted_row *one = a, *other = b;
    int order = compare_u64(one->first, other->first);
    for (unsigned i = 1; i < sorting->count && !order; i++)
        order = compare_u64(value_at(sorting->encoder, sorting->keys[i], one->row),
                            value_at(sorting->encoder, sorting->keys[i], other->row));
    return order ? order : compare_u64(one->row, other->row);
}

static bool is_constant(const struct native_encoder *encoder, unsigned column) {
    const size_t width = width_of(encoder, column);
    const char *values = encoder->data[column].buffer;
    return memcmp(values, values + width, (encoder->rows - 1) * width) == 0;
}

/* Skips leading key columns in which all rows have the same value. In most blocks, all rows have the same upload and
   event. */
static struct sorting skip_constants(const struct native_encoder *encoder, const unsigned *keys, unsigned count) {
    while (count && is_constant(encoder, *keys)) {
        keys++;
        count--;
    }
    return (struct sorting){encoder, keys, count};
}

static void reorder_column(struct native_encoder *encoder, unsigned column, const struct sorted_row *rows,
                           char *scratch) {
    const size_t width = width_of(encoder, column);
    char *values = encoder->data[column].buffer;
    memcpy(scratch, values, encoder->rows * width);
    for (size_t i = 0; i < encoder->rows; i++)
        memcpy(values + i * width, scratch + rows[i].row * width, width);
}

static void reorder(struct native_encoder *encoder, const struct sorting *sorting, struct sorted_row *rows,
                    char *scratch) {
    for (size_t row = 0; row < encoder->rows; row++)
        rows[row] = (struct sorted_row){value_at(encoder, *sorting->keys, row), row};
    qsort_r(rows, encoder->rows, sizeof *rows, by_keys, (void *)(uintptr_t)sorting);
    for (unsigned column = 0; column < encoder->count; column++)
        reorder_column(encoder, column, rows, scratch);
}

pfr_status native_encoder_sort(struct native_encoder *encoder, const unsigned *keys, unsigned count,
                               struct memory *memory, pfr_error *err) {
    for (unsigned column = 0; column < encoder->count; column++)
        PFR_TRY(out_flush(&encoder->data[column], err)); /* a column that has failed has lost values */
    if (encoder->rows < 2)
        return PFR_OK;
    const struct sorting sorting = skip_constants(encoder, keys, count);
    if (!sorting.count)
        return PFR_OK;
    struct sorted_row *rows = mem_alloc(memory, encoder->rows, sizeof *rows);
    char *scratch = mem_alloc(memory, encoder->rows, sizeof(uint64_t));
    if (rows && scratch)
        reorder(encoder, &sorting, rows, scratch);
    const bool is_sorted = rows && scratch;
    mem_free(memory, rows, rows ? encoder->rows : 0, sizeof *rows);
    mem_free(memory, scratch, scratch ? encoder->rows : 0, sizeof(uint64_t));
    return is_sorted ? PFR_OK : mem_fail(memory, err, "store");
}
