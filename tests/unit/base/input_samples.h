/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_INPUT_SAMPLES_H
#define PFR_TESTS_INPUT_SAMPLES_H
/* Bytes to read, compressed in every format that inputs accept, and files with them. */
#include "test.h"
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include "base/io/input.h"

struct blob {
    uint8_t *bytes;
    size_t length;
};

/* Half random, half repetitive bytes, which compress to about half. */
static inline struct blob make_plain(size_t length) {
    struct blob plain = {malloc(length + 1), length};
    uint32_t state = 99;
    for (size_t i = 0; i < length; i++) {
        state = state * 1664525 + 1013904223;
        plain.bytes[i] = (i / 64) % 2 ? (uint8_t)(state >> 24) : (uint8_t)(i / 128);
    }
    return plain;
}

static inline struct blob pack_gzip(struct blob plain) {
    struct blob packed = {malloc(plain.length + 1000), plain.length + 1000};
    z_stream z = {.next_in = plain.bytes,
                  .avail_in = (unsigned)plain.length,
                  .next_out = packed.bytes,
                  .avail_out = (unsigned)packed.length};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed.length = z.total_out;
    deflateEnd(&z);
    return packed;
}

static inline struct blob pack_xz(struct blob plain) {
    struct blob packed = {malloc(plain.length + 1000), 0};
    assert_int_equal(lzma_easy_buffer_encode(2, LZMA_CHECK_CRC64, NULL, plain.bytes, plain.length, packed.bytes,
                                             &packed.length, plain.length + 1000),
                     LZMA_OK);
    return packed;
}

static inline struct blob pack_zstd(struct blob plain) {
    struct blob packed = {malloc(plain.length + 1000), 0};
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    packed.length = ZSTD_compress2(context, packed.bytes, plain.length + 1000, plain.bytes, plain.length);
    assert_false(ZSTD_isError(packed.length));
    ZSTD_freeCCtx(context);
    return packed;
}

typedef struct blob packer(struct blob plain);
static packer *const packers[] = {pack_gzip, pack_xz, pack_zstd};

#define FOLDER_SIZE 64

static inline void make_folder(char folder[FOLDER_SIZE]) {
    strcpy(folder, "/tmp/perfray-input-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static inline const char *write_file(const char *folder, const void *bytes, size_t length) {
    static char path[FOLDER_SIZE + 16];
    snprintf(path, sizeof path, "%s/file", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
    return path;
}

static inline void remove_folder(const char *folder) {
    char path[FOLDER_SIZE + 16];
    snprintf(path, sizeof path, "%s/file", folder);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

/* An unlinked file with these bytes. */
static inline int temporary_fd(const void *bytes, size_t length) {
    char folder[FOLDER_SIZE];
    make_folder(folder);
    const int fd = open(write_file(folder, bytes, length), O_RDWR);
    assert_true(fd >= 0);
    remove_folder(folder);
    return fd;
}

/* Reads in steps of `step` until the end; the bytes must equal `plain`. */
static inline pfr_status read_all(struct input *in, size_t step, struct blob plain, uint64_t *end, pfr_error *err) {
    for (uint64_t offset = 0;; offset += step) {
        const uint8_t *bytes;
        size_t have;
        const pfr_status status = input_window(in, offset, step, &bytes, &have, err);
        *end = offset + have;
        if (status < 0)
            return status;
        assert_true(*end <= plain.length);
        assert_memory_equal(bytes, plain.bytes + offset, have);
        assert_true(status == PFR_OK || have < step);
        if (have < step)
            return status;
    }
}

#endif
