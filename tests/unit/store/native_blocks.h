/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_NATIVE_BLOCKS_H
#define PFR_TESTS_NATIVE_BLOCKS_H
/* Builds blocks with every column type and random rows, and an answer to read. */
#include "store/clickhouse/native.h"

#define NATIVE_BLOCK_COLUMNS 8u

static const struct native_column native_block_columns[NATIVE_BLOCK_COLUMNS] = {
    {"u8", NATIVE_UINT8},  {"u16", NATIVE_UINT16},  {"u32", NATIVE_UINT32},  {"u64", NATIVE_UINT64},
    {"i64", NATIVE_INT64}, {"f64", NATIVE_FLOAT64}, {"text", NATIVE_STRING}, {"list", NATIVE_ARRAY_UINT64}};

struct native_answer {
    struct memory memory;
    struct arena arena;
    struct cursor in;
    uint8_t *bytes; /* a separate allocation, so that sanitizers detect reads beyond its end */
};

static inline void native_answer_begin(struct native_answer *answer, const void *bytes, size_t length) {
    memory_init(&answer->memory, NULL, 64 << 20);
    arena_init(&answer->arena, &answer->memory);
    answer->bytes = malloc(length ? length : 1);
    assert_non_null(answer->bytes);
    if (length)
        memcpy(answer->bytes, bytes, length);
    answer->in = cursor_on(answer->bytes, length, 0, false);
}

static inline void native_answer_end(struct native_answer *answer) {
    arena_free(&answer->arena);
    assert_int_equal(answer->memory.used, 0);
    free(answer->bytes);
}

static inline uint64_t native_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The value of a row and column, wide or narrow. */
static inline uint64_t native_value(uint64_t seed, unsigned column, size_t row) {
    uint64_t state = seed * 1000003 + column * 7919 + row + 1;
    native_random(&state);
    return native_random(&state) >> (native_random(&state) % 64);
}

static inline void native_put_row(struct native_encoder *encoder, uint64_t seed, size_t row) {
    uint64_t list[5];
    for (unsigned i = 0; i < 5; i++)
        list[i] = native_value(seed, 7, row * 5 + i);
    for (unsigned column = 0; column < 5; column++)
        native_put_u64(encoder, column, native_value(seed, column, row));
    native_put_double(encoder, 5, (double)native_value(seed, 5, row));
    native_put_text(encoder, 6, list, native_value(seed, 6, row) % 40);
    native_put_list(encoder, 7, list, native_value(seed, 6, row) % 6);
    encoder->rows++;
}

/* Block `b` has b * 50 + seed rows. */
static inline pfr_status native_blocks_make(struct output *to, struct memory *memory, uint64_t seed, unsigned blocks) {
    struct native_encoder encoder;
    pfr_status st = PFR_OK;
    native_encoder_init(&encoder, native_block_columns, NATIVE_BLOCK_COLUMNS, memory);
    for (unsigned b = 0; b < blocks && st >= 0; b++) {
        for (size_t row = 0; row < b * 50 + seed; row++)
            native_put_row(&encoder, seed, row);
        st = native_encode(&encoder, to, NULL);
    }
    native_encoder_free(&encoder);
    return st;
}

static inline void native_check_row(const struct native_block *block, uint64_t seed, size_t row) {
    static const uint64_t masks[5] = {0xff, 0xffff, 0xffffffff, UINT64_MAX, UINT64_MAX};
    uint64_t list[5];
    for (unsigned i = 0; i < 5; i++)
        list[i] = native_value(seed, 7, row * 5 + i);
    for (unsigned column = 0; column < 5; column++)
        assert_true(native_u64(block, column, row) == (native_value(seed, column, row) & masks[column]));
    assert_true(native_double(block, 5, row) == (double)native_value(seed, 5, row));
    const struct native_text text = native_text(block, 6, row);
    assert_int_equal(text.length, native_value(seed, 6, row) % 40);
    assert_memory_equal(text.at, list, text.length);
    assert_int_equal(native_list_length(block, 7, row), native_value(seed, 6, row) % 6);
    for (size_t i = 0; i < native_list_length(block, 7, row); i++)
        assert_true(native_list_value(block, 7, row, i) == list[i]);
}

static inline void native_blocks_check(const struct output *to, uint64_t seed, unsigned blocks) {
    struct native_answer answer;
    struct native_block block;
    size_t length;
    const char *bytes = out_bytes(to, &length);
    native_answer_begin(&answer, bytes, length);
    for (unsigned b = 0; b < blocks; b++) {
        assert_int_equal(
            native_decode(&answer.in, native_block_columns, NATIVE_BLOCK_COLUMNS, &answer.arena, &block, NULL), PFR_OK);
        assert_int_equal(block.rows, b * 50 + seed);
        for (size_t row = 0; row < block.rows; row++)
            native_check_row(&block, seed, row);
    }
    assert_int_equal(cursor_left(&answer.in), 0);
    native_answer_end(&answer);
}

#endif
