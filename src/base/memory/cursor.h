/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_CURSOR_H
#define PFR_BASE_CURSOR_H
/*
 * The only way to take input bytes. A cursor never moves past its end: each take_ function returns whether enough bytes
 * were left, and leaves the cursor unchanged if not. Integers may be unaligned and are read in the cursor's byte order.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const uint8_t *at, *end, *start;
    uint64_t offset; /* offset of `start` in the input, for messages */
    bool swap;       /* the input's byte order differs from this machine's */
};

/* `bytes` may be NULL when length is 0: the cursor then points to a static byte, since NULL + 0 is undefined. */
static inline struct cursor cursor_on(const void *bytes, size_t length, uint64_t offset, bool swap) {
    const uint8_t *start = bytes ? bytes : (const void *)"";
    return (struct cursor){start, start + length, start, offset, swap};
}

static inline size_t cursor_left(const struct cursor *in) {
    return (size_t)(in->end - in->at);
}

static inline uint64_t cursor_offset(const struct cursor *in) {
    return in->offset + (uint64_t)(in->at - in->start);
}

static inline uint16_t load_u16(const void *at, bool swap) {
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t load_u32(const void *at, bool swap) {
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t load_u64(const void *at, bool swap) {
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return swap ? __builtin_bswap64(v) : v;
}

static inline bool take_u8(struct cursor *in, uint8_t *v) {
    if (cursor_left(in) < 1)
        return false;
    *v = *in->at++;
    return true;
}

static inline bool take_u16(struct cursor *in, uint16_t *v) {
    if (cursor_left(in) < sizeof *v)
        return false;
    *v = load_u16(in->at, in->swap);
    in->at += sizeof *v;
    return true;
}

static inline bool take_u32(struct cursor *in, uint32_t *v) {
    if (cursor_left(in) < sizeof *v)
        return false;
    *v = load_u32(in->at, in->swap);
    in->at += sizeof *v;
    return true;
}

static inline bool take_u64(struct cursor *in, uint64_t *v) {
    if (cursor_left(in) < sizeof *v)
        return false;
    *v = load_u64(in->at, in->swap);
    in->at += sizeof *v;
    return true;
}

/* `length` may be any value from a file: it is compared with the bytes left and never added. */
static inline bool take_bytes(struct cursor *in, uint64_t length, const uint8_t **bytes) {
    if (cursor_left(in) < length)
        return false;
    *bytes = in->at;
    in->at += length;
    return true;
}

/* A cursor over the next `length` bytes, which are taken from `in`. */
static inline bool take_cursor(struct cursor *in, uint64_t length, struct cursor *part) {
    uint64_t offset = cursor_offset(in);
    const uint8_t *bytes;
    if (!take_bytes(in, length, &bytes))
        return false;
    *part = cursor_on(bytes, (size_t)length, offset, in->swap);
    return true;
}

#endif
