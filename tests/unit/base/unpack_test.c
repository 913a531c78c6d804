/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged and hostile compressed inputs: each truncation and each flipped bit is reported with its offset, and all data
 * decoded before that offset are correct. The limits stop decompression bombs.
 */
#include "input_samples.h"

/* Opens compressed bytes and reads them to the end. */
static pfr_status unpack_all(struct blob packed, struct blob plain, uint64_t *end, pfr_error *err) {
    struct memory memory;
    struct input in;
    memory_init(&memory, NULL, 0);
    const struct input_setup setup = {.memory = &memory, .chunk = 1000};
    pfr_status status = input_open_fd(&in, temporary_fd(packed.bytes, packed.length), true, "x", &setup, err);
    assert_int_equal(status, PFR_OK);
    status = read_all(&in, 64, plain, end, err);
    const uint8_t *bytes;
    size_t have;
    if (status == PFR_HOLE)
        assert_int_equal(input_window(&in, *end, 1, &bytes, &have, err), PFR_HOLE);
    input_close(&in);
    assert_int_equal(memory.used, 0);
    return status;
}

TEST(input_reports_every_truncation_of_a_compressed_file) {
    const struct blob plain = make_plain(SOME_OF(1500u));
    for (size_t kind = 0; kind < 3; kind++) {
        const struct blob packed = packers[kind](plain);
        pfr_error err;
        uint64_t end, previous = 0;
        for (size_t length = 6; length < packed.length; length++) {
            ASSERT_STATUS(unpack_all((struct blob){packed.bytes, length}, plain, &end, &err), PFR_HOLE, err);
            assert_int_equal(err.status, PFR_HOLE);
            assert_int_equal(err.offset, end);
            assert_true(end >= previous);
            previous = end;
        }
        free(packed.bytes);
    }
    free(plain.bytes);
}

TEST(input_finds_flipped_bits_in_a_compressed_file) {
    const struct blob plain = make_plain(SOME_OF(1500u));
    size_t unseen = 0;
    for (size_t kind = 0; kind < 3; kind++) {
        const struct blob packed = packers[kind](plain);
        for (size_t i = 64; i < packed.length; i += 3) {
            uint64_t end;
            packed.bytes[i] ^= (uint8_t)(1 << i % 8);
            struct memory memory;
            struct input in;
            pfr_error err;
            memory_init(&memory, NULL, 0);
            const struct input_setup setup = {.memory = &memory};
            ASSERT_OK(input_open_fd(&in, temporary_fd(packed.bytes, packed.length), true, "x", &setup, &err), err);
            const uint8_t *bytes;
            size_t have;
            const pfr_status status = input_window(&in, 0, 1 << 20, &bytes, &have, &err); /* to the end */
            unseen += status == PFR_OK && (have != plain.length || memcmp(bytes, plain.bytes, have) != 0);
            end = have;
            assert_true(status == PFR_OK || (status == PFR_HOLE && err.offset == end));
            input_close(&in);
            packed.bytes[i] ^= (uint8_t)(1 << i % 8);
        }
        free(packed.bytes);
    }
    assert_int_equal(unseen, 0);
    free(plain.bytes);
}

TEST(input_reports_bytes_after_a_compressed_file) {
    const struct blob plain = make_plain(500);
    for (size_t kind = 0; kind < 3; kind++) {
        struct blob packed = packers[kind](plain);
        pfr_error err;
        uint64_t end;
        memcpy(packed.bytes + packed.length, "garbage", 7);
        packed.length += 7;
        ASSERT_STATUS(unpack_all(packed, plain, &end, &err), PFR_HOLE, err);
        assert_int_equal(end, plain.length);
        free(packed.bytes);
    }
    free(plain.bytes);
}

/* Zeros compress by a factor of a thousand; above 64 MB this reaches the ratio limit. */
TEST(input_limits_the_ratio) {
    struct blob plain = {calloc(1, 80 << 20), 80 << 20};
    struct blob packed = pack_zstd(plain);
    struct memory memory;
    struct input in;
    pfr_error err;
    const uint8_t *bytes;
    size_t have;
    const pfr_limits limits = {.size = sizeof limits, .ratio = 100};
    memory_init(&memory, NULL, 0);
    const struct input_setup setup = {.memory = &memory, .limits = &limits};
    ASSERT_OK(input_open_fd(&in, temporary_fd(packed.bytes, packed.length), true, "x", &setup, &err), err);
    ASSERT_OK(input_window(&in, 60 << 20, 1, &bytes, &have, &err), err);
    ASSERT_STATUS(input_window(&in, 79 << 20, 1, &bytes, &have, &err), PFR_ERR_LIMIT, err);
    ASSERT_STATUS(input_window(&in, 79 << 20, 1, &bytes, &have, &err), PFR_ERR_LIMIT, err);
    input_close(&in);
    free(plain.bytes);
    free(packed.bytes);
}

TEST(input_limits_the_window) {
    const struct blob plain = make_plain(3 << 20);
    for (size_t kind = 1; kind < 3; kind++) {
        struct blob packed = packers[kind](plain);
        struct memory memory;
        struct input in;
        pfr_error err;
        const uint8_t *bytes;
        size_t have;
        const pfr_limits limits = {.size = sizeof limits, .window = 2000};
        memory_init(&memory, NULL, 0);
        const struct input_setup setup = {.memory = &memory, .limits = &limits};
        ASSERT_OK(input_open_fd(&in, temporary_fd(packed.bytes, packed.length), true, "x", &setup, &err), err);
        const pfr_status status = input_window(&in, 0, 1, &bytes, &have, &err);
        assert_int_equal(status, PFR_ERR_LIMIT);
        input_close(&in);
        free(packed.bytes);
    }
    free(plain.bytes);
}
