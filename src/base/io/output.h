/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_OUTPUT_H
#define PFR_BASE_OUTPUT_H
/*
 * Buffered output to a file descriptor or to memory. The output keeps its first failure and discards later writes, so
 * callers need not check each call; out_flush and out_close return the failure. A closed pipe is PFR_ERR_IO with
 * error_number EPIPE (the process must ignore SIGPIPE to see it). Numbers are formatted here, independent of the
 * locale, because dumps write hundreds of millions of them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <perfray/error.h>
#include "base/memory/memory.h"

#define OUTPUT_BUFFER ((size_t)64 << 10)

/* How an output writes: write(2), or a replacement in tests. */
struct output_calls {
    ssize_t (*write)(void *context, int fd, const void *from, size_t length);
    void *context;
};

struct output {
    char *buffer;
    size_t used, capacity;
    uint64_t flushed; /* bytes that left the buffer */
    struct memory *memory;
    struct output_calls calls;
    int fd;           /* -1: to memory; the buffer grows */
    int error_number; /* errno of the first failure; 0: no failure, or not from a system call */
    pfr_status status;
    bool owns_fd;
};

/* If `calls` is NULL, libc is used. out_close closes the descriptor if `owned`. Errors: MEMORY, LIMIT. */
pfr_status out_open_fd(struct output *out, int fd, bool owned, struct memory *memory, const struct output_calls *calls,
                       pfr_error *err);

/* Opens an output to memory; out_bytes returns the written bytes. Allocates nothing yet, so it cannot fail. */
void out_open_memory(struct output *out, struct memory *memory);

/* The bytes written to memory so far, valid until the next write. */
static inline const char *out_bytes(const struct output *out, size_t *length) {
    *length = out->used;
    return out->buffer;
}

/* Discards the bytes written to memory; the buffer is kept for reuse. */
static inline void out_clear(struct output *out) {
    out->used = 0;
}

/* Writes the buffer to the descriptor. Returns the first failure of this output, with *err filled. */
pfr_status out_flush(struct output *out, pfr_error *err);

/* Flushes, closes and frees. Returns the first failure, including that of close(2). Call it exactly once. */
pfr_status out_close(struct output *out, pfr_error *err);

/* Bytes written so far, those in the buffer included. */
static inline uint64_t out_written(const struct output *out) {
    return out->flushed + out->used;
}

/* Makes room for `length` more bytes, at most OUTPUT_BUFFER. Returns false if the output has failed. */
bool out_make_room(struct output *out, size_t length);

/* The slow path of out_write, for bytes that do not fit. */
void out_write_slow(struct output *out, const void *bytes, size_t length);

static inline bool out_room(struct output *out, size_t length) {
    return __builtin_expect(out->capacity - out->used >= length, 1) || out_make_room(out, length);
}

static inline void out_write(struct output *out, const void *bytes, size_t length) {
    if (__builtin_expect(out->capacity - out->used >= length && length > 0, 1)) {
        memcpy(out->buffer + out->used, bytes, length);
        out->used += length;
    } else {
        out_write_slow(out, bytes, length);
    }
}

/* NUL-terminated text, not escaped; names from files go through escape.h instead. */
static inline void out_text(struct output *out, const char *text) {
    out_write(out, text, strlen(text));
}

static inline void out_char(struct output *out, char c) {
    if (out_room(out, 1))
        out->buffer[out->used++] = c;
}

/* Writes the character `count` times. */
void out_fill(struct output *out, char c, size_t count);

/* Writes `count` blanks. Up to 16 blanks, enough before most numbers, are copied as one block of fixed size. */
static inline void out_pad(struct output *out, size_t count) {
    if (__builtin_expect(count <= 16 && out->capacity - out->used >= 16, 1)) {
        memcpy(out->buffer + out->used, "                ", 16);
        out->used += count;
    } else {
        out_fill(out, ' ', count);
    }
}

void out_u64(struct output *out, uint64_t value);
void out_i64(struct output *out, int64_t value);

/* Writes a number right-aligned in at least `width` columns. */
void out_u64_wide(struct output *out, uint64_t value, size_t width);

/* out_i64_wide does the same for signed numbers; out_i64_left aligns them to the left. Negative numbers have a sign. */
void out_i64_wide(struct output *out, int64_t value, size_t width);
void out_i64_left(struct output *out, int64_t value, size_t width);

/* Writes text right-aligned in at least `width` columns. */
void out_text_wide(struct output *out, const char *text, size_t length, size_t width);

/* Writes a hexadecimal number in lower case, without prefix, right-aligned in at least `width` columns. */
void out_hex_wide(struct output *out, uint64_t value, size_t width);

/* Writes a hexadecimal number in lower case, without prefix, with at least `digits` digits (leading zeros; at most
   16). */
void out_hex(struct output *out, uint64_t value, unsigned digits);

/* Two lower-case digits per byte, without separators. */
void out_hex_bytes(struct output *out, const void *bytes, size_t length);

/* Fixed notation with `digits` digits (at most 17) after the point, rounded as printf does; "nan", "inf", "-inf". */
void out_f64(struct output *out, double value, unsigned digits);

/* The hexadecimal digits of value, right-aligned in 16 columns. No NUL. */
void format_hex_16(char to[16], uint64_t value);

/* Exactly `digits` decimal digits of value, with leading zeros. No NUL. */
void format_digits(char *to, uint32_t value, size_t digits);

/* Writes the decimal digits of value to `to`, which has room for 20; returns their number. No NUL. */
size_t format_u64(char *to, uint64_t value);

#endif
