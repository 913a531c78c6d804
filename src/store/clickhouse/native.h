/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_NATIVE_H
#define PFR_STORE_NATIVE_H
/*
 * ClickHouse's Native format: tables as blocks of columns. 18.16 and current servers read and write the same bytes for
 * these types (https://clickhouse.com/docs/en/interfaces/formats#native):
 *
 *     block    varint number of columns, varint number of rows, the columns; if there are no rows, a column has no data
 *     column   text name, text type, the data of all rows
 *     text     varint length, bytes
 *     varint   seven bits per byte, low bits first; bit 7 is set if another byte follows
 *
 * Data: integers and Float64 are little-endian, one after the other. String is a text for each row. Array(UInt64) has a
 * UInt64 for each row, which is the number of values in the lists of this row and all rows before it; then the values.
 *
 * Example:
 *
 *     static const struct native_column columns[] = {{"host", NATIVE_STRING}, {"weight", NATIVE_UINT64}};
 *     struct native_encoder encoder;
 *     native_encoder_init(&encoder, columns, 2, memory);
 *     native_put_text(&encoder, 0, "web-1", 5);
 *     native_put_u64(&encoder, 1, 10101010);
 *     encoder.rows++;
 *     native_encode(&encoder, out);
 */
#include "base/io/output.h"
#include "base/memory/arena.h"
#include "base/memory/cursor.h"

enum native_type {
    NATIVE_UINT8,
    NATIVE_UINT16,
    NATIVE_UINT32,
    NATIVE_UINT64,
    NATIVE_INT64,
    NATIVE_FLOAT64,
    NATIVE_DATE, /* days since 1970, 16 bits */
    NATIVE_STRING,
    NATIVE_ARRAY_UINT64,
};

/* The name of the type in answers and in CREATE TABLE. */
const char *native_type_name(enum native_type type);

struct native_column {
    const char *name;
    enum native_type type;
};

#define NATIVE_COLUMNS_MOST 24u

/* --- Writing. */

struct native_encoder {
    const struct native_column *columns; /* belongs to the caller */
    unsigned count;
    size_t rows;
    struct output data[NATIVE_COLUMNS_MOST], ends[NATIVE_COLUMNS_MOST]; /* ends: of the lists of Array(UInt64) */
    uint64_t values[NATIVE_COLUMNS_MOST];                               /* number of values of Array(UInt64) so far */
};

/* `count` is at most NATIVE_COLUMNS_MOST. Allocates nothing yet. */
void native_encoder_init(struct native_encoder *encoder, const struct native_column *columns, unsigned count,
                         struct memory *memory);
void native_encoder_free(struct native_encoder *encoder);

/* Append a value to the current row; each column gets one. An integer is truncated to the width of its type. */
void native_put_u64(struct native_encoder *encoder, unsigned column, uint64_t value);
void native_put_double(struct native_encoder *encoder, unsigned column, double value);
void native_put_text(struct native_encoder *encoder, unsigned column, const void *bytes, size_t length);
void native_put_list(struct native_encoder *encoder, unsigned column, const uint64_t *values, size_t count);

/* Sorts the rows by `count` columns of unsigned numbers, the first of `keys` being the most significant. No column may
   be a String or a list. Errors: MEMORY, LIMIT. */
pfr_status native_encoder_sort(struct native_encoder *encoder, const unsigned *keys, unsigned count,
                               struct memory *memory, pfr_error *err);

/* The size of the rows so far, in bytes. */
size_t native_encoded_size(const struct native_encoder *encoder);

/* Appends the rows to `to` as one block (nothing if there are no rows) and clears them. Errors: MEMORY, LIMIT; `to`
   keeps its own errors. */
pfr_status native_encode(struct native_encoder *encoder, struct output *to, pfr_error *err);

/* --- Reading. */

struct native_text {
    const uint8_t *at; /* points into the answer */
    uint64_t length;
};

/* The rows of one block, in the answer's bytes. Only the array of the positions of texts is in the arena. */
struct native_block {
    const struct native_column *columns;
    unsigned count;
    size_t rows;
    struct {
        const uint8_t *fixed;  /* integers, Float64; ends of lists */
        const uint8_t *values; /* values of the lists */
        const struct native_text *texts;
    } data[NATIVE_COLUMNS_MOST];
};

/*
 * Decodes the next block of an answer, which must have these columns, by name and type. PFR_END: the answer has ended.
 * FORMAT: it has other columns. DAMAGE: the bytes are not a block, or the answer is truncated; offsets count from its
 * start. MEMORY, LIMIT: errors of the arena. Memory is allocated only for bytes that exist.
 */
pfr_status native_decode(struct cursor *in, const struct native_column *columns, unsigned count, struct arena *arena,
                         struct native_block *block, pfr_error *err);

/* Return a value. `row` must be less than block->rows, and the type of the column must fit the function. */
uint64_t native_u64(const struct native_block *block, unsigned column, size_t row);
double native_double(const struct native_block *block, unsigned column, size_t row);
struct native_text native_text(const struct native_block *block, unsigned column, size_t row);
/* Return the number of values in the list of a row, and the value at `index` in that list. */
size_t native_list_length(const struct native_block *block, unsigned column, size_t row);
uint64_t native_list_value(const struct native_block *block, unsigned column, size_t row, size_t index);

#endif
