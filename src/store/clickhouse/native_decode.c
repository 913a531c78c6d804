/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes blocks of the Native format from a server that may send anything. A number of rows is accepted only if at
 * least that many bytes follow in the answer, because each row of each column has at least one byte.
 */
#include "store/clickhouse/native.h"
#include "store/clickhouse/native_types.h"

#include "base/memory/fail.h"
#include "base/text/proto.h"

#include <string.h>

static pfr_status damaged(const struct cursor *in, const char *where, const char *problem, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_DAMAGE, cursor_offset(in), cursor_left(in), where, "%s at byte %llu of the answer %s",
                    where, (unsigned long long)cursor_offset(in), problem);
}

static uint64_t load_little(const uint8_t *at, unsigned width) {
    uint64_t value = 0;
    for (unsigned i = width; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static bool take_text(struct cursor *in, struct native_text *text) {
    return proto_take_number(in, &text->length) && take_bytes(in, text->length, &text->at);
}

static bool is_text(struct native_text text, const char *wanted) {
    return text.length == strlen(wanted) && memcmp(text.at, wanted, text.length) == 0;
}

static pfr_status take_column_head(struct cursor *in, const struct native_column *wanted, pfr_error *err) {
    const struct cursor at = *in;
    struct native_text name, type;
    if (!take_text(in, &name) || !take_text(in, &type))
        return damaged(&at, "native.column", "is cut", err);
    if (is_text(name, wanted->name) && is_text(type, native_type_name(wanted->type)))
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_FORMAT, cursor_offset(&at), 0, "native.column",
                    "the answer has a column %.*s of type %.*s where %s of type %s is expected",
                    (int)(name.length < 30 ? name.length : 30), (const char *)name.at,
                    (int)(type.length < 30 ? type.length : 30), (const char *)type.at, wanted->name,
                    native_type_name(wanted->type));
}

/* Takes `rows` values of `width` bytes. */
static bool take_fixed(struct cursor *in, uint64_t rows, uint64_t width, const uint8_t **at) {
    uint64_t bytes;
    return !__builtin_mul_overflow(rows, width, &bytes) && take_bytes(in, bytes, at);
}

static pfr_status take_texts(struct cursor *in, size_t rows, struct arena *arena, const struct native_text **texts,
                             pfr_error *err) {
    if (rows > cursor_left(in))
        return damaged(in, "native.String", "is cut", err);
    struct native_text *made = arena_zeroed(arena, rows, sizeof *made);
    if (!made)
        return mem_fail(arena->memory, err, "answer");
    for (size_t i = 0; i < rows; i++) {
        const struct cursor at = *in;
        if (!take_text(in, &made[i]))
            return damaged(&at, "native.String", "is cut or has a wrong length", err);
    }
    *texts = made;
    return PFR_OK;
}

/* Ends must not decrease, or a list would have a negative length. */
static pfr_status take_lists(struct cursor *in, size_t rows, const uint8_t **ends, const uint8_t **values,
                             pfr_error *err) {
    const struct cursor at = *in;
    if (!take_fixed(in, rows, sizeof(uint64_t), ends))
        return damaged(&at, "native.Array", "is cut", err);
    uint64_t last = 0;
    for (size_t i = 0; i < rows; i++) {
        const uint64_t end = load_little(*ends + i * sizeof end, sizeof end);
        if (end < last)
            return damaged(&at, "native.Array", "has falling ends", err);
        last = end;
    }
    return take_fixed(in, last, sizeof(uint64_t), values) ? PFR_OK : damaged(in, "native.Array", "is cut", err);
}

static pfr_status take_column(struct cursor *in, struct native_block *block, unsigned column, struct arena *arena,
                              pfr_error *err) {
    const struct native_type_row *type = &native_types[block->columns[column].type];
    PFR_TRY(take_column_head(in, &block->columns[column], err));
    if (type->is_list)
        return take_lists(in, block->rows, &block->data[column].fixed, &block->data[column].values, err);
    if (!type->width)
        return take_texts(in, block->rows, arena, &block->data[column].texts, err);
    if (!take_fixed(in, block->rows, type->width, &block->data[column].fixed))
        return damaged(in, "native.column", "has fewer values than rows", err);
    return PFR_OK;
}

pfr_status native_decode(struct cursor *in, const struct native_column *columns, unsigned count, struct arena *arena,
                         struct native_block *block, pfr_error *err) {
    if (!cursor_left(in))
        return PFR_END;
    const struct cursor at = *in;
    uint64_t nr_columns, rows;
    if (!proto_take_number(in, &nr_columns) || !proto_take_number(in, &rows))
        return damaged(&at, "native.block", "is cut", err);
    if (nr_columns != count)
        return pfr_fail(err, PFR_ERR_FORMAT, cursor_offset(&at), 0, "native.block",
                        "the answer has %llu columns where %u are expected", (unsigned long long)nr_columns, count);
    if (rows > cursor_left(in))
        return damaged(&at, "native.block", "has more rows than bytes", err);
    *block = (struct native_block){.columns = columns, .count = count, .rows = (size_t)rows};
    for (unsigned i = 0; i < count; i++)
        PFR_TRY(take_column(in, block, i, arena, err));
    return PFR_OK;
}

/* --- Values. */

uint64_t native_u64(const struct native_block *block, unsigned column, size_t row) {
    const unsigned width = native_types[block->columns[column].type].width;
    return load_little(block->data[column].fixed + row * width, width);
}

double native_double(const struct native_block *block, unsigned column, size_t row) {
    const uint64_t bits = native_u64(block, column, row);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

struct native_text native_text(const struct native_block *block, unsigned column, size_t row) {
    return block->data[column].texts[row];
}

static uint64_t list_begin(const struct native_block *block, unsigned column, size_t row) {
    return row ? native_u64(block, column, row - 1) : 0;
}

size_t native_list_length(const struct native_block *block, unsigned column, size_t row) {
    return (size_t)(native_u64(block, column, row) - list_begin(block, column, row));
}

uint64_t native_list_value(const struct native_block *block, unsigned column, size_t row, size_t index) {
    const size_t at = (size_t)list_begin(block, column, row) + index;
    return load_little(block->data[column].values + at * sizeof(uint64_t), sizeof(uint64_t));
}
