/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_FUZZ_H
#define PERFRAY_FUZZ_H
/*
 * Shared by the fuzz targets. A target is a file with LLVMFuzzerTestOneInput, which passes the bytes to one entry point
 * of the library and asserts laws. A violated law is printed and ends the program, so that the engine keeps the input.
 *
 *     int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
 *         pfr_error err;
 *         ...
 *         LAW(status >= 0 || err.text[0], "%s without a word", pfr_status_name(status));
 *         return 0;
 *     }
 *
 * A run must not depend on earlier runs. A target takes additional parameters from the front of the bytes (fuzz_take,
 * fuzz_context), so that its data ends an allocation of exactly its size and a sanitizer detects the first byte read
 * past the end. Targets for whole recordings use the last byte instead.
 */
#include "base/memory/cursor.h"
#include "wire/any_layout.h"

#include <perfray/reader.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#define LAW(holds, ...)                                                                                                \
    do {                                                                                                               \
        if (!(holds))                                                                                                  \
            law_broken(__FILE__, __LINE__, #holds, __VA_ARGS__);                                                       \
    } while (0)
_Noreturn void law_broken(const char *file, int line, const char *law, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Limits that are small enough that no input takes long, and large enough for any valid input of a few KB. */
extern const pfr_limits fuzz_limits;

/* Removes the last byte of the input and returns it; 0 if the input is empty. */
uint8_t fuzz_last(const uint8_t *bytes, size_t *length);

/* Removes the last eight bytes and returns them as a big-endian integer; missing bytes are 0. */
uint64_t fuzz_last_u64(const uint8_t *bytes, size_t *length);

/* Takes the next little-endian integer of 1 to 8 bytes; missing bytes are 0. */
uint64_t fuzz_take(struct cursor *in, unsigned width);

/*
 * Takes a context: 16 bits select which words of 8 bytes follow (bit n: word n) and the orders (bit 14 mirrored, bit 15
 * swap).
 */
#define FUZZ_MIRRORED (1u << 14)
#define FUZZ_SWAP (1u << 15)
struct pfr_context fuzz_context(struct cursor *in);

/* Asserts the laws of an error about an input of `size` bytes: its text is a sentence without newline, its place is
   inside the input. */
void fuzz_check_error(const pfr_error *err, pfr_status status, uint64_t size);

/* A checksum of all bytes to which the members of a struct refer, through all views and nested parts. */
uint64_t fuzz_touch(const struct layout *l, const void *rec);

/* Adds bytes to a checksum. */
uint64_t fuzz_mix(uint64_t sum, const void *bytes, size_t length);

/*
 * Derives the sizes of buffers and batches (base/memory/sizes.h) from the input; sizes_draw(0, NULL) restores the
 * defaults.
 */
void fuzz_draw_sizes(const uint8_t *bytes, size_t length);

/* Makes a file of the bytes that has a path but no directory entry. */
struct fuzz_file {
    int fd;
    char path[32];
};
void fuzz_file_open(struct fuzz_file *file, const uint8_t *bytes, size_t length);
void fuzz_file_close(struct fuzz_file *file);

/* fuzz_walk.c: reads and decodes all records of a reader, and asserts the laws of fuzz_walk.c. */
struct walked {
    uint64_t records, inside, holes;
    uint64_t sum;        /* checksum of all records, their places and their decoded values */
    uint64_t inside_sum; /* checksum of the records inside COMPRESSED records, in order */
    uint64_t hole_sum;   /* checksum of the places of holes, in any order, because a second pass reports known holes
                            immediately */
    pfr_status status;   /* PFR_END, or the error that ended the pass */
};
struct walked fuzz_walk(pfr_reader *reader, uint64_t size);
/* Asserts that two passes gave the same result. */
void fuzz_same_walk(const struct walked *first, const struct walked *again, const char *how);

#endif
