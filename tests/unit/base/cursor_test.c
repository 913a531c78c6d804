/* SPDX-License-Identifier: Apache-2.0 */
/* The cursor reads values in both byte orders, and does not move if too few bytes are left. */
#include "test.h"
#include "base/memory/cursor.h"

static const uint8_t sample[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

TEST(cursor_takes_both_byte_orders) {
    for (int big = 0; big < 2; big++) {
        struct cursor in = cursor_on(sample, sizeof sample, 1000, big != SWAP_OF_LITTLE);
        uint8_t v8 = 0;
        uint16_t v16 = 0;
        uint32_t v32 = 0;
        uint64_t v64 = 0;
        assert_true(take_u8(&in, &v8) && take_u16(&in, &v16) && take_u32(&in, &v32) && take_u64(&in, &v64));
        assert_int_equal(v8, 1);
        assert_int_equal(v16, big ? 0x0203 : 0x0302);
        assert_int_equal(v32, big ? 0x04050607 : 0x07060504);
        assert_int_equal(v64, big ? 0x08090a0b0c0d0e0f : 0x0f0e0d0c0b0a0908);
        assert_int_equal(cursor_left(&in), 0);
        assert_int_equal(cursor_offset(&in), 1015);
    }
}

TEST(cursor_stays_when_there_is_no_room) {
    for (size_t length = 0; length < 8; length++) {
        struct cursor in = cursor_on(sample, length, 5, false);
        const uint8_t *bytes;
        struct cursor part;
        uint16_t v16;
        uint32_t v32;
        uint64_t v64;
        uint8_t v8;
        assert_false(take_u64(&in, &v64));
        assert_false(length < 4 && take_u32(&in, &v32));
        assert_false(length < 2 && take_u16(&in, &v16));
        assert_false(length < 1 && take_u8(&in, &v8));
        assert_false(take_bytes(&in, length + 1, &bytes) || take_bytes(&in, UINT64_MAX, &bytes));
        assert_false(take_cursor(&in, length + 1, &part) || take_cursor(&in, UINT64_MAX, &part));
        assert_int_equal(cursor_left(&in), length);
        assert_int_equal(cursor_offset(&in), 5);
    }
}

TEST(cursor_parts_know_their_offset) {
    struct cursor in = cursor_on(sample, sizeof sample, 100, !SWAP_OF_LITTLE), part;
    const uint8_t *bytes;
    uint16_t v16;
    assert_true(take_bytes(&in, 3, &bytes));
    assert_int_equal(*bytes, 1);
    assert_true(take_cursor(&in, 4, &part));
    assert_int_equal(cursor_offset(&part), 103);
    assert_int_equal(cursor_left(&part), 4);
    assert_true(take_u16(&part, &v16));
    assert_int_equal(v16, 0x0405);
    assert_int_equal(cursor_offset(&part), 105);
    assert_int_equal(cursor_offset(&in), 107);
    assert_true(take_bytes(&in, 0, &bytes));
}
