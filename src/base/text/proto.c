/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers: see proto.h. */
#include "base/text/proto.h"

bool proto_take_number(struct cursor *in, uint64_t *value) {
    uint64_t v = 0;
    for (unsigned n = 0; n < PROTO_VARINT_MOST && n < cursor_left(in); n++) {
        v |= (uint64_t)(in->at[n] & 127) << 7 * n;
        if (in->at[n] & 128)
            continue;
        if (n == PROTO_VARINT_MOST - 1 && in->at[n] > 1)
            return false;
        in->at += n + 1;
        *value = v;
        return true;
    }
    return false;
}

/* Takes the bytes after the head of a field. */
static bool take_content(struct cursor *in, struct proto_field *f) {
    uint32_t word;
    bool there = f->wire <= PROTO_BYTES && f->wire != PROTO_FIXED64 && proto_take_number(in, &f->value);
    if (f->wire == PROTO_FIXED64)
        there = take_u64(in, &f->value);
    if (f->wire == PROTO_FIXED32 && (there = take_u32(in, &word)))
        f->value = word;
    return there && (f->wire != PROTO_BYTES || take_bytes(in, f->value, &f->bytes));
}

bool proto_take(struct cursor *in, struct proto_field *f) {
    struct cursor from = *in;
    uint64_t head;
    from.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    if (!proto_take_number(&from, &head) || head >> 3 == 0 || head >> 3 > PROTO_FIELD_MOST)
        return false;
    *f = (struct proto_field){.number = (uint32_t)(head >> 3), .wire = (uint32_t)(head & 7)};
    if (!take_content(&from, f))
        return false;
    in->at = from.at;
    return true;
}

void proto_head(struct output *out, unsigned field, uint64_t length) {
    proto_varint(out, field << 3 | PROTO_BYTES);
    proto_varint(out, length);
}

void proto_fixed64(struct output *out, unsigned field, uint64_t value) {
    proto_varint(out, field << 3 | PROTO_FIXED64);
    proto_element64(out, value);
}

void proto_u64(struct output *out, unsigned field, uint64_t value) {
    if (value)
        proto_number(out, field, value);
}

void proto_number(struct output *out, unsigned field, uint64_t value) {
    proto_varint(out, field << 3 | PROTO_VARINT);
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
