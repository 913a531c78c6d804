/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers: the examples from the description of the encoding, and numbers of every length. */
#include "../test.h"

#include "base/text/proto.h"

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

TEST(proto_length_is_the_length_that_is_written) {
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

/* Reads one field; returns false if there is none. */
static bool take(const void *bytes, size_t length, struct proto_field *f) {
    struct cursor in = cursor_on(bytes, length, 0, false);
    const bool there = proto_take(&in, f);
    assert_int_equal(cursor_left(&in), there ? 0 : length);
    return there;
}

TEST(proto_reads_what_it_writes) {
    struct proto_field f;
    assert_true(take("\x08\x96\x01", 3, &f));
    assert_true(f.number == 1 && f.wire == PROTO_VARINT && f.value == 150);
    assert_true(take("\x12\x07testing", 9, &f));
    assert_true(f.number == 2 && f.wire == PROTO_BYTES && f.value == 7);
    assert_memory_equal(f.bytes, "testing", 7);
    assert_true(take("\x19\1\0\0\0\0\0\0\x80", 9, &f));
    assert_true(f.number == 3 && f.wire == PROTO_FIXED64 && f.value == 0x8000000000000001u);
    assert_true(take("\x25\1\0\0\x80", 5, &f));
    assert_true(f.number == 4 && f.wire == PROTO_FIXED32 && f.value == 0x80000001u);
    assert_true(take("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, &f) && f.value == UINT64_MAX);
}

TEST(proto_refuses_what_is_no_field) {
    struct proto_field f;
    assert_false(take("\x08\x96", 2, &f));                                      /* a truncated number */
    assert_false(take("\x12\x07testin", 8, &f));                                /* truncated bytes */
    assert_false(take("\x19\1\0\0\0\0\0\0", 8, &f));                            /* a truncated fixed-size number */
    assert_false(take("\x00\x01", 2, &f));                                      /* field 0 */
    assert_false(take("\x0b\x01", 2, &f));                                      /* a group */
    assert_false(take("\x0f\x01", 2, &f));                                      /* wire type 7 */
    assert_false(take("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, &f)); /* 65 bits */
    assert_false(take("\xf8\xff\xff\xff\xff\x01\x01", 7, &f));                  /* a field number of more than 29
                                                                                   bits */
    assert_false(take("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, &f)); /* 2^64 - 1 bytes */
}
