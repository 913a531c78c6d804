/* SPDX-License-Identifier: Apache-2.0 */
/* zlib unpacks our gzip output to the original bytes. An error of the underlying output is stored in that output. */
#include "../test.h"

#include "base/io/gzip_output.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

enum { LINES = 200000 };

static void write_lines(struct output *out) {
    for (uint32_t i = 0; i < LINES; i++) {
        out_u64(out, i * 2654435761u);
        out_char(out, '\n');
    }
}

static void write_gzip(struct output *to, struct memory *memory) {
    struct gzip_output gzip;
    pfr_error err;
    ASSERT_OK(gzip_output_open(&gzip, to, memory, &err), err);
    write_lines(&gzip.out);
    ASSERT_OK(gzip_output_close(&gzip, &err), err);
}

TEST(gzip_output_round_trips) {
    struct memory memory;
    struct output packed, plain;
    size_t packed_length, plain_length;
    memory_init(&memory, NULL, 0);
    out_open_memory(&packed, &memory);
    out_open_memory(&plain, &memory);
    write_gzip(&packed, &memory);
    write_lines(&plain);
    const char *bytes = out_bytes(&packed, &packed_length), *lines = out_bytes(&plain, &plain_length);
    uint8_t *unpacked = malloc(plain_length + 1);
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)bytes,
                  .avail_in = (unsigned)packed_length,
                  .next_out = unpacked,
                  .avail_out = (unsigned)plain_length + 1};
    assert_non_null(unpacked);
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, plain_length);
    assert_int_equal(z.avail_in, 0);
    assert_memory_equal(unpacked, lines, plain_length);
    inflateEnd(&z);
    free(unpacked);
    out_close(&packed, NULL);
    out_close(&plain, NULL);
    assert_int_equal(memory.used, 0);
}

/* Incompressible data grows, and is still written. */
TEST(gzip_output_accepts_incompressible_data) {
    struct memory memory;
    struct output packed;
    struct gzip_output gzip;
    pfr_error err;
    size_t length;
    uint64_t state = 1;
    enum { WORDS = 100000 };
    uint64_t *words = malloc(WORDS * sizeof *words), *unpacked = malloc(WORDS * sizeof *unpacked);
    assert_non_null(words);
    assert_non_null(unpacked);
    for (unsigned i = 0; i < WORDS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        words[i] = state ^ state >> 29;
    }
    memory_init(&memory, NULL, 0);
    out_open_memory(&packed, &memory);
    ASSERT_OK(gzip_output_open(&gzip, &packed, &memory, &err), err);
    for (unsigned i = 0; i < WORDS; i += 1000)
        out_write(&gzip.out, words + i, 1000 * sizeof *words);
    ASSERT_OK(gzip_output_close(&gzip, &err), err);
    const char *bytes = out_bytes(&packed, &length);
    assert_true(length > WORDS * sizeof *words);
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)bytes,
                  .avail_in = (unsigned)length,
                  .next_out = (uint8_t *)unpacked,
                  .avail_out = WORDS * sizeof *words};
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, WORDS * sizeof *words);
    assert_memory_equal(unpacked, words, WORDS * sizeof *words);
    inflateEnd(&z);
    free(unpacked);
    free(words);
    out_close(&packed, NULL);
    assert_int_equal(memory.used, 0);
}

static ssize_t no_space(void *context, int fd, const void *from, size_t length) {
    unsigned *left = context;
    (void)fd, (void)from;
    if (*left == 0)
        return errno = ENOSPC, -1;
    --*left;
    return (ssize_t)length;
}

TEST(gzip_output_ends_when_nothing_can_be_written) {
    for (unsigned writes = 0; writes < 4; writes++) {
        unsigned left = writes;
        const struct output_calls calls = {no_space, &left};
        struct memory memory;
        struct gzip_output gzip;
        struct output to;
        pfr_error err;
        memory_init(&memory, NULL, 0);
        ASSERT_OK(out_open_fd(&to, STDOUT_FILENO, false, &memory, &calls, &err), err);
        ASSERT_OK(gzip_output_open(&gzip, &to, &memory, &err), err);
        write_lines(&gzip.out);
        assert_int_equal(gzip_output_close(&gzip, &err), PFR_ERR_IO);
        assert_int_equal(out_close(&to, &err), PFR_ERR_IO);
        assert_int_equal(memory.used, 0);
    }
}
