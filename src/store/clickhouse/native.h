/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_NATIVE_H
#define PFR_STORE_NATIVE_H
/*
 * ClickHouse's Native format: tables as blocks of columns. 18.16 and current servers read and write the same bytes for
 * these types (https://clickhouse.com/docs/en/interfaces/formats#native):
 *
 *     block    varint number of columns, varint number of rows, the columns; without rows a column has no data
 *     column   text name, text type, the data of all rows
 *     text     varint length, bytes
 *     varint   seven bits a byte, low ones first; bit 7: another byte follows
 *
 * Data: integers and Float64 are little endian, one after the other; String is a text for each row; Array(UInt64) is
 * the end of each row's list as UInt64, counted in values, then the values of all rows.
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

/* As ClickHouse writes it, in answers and in CREATE TABLE. */
const char *native_type_name(enum native_type type);

struct native_column {
    const char *name;
    enum native_type type;
};

#define NATIVE_COLUMNS_MOST 24u

/* --- Writing. */

struct native_encoder {
    const struct native_column *columns; /* the caller's */
    unsigned count;
    size_t rows;
    struct output data[NATIVE_COLUMNS_MOST], ends[NATIVE_COLUMNS_MOST]; /* ends: of Array(UInt64) */
    uint64_t values[NATIVE_COLUMNS_MOST];                               /* of Array(UInt64), so far */
};

/* `count` is at most NATIVE_COLUMNS_MOST. Takes no memory yet. */
void native_encoder_init(struct native_encoder *encoder, const struct native_column *columns, unsigned count,
                         struct memory *memory);
void native_encoder_free(struct native_encoder *encoder);

/* A value of the row that is being made; each column gets one. An integer is cut to the width of its type. */
void native_put_u64(struct native_encoder *encoder, unsigned column, uint64_t value);
void native_put_double(struct native_encoder *encoder, unsigned column, double value);
void native_put_text(struct native_encoder *encoder, unsigned column, const void *bytes, size_t length);
void native_put_list(struct native_encoder *encoder, unsigned column, const uint64_t *values, size_t count);

/* Bytes of the rows so far. */
size_t native_encoded_size(const struct native_encoder *encoder);

/* Appends the rows as one block (no rows: nothing) and forgets them. Errors: MEMORY, LIMIT; those of `to` stick to it.
 */
pfr_status native_encode(struct native_encoder *encoder, struct output *to, pfr_error *err);

/* --- Reading. */

struct native_text {
    const uint8_t *at; /* in the answer */
    uint64_t length;
};

/* The rows of one block, in the answer's bytes; only the places of texts are in the arena. */
struct native_block {
    const struct native_column *columns;
    unsigned count;
    size_t rows;
    struct {
        const uint8_t *fixed;  /* integers, Float64; ends of lists */
        const uint8_t *values; /* of lists */
        const struct native_text *texts;
    } data[NATIVE_COLUMNS_MOST];
};

/*
 * The next block of an answer that must have these columns, by name and type. PFR_END: the answer is at its end.
 * FORMAT: the columns are others. DAMAGE: the bytes are no block, or the answer is cut; offsets count from its start.
 * MEMORY, LIMIT: of the arena. Memory is only taken for bytes that are there.
 */
pfr_status native_decode(struct cursor *in, const struct native_column *columns, unsigned count, struct arena *arena,
                         struct native_block *block, pfr_error *err);

/* Values; `row` is less than block->rows, and the column is of such a type. */
uint64_t native_u64(const struct native_block *block, unsigned column, size_t row);
double native_double(const struct native_block *block, unsigned column, size_t row);
struct native_text native_text(const struct native_block *block, unsigned column, size_t row);
/* Number of values in a list, and value `index` of it. */
size_t native_list_length(const struct native_block *block, unsigned column, size_t row);
uint64_t native_list_value(const struct native_block *block, unsigned column, size_t row, size_t index);

#endif
