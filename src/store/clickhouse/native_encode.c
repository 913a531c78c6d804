/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes rows as blocks of the Native format. The bytes of each column are collected; a block is their
   concatenation. */
#include "store/clickhouse/native.h"
#include "store/clickhouse/native_types.h"

#include "base/memory/fail.h"
#include "base/text/proto.h"

#include <endian.h>
#include <string.h>

const struct native_type_row native_types[] = {
    [NATIVE_UINT8] = {"UInt8", 1, 0},
    [NATIVE_UINT16] = {"UInt16", 2, 0},
    [NATIVE_UINT32] = {"UInt32", 4, 0},
    [NATIVE_UINT64] = {"UInt64", 8, 0},
    [NATIVE_INT64] = {"Int64", 8, 0},
    [NATIVE_FLOAT64] = {"Float64", 8, 0},
    [NATIVE_DATE] = {"Date", 2, 0},
    [NATIVE_STRING] = {"String", 0, 0},
    [NATIVE_ARRAY_UINT64] = {"Array(UInt64)", 8, 1},
};

const char *native_type_name(enum native_type type) {
    return native_types[type].name;
}

void native_encoder_init(struct native_encoder *encoder, const struct native_column *columns, unsigned count,
                         struct memory *memory) {
    *encoder = (struct native_encoder){.columns = columns, .count = count};
    for (unsigned i = 0; i < count; i++) {
        out_open_memory(&encoder->data[i], memory);
        out_open_memory(&encoder->ends[i], memory);
    }
}

void native_encoder_free(struct native_encoder *encoder) {
    for (unsigned i = 0; i < encoder->count; i++) {
        out_close(&encoder->data[i], NULL);
        out_close(&encoder->ends[i], NULL);
    }
}

static void put_text(struct output *to, const void *bytes, size_t length) {
    proto_varint(to, length);
    out_write(to, bytes, length);
}

void native_put_u64(struct native_encoder *encoder, unsigned column, uint64_t value) {
    const uint64_t little = htole64(value);
    out_write(&encoder->data[column], &little, native_types[encoder->columns[column].type].width);
}

void native_put_double(struct native_encoder *encoder, unsigned column, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    native_put_u64(encoder, column, bits);
}

void native_put_text(struct native_encoder *encoder, unsigned column, const void *bytes, size_t length) {
    put_text(&encoder->data[column], bytes, length);
}

void native_put_list(struct native_encoder *encoder, unsigned column, const uint64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        native_put_u64(encoder, column, values[i]);
    encoder->values[column] += count;
    const uint64_t end = htole64(encoder->values[column]);
    out_write(&encoder->ends[column], &end, sizeof end);
}

size_t native_encoded_size(const struct native_encoder *encoder) {
    size_t size = 0;
    for (unsigned i = 0; i < encoder->count; i++)
        size += encoder->data[i].used + encoder->ends[i].used;
    return size;
}

/* An output to memory that has failed has lost bytes, so no block can be made. */
static pfr_status check_columns(struct native_encoder *encoder, pfr_error *err) {
    for (unsigned i = 0; i < encoder->count; i++) {
        PFR_TRY(out_flush(&encoder->data[i], err));
        PFR_TRY(out_flush(&encoder->ends[i], err));
    }
    return PFR_OK;
}

static void move_bytes(struct output *from, struct output *to) {
    size_t length;
    const char *bytes = out_bytes(from, &length);
    out_write(to, bytes, length);
    out_clear(from);
}

pfr_status native_encode(struct native_encoder *encoder, struct output *to, pfr_error *err) {
    if (!encoder->rows)
        return PFR_OK;
    PFR_TRY(check_columns(encoder, err));
    proto_varint(to, encoder->count);
    proto_varint(to, encoder->rows);
    for (unsigned i = 0; i < encoder->count; i++) {
        const char *type = native_type_name(encoder->columns[i].type);
        put_text(to, encoder->columns[i].name, strlen(encoder->columns[i].name));
        put_text(to, type, strlen(type));
        move_bytes(&encoder->ends[i], to);
        move_bytes(&encoder->data[i], to);
        encoder->values[i] = 0;
    }
    encoder->rows = 0;
    return out_flush(to, err);
}
