/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of the Native format: bytes as servers write them, written and read back, and rejected ones. */
#include "../test.h"
#include "../base/failing_alloc.h"
#include "native_blocks.h"

/* SELECT toUInt8(1) AS a, toFloat64(1) AS f, [toUInt64(5)] AS l, 'x' AS s FORMAT Native, by versions 18.16.1 and
   26.7. */
static const char of_server[] = "\x04\x01\x01"
                                "a\x05UInt8\x01\x01"
                                "f\x07"
                                "Float64\0\0\0\0\0\0\xf0\x3f\x01"
                                "l\x0d"
                                "Array(UInt64)\1\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\x01"
                                "s\x06String\x01x";
static const struct native_column of_server_columns[] = {
    {"a", NATIVE_UINT8}, {"f", NATIVE_FLOAT64}, {"l", NATIVE_ARRAY_UINT64}, {"s", NATIVE_STRING}};

TEST(native_blocks_have_the_bytes_of_a_server) {
    struct memory memory;
    struct native_encoder encoder;
    struct output to;
    size_t length;
    memory_init(&memory, NULL, 0);
    out_open_memory(&to, &memory);
    native_encoder_init(&encoder, of_server_columns, 4, &memory);
    native_put_u64(&encoder, 0, 1);
    native_put_double(&encoder, 1, 1);
    native_put_list(&encoder, 2, (uint64_t[]){5}, 1);
    native_put_text(&encoder, 3, "x", 1);
    encoder.rows = 1;
    assert_int_equal(native_encode(&encoder, &to, NULL), PFR_OK);
    const char *bytes = out_bytes(&to, &length);
    assert_int_equal(length, sizeof of_server - 1);
    assert_memory_equal(bytes, of_server, length);
    assert_int_equal(native_encode(&encoder, &to, NULL), PFR_OK); /* no rows: no block */
    assert_int_equal(out_written(&to), length);
    native_encoder_free(&encoder);
    out_close(&to, NULL);
    assert_int_equal(memory.used, 0);
}

TEST(native_blocks_of_a_server_are_read) {
    struct native_answer answer;
    native_answer_begin(&answer, of_server, sizeof of_server - 1);
    struct native_block block;
    assert_int_equal(native_decode(&answer.in, of_server_columns, 4, &answer.arena, &block, NULL), PFR_OK);
    assert_int_equal(block.rows, 1);
    assert_int_equal(native_u64(&block, 0, 0), 1);
    assert_true(native_double(&block, 1, 0) == 1.0);
    assert_int_equal(native_list_length(&block, 2, 0), 1);
    assert_int_equal(native_list_value(&block, 2, 0, 0), 5);
    assert_int_equal(native_text(&block, 3, 0).length, 1);
    assert_int_equal(*native_text(&block, 3, 0).at, 'x');
    assert_int_equal(native_decode(&answer.in, of_server_columns, 4, &answer.arena, &block, NULL), PFR_END);
    native_answer_end(&answer);
}

TEST(native_rows_of_every_type_come_back) {
    struct memory memory;
    struct output to;
    memory_init(&memory, NULL, 0);
    out_open_memory(&to, &memory);
    for (unsigned seed = 1; seed < 40; seed++) {
        out_clear(&to);
        assert_int_equal(native_blocks_make(&to, &memory, seed, 3), PFR_OK);
        native_blocks_check(&to, seed, 3);
    }
    out_close(&to, NULL);
    assert_int_equal(memory.used, 0);
}

/* --- Sorting. */

#define SORTED_ROWS 1000u

static const struct native_column sorted_columns[] = {
    {"constant", NATIVE_UINT64}, {"major", NATIVE_UINT64}, {"minor", NATIVE_UINT16}, {"number", NATIVE_UINT32}};

/* Row `number` has keys that follow from its number; `minor` needs both of its bytes. */
static uint64_t sorted_major(uint64_t number) {
    return native_value(1, 1, number % 50);
}
static uint64_t sorted_minor(uint64_t number) {
    return number * 7919 % 300;
}

static pfr_status make_sorted(struct output *to, struct memory *memory) {
    struct native_encoder encoder;
    native_encoder_init(&encoder, sorted_columns, 4, memory);
    for (uint64_t number = 0; number < SORTED_ROWS; number++, encoder.rows++) {
        const uint64_t values[] = {7, sorted_major(number), sorted_minor(number), number};
        for (unsigned column = 0; column < 4; column++)
            native_put_u64(&encoder, column, values[column]);
    }
    pfr_status st = native_encoder_sort(&encoder, (unsigned[]){0, 1, 2}, 3, memory, NULL);
    if (st >= 0)
        st = native_encode(&encoder, to, NULL);
    native_encoder_free(&encoder);
    return st;
}

/* Whether two rows are in order: by the keys, then as they were put. */
static bool in_order(const struct native_block *block, size_t row) {
    for (unsigned column = 1; column < 4; column++) {
        const uint64_t one = native_u64(block, column, row - 1), other = native_u64(block, column, row);
        if (one != other)
            return one < other;
    }
    return false;
}

TEST(native_rows_are_sorted_whole) {
    struct native_answer answer;
    struct native_block block;
    struct memory memory;
    struct output to;
    size_t length;
    memory_init(&memory, NULL, 0);
    out_open_memory(&to, &memory);
    assert_int_equal(make_sorted(&to, &memory), PFR_OK);
    const char *bytes = out_bytes(&to, &length);
    native_answer_begin(&answer, bytes, length);
    assert_int_equal(native_decode(&answer.in, sorted_columns, 4, &answer.arena, &block, NULL), PFR_OK);
    assert_int_equal(block.rows, SORTED_ROWS);
    for (size_t row = 0; row < block.rows; row++) {
        const uint64_t number = native_u64(&block, 3, row);
        assert_true(native_u64(&block, 1, row) == sorted_major(number));
        assert_true(native_u64(&block, 2, row) == sorted_minor(number));
        assert_true(row == 0 || in_order(&block, row));
    }
    native_answer_end(&answer);
    out_close(&to, NULL);
    assert_int_equal(memory.used, 0);
}

/* Sorting changes nothing if there are no rows, if there is one row, or if the rows do not differ in any key. */
TEST(native_rows_without_an_order_are_kept) {
    struct memory memory;
    struct native_encoder encoder;
    memory_init(&memory, NULL, 0);
    native_encoder_init(&encoder, sorted_columns, 1, &memory);
    for (; encoder.rows < 3; encoder.rows++) {
        assert_int_equal(native_encoder_sort(&encoder, (unsigned[]){0}, 1, &memory, NULL), PFR_OK);
        assert_int_equal(native_encoded_size(&encoder), encoder.rows * 8);
        native_put_u64(&encoder, 0, 5);
    }
    native_encoder_free(&encoder);
    assert_int_equal(memory.used, 0);
}

TEST(native_answers_cut_anywhere_are_refused) {
    struct native_block block;
    for (size_t length = 1; length < sizeof of_server - 1; length++) {
        struct native_answer answer;
        pfr_error err = {0};
        native_answer_begin(&answer, of_server, length);
        assert_int_equal(native_decode(&answer.in, of_server_columns, 4, &answer.arena, &block, &err), PFR_ERR_DAMAGE);
        assert_true(err.offset <= length);
        native_answer_end(&answer);
    }
}

static void assert_refused(const char *bytes, size_t length, pfr_status status, const char *text) {
    static const struct native_column one[] = {{"a", NATIVE_UINT64}};
    static const struct native_column list[] = {{"a", NATIVE_ARRAY_UINT64}};
    struct native_answer answer;
    struct native_block block;
    pfr_error err = {0};
    native_answer_begin(&answer, bytes, length);
    const bool is_list = memmem(bytes, length, "Array", 5) != NULL;
    assert_int_equal(native_decode(&answer.in, is_list ? list : one, 1, &answer.arena, &block, &err), status);
    assert_string_equal(err.text, text);
    native_answer_end(&answer);
}
#define REFUSED(bytes, status, text) assert_refused(bytes, sizeof bytes - 1, status, text)

TEST(native_answers_of_other_shape_are_refused) {
    REFUSED("\x02\x01", PFR_ERR_FORMAT, "the answer has 2 columns where 1 are expected");
    REFUSED("\x01\x00\x01"
            "b\x06UInt64",
            PFR_ERR_FORMAT, "the answer has a column b of type UInt64 where a of type UInt64 is expected");
    REFUSED("\x01\x00\x01"
            "a\x05Int64",
            PFR_ERR_FORMAT, "the answer has a column a of type Int64 where a of type UInt64 is expected");
    REFUSED("\x01\x7f\x01"
            "a\x06UInt64",
            PFR_ERR_DAMAGE, "native.block at byte 0 of the answer has more rows than bytes");
    REFUSED("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
            "\x01"
            "a\x06UInt64",
            PFR_ERR_DAMAGE, "native.block at byte 0 of the answer has more rows than bytes");
    REFUSED("\x01\x02\x01"
            "a\x06UInt64\1\2\3\4\5\6\7\1\2",
            PFR_ERR_DAMAGE, "native.column at byte 11 of the answer has fewer values than rows");
    REFUSED("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", PFR_ERR_DAMAGE,
            "native.block at byte 0 of the answer is cut");
    REFUSED("\x01\x02\x01"
            "a\x0d"
            "Array(UInt64)\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            PFR_ERR_DAMAGE, "native.Array at byte 18 of the answer has falling ends");
}

TEST(native_blocks_give_memory_back_when_an_allocation_fails) {
    struct failing_alloc failing;
    for (long n = 1; failing_alloc_begin(&failing, n), true; n++) {
        struct memory memory;
        struct output to;
        memory_init(&memory, &failing.alloc, 0);
        out_open_memory(&to, &memory);
        pfr_status st = native_blocks_make(&to, &memory, 7, 2);
        if (st >= 0)
            st = make_sorted(&to, &memory);
        out_close(&to, NULL);
        assert_int_equal(failing.blocks, 0);
        assert_int_equal(st, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        if (!failing.has_failed)
            break;
    }
}
