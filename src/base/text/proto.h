/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_PROTO_H
#define PFR_BASE_PROTO_H
/*
 * Protocol buffers (protobuf.dev/programming-guides/encoding), a field at a time. A nested message is written to memory
 * first, because its length precedes it; at most one message per level is in memory.
 *
 *    proto_u64(&part, 1, id);
 *    proto_message(out, 4, &part);
 *
 * Reading returns fields until the bytes end. A nested message is a field of bytes, which are read in the same way:
 *
 *    struct proto_field f;
 *    while (cursor_left(&in) > 0 && proto_take(&in, &f))
 *      use(&f);
 */
#include "base/memory/cursor.h"
#include "base/io/output.h"

#define PROTO_VARINT_MOST 10
#define PROTO_FIELD_MOST ((1u << 29) - 1)
#define PROTO_VARINT 0u
#define PROTO_FIXED64 1u /* wire types: the encoding of a field's value */
#define PROTO_BYTES 2u   /* length-delimited */
#define PROTO_FIXED32 5u

/* Bytes of a varint: 7 bits each. */
static inline size_t proto_length(uint64_t value) {
    return ((size_t)(63 - __builtin_clzll(value | 1)) * 9 + 73) / 64;
}

/* Writes the varint to `to`, which has room; returns its length. */
static inline size_t proto_put(uint8_t *to, uint64_t value) {
    size_t n = 0;
    for (; value >= 128; value >>= 7)
        to[n++] = (uint8_t)(value | 128);
    to[n++] = (uint8_t)value;
    return n;
}

static inline void proto_varint(struct output *out, uint64_t value) {
    if (out_room(out, PROTO_VARINT_MOST))
        out->used += proto_put((uint8_t *)out->buffer + out->used, value);
}

/* 8 bytes, little-endian, without a field number: an element of a packed list. */
static inline void proto_element64(struct output *out, uint64_t value) {
    uint8_t bytes[8];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    out_write(out, bytes, sizeof bytes);
}

/* A field of 8 bytes. */
void proto_fixed64(struct output *out, unsigned field, uint64_t value);

/* The head of a field whose `length` bytes follow. */
void proto_head(struct output *out, unsigned field, uint64_t length);

/* A number; 0 is omitted, because an absent field means 0. */
void proto_u64(struct output *out, unsigned field, uint64_t value);
/* Text or bytes, written even if empty. */
void proto_bytes(struct output *out, unsigned field, const void *bytes, size_t length);
/* Writes the bytes of `part` as a field and empties `part`, which keeps its failure. */
void proto_message(struct output *out, unsigned field, struct output *part);

/* A number, even if it is 0: for fields whose presence matters. */
void proto_number(struct output *out, unsigned field, uint64_t value);

struct proto_field {
    uint32_t number;
    uint32_t wire;
    uint64_t value;       /* the number, or the length of `bytes` */
    const uint8_t *bytes; /* PROTO_BYTES: `value` bytes */
};

/* false: not a varint, or longer than 64 bits. The cursor is unchanged. */
bool proto_take_number(struct cursor *in, uint64_t *value);
/* The next field; false: invalid, or it extends past the end. */
bool proto_take(struct cursor *in, struct proto_field *f);

#endif
