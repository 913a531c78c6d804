/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_PROTO_H
#define PFR_BASE_PROTO_H
/*
 * Protocol buffers (protobuf.dev/programming-guides/encoding), a field at a time. A message inside another is
 * written to memory first, because its length stands before it; so what is held is never more than one such part.
 *
 *     proto_u64(&part, 1, id);
 *     proto_message(out, 4, &part);
 *
 * Read, they are as many fields as there are bytes; a message inside another is bytes to begin with again:
 *
 *     struct proto_field f;
 *     while (cursor_left(&in) > 0 && proto_take(&in, &f))
 *         use(&f);
 */
#include "base/memory/cursor.h"
#include "base/io/output.h"

#define PROTO_VARINT_MOST 10
#define PROTO_FIELD_MOST ((1u << 29) - 1)
#define PROTO_VARINT 0u
#define PROTO_FIXED64 1u /* wire types: how long a field is */
#define PROTO_BYTES 2u   /* it says so */
#define PROTO_FIXED32 5u

/* Bytes of a number: 7 bits a byte. */
static inline size_t proto_length(uint64_t value) {
    return ((size_t)(63 - __builtin_clzll(value | 1)) * 9 + 73) / 64;
}

/* The number itself at `to`, which has room for them; returns how many they are. */
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

/* 8 bytes, little-endian, without a field: an element of a packed list. */
static inline void proto_element64(struct output *out, uint64_t value) {
    uint8_t bytes[8];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    out_write(out, bytes, sizeof bytes);
}

/* A field of 8 bytes. */
void proto_fixed64(struct output *out, unsigned field, uint64_t value);

/* The head of a field of `length` bytes, which are to follow. */
void proto_head(struct output *out, unsigned field, uint64_t length);

/* A number; 0 is left out, as it is what an absent field means. */
void proto_u64(struct output *out, unsigned field, uint64_t value);
/* Text or bytes, also when there are none. */
void proto_bytes(struct output *out, unsigned field, const void *bytes, size_t length);
/* What was written to memory becomes a field; the memory is empty then, and keeps its failure. */
void proto_message(struct output *out, unsigned field, struct output *part);

/* A number with its field, also 0: presence counts. */
void proto_number(struct output *out, unsigned field, uint64_t value);

struct proto_field {
    uint32_t number;
    uint32_t wire;
    uint64_t value;       /* of a number; else the length */
    const uint8_t *bytes; /* PROTO_BYTES: there are `value` of them */
};

/* false: no number stands there, or it is longer than 64 bits. The cursor stays. */
bool proto_take_number(struct cursor *in, uint64_t *value);
/* The next field; false: what stands there is none, or goes on behind the end. */
bool proto_take(struct cursor *in, struct proto_field *f);

#endif
