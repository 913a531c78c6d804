/* SPDX-License-Identifier: Apache-2.0 */
/* The examples of the encoding's own description, and every length of a number. */
#include "../test.h"

#include "base/proto.h"

static void assert_written(struct output *out, const void *bytes, size_t length) {
    size_t written;
    const char *at = out_bytes(out, &written);
    assert_int_equal(written, length);
    assert_memory_equal(at, bytes, length);
    out_close(out, NULL);
}

static void begin(struct output *out, struct memory *memory) {
    memory_init(memory, NULL, 0);
    out_open_memory(out, memory);
}

TEST(proto_writes_the_examples_of_its_description) {
    struct memory memory;
    struct output out, part;
    begin(&out, &memory);
    proto_u64(&out, 1, 150);
    proto_u64(&out, 1, 0);
    assert_written(&out, "\x08\x96\x01", 3);
    begin(&out, &memory);
    proto_bytes(&out, 2, "testing", 7);
    assert_written(&out, "\x12\x07testing", 9);
    begin(&out, &memory);
    out_open_memory(&part, &memory);
    proto_u64(&part, 1, 150);
    proto_message(&out, 3, &part);
    assert_int_equal(part.used, 0);
    out_close(&part, NULL);
    assert_written(&out, "\x1a\x03\x08\x96\x01", 5);
}

TEST(proto_numbers_are_as_long_as_they_are_said_to_be) {
    for (unsigned bits = 0; bits <= 64; bits++) {
        uint8_t bytes[PROTO_VARINT_MOST];
        const uint64_t value = bits < 64 ? (1ull << bits) - 1 : UINT64_MAX;
        uint64_t back = 0;
        const size_t length = proto_put(bytes, value);
        assert_int_equal(length, bits ? (bits + 6) / 7 : 1);
        assert_int_equal(proto_length(value), length);
        for (size_t i = 0; i < length; i++) {
            assert_int_equal(bytes[i] >> 7, i + 1 < length);
            back |= (uint64_t)(bytes[i] & 127) << 7 * i;
        }
        assert_true(back == value);
    }
}
