/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints messages as protobuf text: one field or brace per line, indented by two spaces per enclosing message. Bytes
 * that are not printable ASCII are written as three octal digits. Fields unknown to quipper, including our own, are
 * omitted.
 */
#include "edit/quipper/quipper.h"

static void put_bytes(struct output *out, const uint8_t *bytes, uint64_t length) {
    static const char special[] = "\n\r\t\"'\\", letters[] = "nrt\"'\\";
    out_char(out, '"');
    for (uint64_t i = 0; i < length; i++) {
        const char *found = bytes[i] ? strchr(special, bytes[i]) : NULL;
        if (found) {
            out_char(out, '\\');
            out_char(out, letters[found - special]);
        } else if (bytes[i] >= ' ' && bytes[i] < 127) {
            out_char(out, (char)bytes[i]);
        } else {
            out_char(out, '\\');
            for (int shift = 6; shift >= 0; shift -= 3)
                out_char(out, (char)('0' + (bytes[i] >> shift & 7)));
        }
    }
    out_char(out, '"');
}

static void put_number(struct output *out, const struct quipper_row *row, uint64_t value) {
    if (quipper_form_of(row) == FORM_TRUTH)
        out_text(out, value ? "true" : "false");
    else
        out_u64(out, value);
}

static bool is_shown(const struct quipper_row *row, const struct proto_field *f) {
    const bool has_length = row && quipper_form_of(row) >= FORM_BYTES;
    return row && row->number < QUIPPER_OURS && has_length == (f->wire == PROTO_BYTES);
}

/* Messages being printed, with their remaining bytes. */
struct print_level {
    unsigned message;
    struct cursor in;
};

void quipper_print(struct output *out, unsigned message, struct cursor in) {
    struct print_level levels[QUIPPER_DEPTH] = {{message, in}};
    struct proto_field f;
    for (size_t depth = 0;;) {
        struct print_level *l = &levels[depth];
        if (cursor_left(&l->in) == 0 || !proto_take(&l->in, &f)) {
            if (depth == 0)
                return;
            out_pad(out, 2 * --depth);
            out_text(out, "}\n");
            continue;
        }
        const struct quipper_row *row = quipper_row_of(l->message, f.number);
        if (!is_shown(row, &f))
            continue;
        out_pad(out, 2 * depth);
        out_text(out, row->name);
        if (quipper_form_of(row) == FORM_MESSAGE && depth + 1 < QUIPPER_DEPTH) {
            out_text(out, " {\n");
            levels[++depth] = (struct print_level){row->message, cursor_on(f.bytes, (size_t)f.value, 0, false)};
            continue;
        }
        out_text(out, ": ");
        if (f.wire == PROTO_BYTES)
            put_bytes(out, f.bytes, f.value);
        else
            put_number(out, row, f.value);
        out_char(out, '\n');
    }
}
