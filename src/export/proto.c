/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers, written: see proto.h. */
#include "export/proto.h"

size_t proto_length(uint64_t value) {
    return ((size_t)(63 - __builtin_clzll(value | 1)) * 9 + 73) / 64; /* 7 bits a byte */
}

size_t proto_put(uint8_t *to, uint64_t value) {
    size_t n = 0;
    for (; value >= 128; value >>= 7)
        to[n++] = (uint8_t)(value | 128);
    to[n++] = (uint8_t)value;
    return n;
}

void proto_varint(struct output *out, uint64_t value) {
    if (out_room(out, PROTO_VARINT_MOST))
        out->used += proto_put((uint8_t *)out->buffer + out->used, value);
}

void proto_head(struct output *out, unsigned field, uint64_t length) {
    proto_varint(out, field << 3 | PROTO_BYTES);
    proto_varint(out, length);
}

void proto_u64(struct output *out, unsigned field, uint64_t value) {
    if (value == 0)
        return;
    proto_varint(out, field << 3);
    proto_varint(out, value);
}

void proto_bytes(struct output *out, unsigned field, const void *bytes, size_t length) {
    proto_head(out, field, length);
    out_write(out, bytes, length);
}

void proto_message(struct output *out, unsigned field, struct output *part) {
    size_t length;
    const char *bytes = out_bytes(part, &length);
    proto_bytes(out, field, length ? bytes : "", length);
    out_clear(part);
}
