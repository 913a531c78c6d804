/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_FUZZ_H
#define PERFRAY_FUZZ_H
/*
 * What fuzz targets share. A target is a file with LLVMFuzzerTestOneInput, which runs one entry of the library on the
 * bytes and asserts laws: what does not hold is said and ends the program, so that the engine keeps the input.
 *
 *     int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
 *         pfr_error err;
 *         ...
 *         LAW(status >= 0 || err.text[0], "%s without a word", pfr_status_name(status));
 *         return 0;
 *     }
 *
 * A run must not depend on the one before it. What a target needs beside the bytes of its entry it takes from their
 * front (fuzz_take, fuzz_context), so that what is read stands at the end of a block of exactly its size, and a
 * sanitizer sees the first byte read too far. Whole recordings keep their front: there the last byte chooses.
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

/* Small enough that no input can take long; as large as any honest input of a few KB needs. */
extern const pfr_limits fuzz_limits;

/* The last byte of the input, which is taken off; 0 where there is none. */
uint8_t fuzz_last(const uint8_t *bytes, size_t *length);

/* The last eight, which are taken off, the last one lowest. */
uint64_t fuzz_last_u64(const uint8_t *bytes, size_t *length);

/* The next integer of 1 to 8 bytes, little-endian; what is missing is 0. */
uint64_t fuzz_take(struct cursor *in, unsigned width);

/* A context: 16 bits say which words follow (bit n: word n, 8 bytes) and the orders (bit 14 mirrored, bit 15 swap). */
#define FUZZ_MIRRORED (1u << 14)
#define FUZZ_SWAP (1u << 15)
struct pfr_context fuzz_context(struct cursor *in);

/* The laws of an error about an input of `size` bytes: a sentence without newline, a place inside. */
void fuzz_check_error(const pfr_error *err, pfr_status status, uint64_t size);

/* A sum over every byte that the members of a struct stand for, through all views and their parts. */
uint64_t fuzz_touch(const struct layout *l, const void *rec);

/* A sum into a sum. */
uint64_t fuzz_mix(uint64_t sum, const void *bytes, size_t length);

/* Draws the sizes of buffers and batches (base/memory/sizes.h) by what the input is; sizes_draw(0, NULL) brings the
   defaults back. */
void fuzz_draw_sizes(const uint8_t *bytes, size_t length);

/* The bytes as a file with a path; no folder holds it. */
struct fuzz_file {
    int fd;
    char path[32];
};
void fuzz_file_open(struct fuzz_file *file, const uint8_t *bytes, size_t length);
void fuzz_file_close(struct fuzz_file *file);

/* fuzz_walk.c: all records of a reader, each decoded; the laws of fuzz_walk.c asserted on the way. */
struct walked {
    uint64_t records, inside, holes;
    uint64_t sum;        /* of all records, their places and what they decode to */
    uint64_t inside_sum; /* of the records that came out of COMPRESSED ones, in their order */
    uint64_t hole_sum; /* of the places of holes, in any order: a second pass tells at once what the first one noted */
    pfr_status status; /* PFR_END, or why it ended early */
};
struct walked fuzz_walk(pfr_reader *reader, uint64_t size);
/* Asserts that two walks met the same. */
void fuzz_same_walk(const struct walked *first, const struct walked *again, const char *how);

#endif
