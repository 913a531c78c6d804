/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads messages into structs of layouts; the inverse of quipper_message.c. Fields may come in any order; unknown
 * fields are skipped. At the first occurrence of a repeated field, all its occurrences are counted and then written to
 * the arena in the form of the layout, so allocations are bounded by the bytes of the input.
 */
#include "edit/quipper/quipper.h"
#include "wire/layout_write.h"

#define ROWS_MOST 64u

struct struct_taking {
    struct quipper_taking *all;
    unsigned message;
    const struct layout *layout;
    void *body;
    struct cursor rest; /* from the start of the message; used for offsets of errors */
    uint32_t seen[ROWS_MOST];
    pfr_error *err;
};

static pfr_status damaged(const struct struct_taking *t, const struct cursor *in, const char *what) {
    return pfr_fail(t->err, PFR_ERR_DAMAGE, cursor_offset(in), cursor_left(in), what,
                    "%s has bytes that are not a field of a protocol buffer", what);
}

static pfr_status no_memory(const struct struct_taking *t) {
    return mem_fail(t->all->arena->memory, t->err, "quipper");
}

static void *value_in(const struct struct_taking *t, const struct quipper_member *m) {
    return (uint8_t *)t->body + m->at + m->field->at;
}

static bool find(const struct struct_taking *t, const char **from, struct quipper_member *m) {
    struct quipper_name name;
    while (quipper_next_name(from, &name))
        if (quipper_find(t->layout, t->all->context, t->body, &name, m))
            return true;
    return false;
}

/* --- Numbers. */

/* Stores the number in every member that the row names; the context later determines which of them is written. */
static void take_number(const struct struct_taking *t, const struct quipper_row *row, uint64_t value) {
    struct quipper_member m;
    for (const char *from = row->from; find(t, &from, &m);) {
        uint8_t *part = (uint8_t *)t->body + m.at;
        if (row->kind == Q_BITS || row->kind == Q_BIT)
            value = bits_into(field_integer(m.field, part), 64, row->extra, false, value);
        field_set_integer(m.field, part, value);
    }
}

struct number_walk {
    struct cursor in, packed;
    uint32_t number;
};

/* The next number of the field, packed or not. */
static bool next_number(struct number_walk *w, uint64_t *value) {
    struct proto_field f;
    while (cursor_left(&w->packed) == 0) {
        if (cursor_left(&w->in) == 0 || !proto_take(&w->in, &f))
            return false;
        if (f.number != w->number)
            continue;
        *value = f.value;
        if (f.wire != PROTO_BYTES)
            return true;
        w->packed = cursor_on(f.bytes, (size_t)f.value, 0, false);
    }
    return proto_take_number(&w->packed, value);
}

static pfr_status take_numbers(const struct struct_taking *t, const struct quipper_member *m, uint32_t number,
                               const struct cursor *from) {
    const struct number_walk start = {.in = *from, .packed = cursor_on(NULL, 0, 0, false), .number = number};
    struct number_walk w = start;
    uint64_t value, count = 0;
    while (next_number(&w, &value))
        count++;
    uint64_t *numbers = arena_zeroed(t->all->arena, (size_t)count + 1, sizeof *numbers);
    if (!numbers)
        return no_memory(t);
    w = start;
    for (uint64_t i = 0; i < count && next_number(&w, &value); i++)
        numbers[i] = value;
    *(pfr_u64s *)value_in(t, m) = (pfr_u64s){(const uint8_t *)numbers, count, 0};
    return PFR_OK;
}

/* --- Bytes. */

static unsigned digit_of(uint8_t c) {
    static const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c | 0x20) : NULL; /* to lower case; digits have this bit, too */
    return found ? (unsigned)(found - digits) : 16;
}

static size_t from_hex(uint8_t *to, size_t room, const struct proto_field *f) {
    size_t count = 0;
    for (; count < room && 2 * count + 2 <= f->value; count++) {
        const unsigned high = digit_of(f->bytes[2 * count]), low = digit_of(f->bytes[2 * count + 1]);
        if (high > 15 || low > 15)
            break;
        to[count] = (uint8_t)(high << 4 | low);
    }
    return count;
}

/* quipper pads build-ids with zeros. The size is the length without zero words of 4 bytes at the end. */
static void note_build_id(const struct struct_taking *t, const uint8_t *id, size_t length) {
    const struct field *size = field_named(t->layout, "build_id_size");
    while (length >= 4 && load_u32(id + length - 4, false) == 0)
        length -= 4;
    if (size)
        field_set_integer(size, t->body, length);
}

static pfr_status take_bytes_of(const struct struct_taking *t, const struct quipper_row *row,
                                const struct quipper_member *m, const struct proto_field *f) {
    pfr_bytes *bytes = value_in(t, m);
    const size_t fixed = m->field->kind == K_RAW ? m->field->extra : 0;
    if (fixed == 0) {
        *bytes = (pfr_bytes){f->bytes, f->value};
        return PFR_OK;
    }
    uint8_t *padded = arena_zeroed(t->all->arena, fixed, 1);
    if (!padded)
        return no_memory(t);
    if (row->kind == Q_HEX)
        note_build_id(t, padded, from_hex(padded, fixed, f));
    else
        memcpy(padded, f->bytes, f->value < fixed ? (size_t)f->value : fixed);
    *bytes = (pfr_bytes){padded, fixed};
    return PFR_OK;
}

static pfr_text text_of(const struct proto_field *f) {
    const size_t most = f->value < UINT32_MAX ? (size_t)f->value : UINT32_MAX;
    return (pfr_text){(const char *)f->bytes, (uint32_t)strnlen((const char *)f->bytes, most), 0};
}

static void take_text(const struct struct_taking *t, const struct quipper_row *row, const struct proto_field *f) {
    struct quipper_member m;
    for (const char *from = row->from; find(t, &from, &m);)
        *(pfr_text *)value_in(t, &m) = text_of(f);
}

/* --- Parts. */

static pfr_status take_item(const struct struct_taking *t, const struct quipper_row *row, const struct proto_field *f,
                            const struct layout *part, union any_layout *body) {
    memset(body, 0, sizeof *body);
    if (row->kind == Q_PART)
        return quipper_take(
            t->all, row->message, part,
            cursor_on(f->bytes, (size_t)f->value, t->rest.offset + (uint64_t)(f->bytes - t->rest.start), false), body,
            t->err);
    body->as_string.text = text_of(f);
    return PFR_OK;
}

/* Writes all parts with this number in the form of their layout; *count is their number. */
static pfr_status write_items(const struct struct_taking *t, const struct quipper_row *row, struct cursor in,
                              const struct layout *part, struct writing *to, uint64_t *count) {
    union any_layout body;
    struct proto_field f;
    for (*count = 0; cursor_left(&in) > 0 && proto_take(&in, &f);) {
        if (f.number != row->number || f.wire != PROTO_BYTES)
            continue;
        PFR_TRY(take_item(t, row, &f, part, &body));
        PFR_TRY(layout_write(part, t->all->context, &body, to, t->err));
        ++*count;
    }
    return PFR_OK;
}

static pfr_status take_items(const struct struct_taking *t, const struct quipper_row *row,
                             const struct quipper_member *m, const struct cursor *from) {
    const struct layout *part = layout_at(m->field->of);
    struct writing to = writing_nowhere();
    uint64_t count;
    PFR_TRY(write_items(t, row, *from, part, &to, &count));
    const size_t length = (size_t)to.used;
    uint8_t *bytes = arena_zeroed(t->all->arena, length + 1, 1);
    if (!bytes)
        return no_memory(t);
    to = writing_into(bytes, length);
    PFR_TRY(write_items(t, row, *from, part, &to, &count));
    *(pfr_items *)value_in(t, m) = (pfr_items){bytes, length, count, t->all->context, m->field->of};
    return PFR_OK;
}

static pfr_status take_nested(const struct struct_taking *t, const struct quipper_row *row, const struct layout *l,
                              const struct proto_field *f, void *body) {
    const uint64_t offset = t->rest.offset + (uint64_t)(f->bytes - t->rest.start);
    return quipper_take(t->all, row->message, l, cursor_on(f->bytes, (size_t)f->value, offset, false), body, t->err);
}

/* --- By kind. */

/* A repeated field is read at its first occurrence; `from` starts there. */
static pfr_status take_many(struct struct_taking *t, const struct quipper_row *row, const struct quipper_member *m,
                            const struct cursor *from, bool first) {
    if (!first)
        return PFR_OK;
    return row->kind == Q_NUMBERS ? take_numbers(t, m, row->number, from) : take_items(t, row, m, from);
}

static pfr_status take_bytes_field(struct struct_taking *t, const struct quipper_row *row,
                                   const struct quipper_member *m, const struct proto_field *f,
                                   const struct cursor *from, bool first) {
    switch ((enum quipper_kind)row->kind) {
    case Q_TEXT:
        take_text(t, row, f);
        return PFR_OK;
    case Q_BYTES:
    case Q_HEX:
        return take_bytes_of(t, row, m, f);
    case Q_TEXTS:
    case Q_NUMBERS:
        return take_many(t, row, m, from, first);
    case Q_SAME:
        return take_nested(t, row, t->layout, f, t->body);
    case Q_PART:
        if (m->field->kind == K_SUB)
            return take_nested(t, row, layout_at(m->field->of), f, value_in(t, m));
        return take_many(t, row, m, from, first);
    default:
        return PFR_OK;
    }
}

static pfr_status take_field(struct struct_taking *t, const struct quipper_row *row, const struct proto_field *f,
                             const struct cursor *from, bool first) {
    struct quipper_member m;
    const char *names = row->from;
    const bool is_number = quipper_form_of(row) < FORM_BYTES;
    if (row->kind == Q_PAYLOAD && f->wire == PROTO_BYTES) {
        t->all->payload = (pfr_bytes){f->bytes, f->value};
        return PFR_OK;
    }
    if (row->kind == Q_TAIL && f->wire == PROTO_BYTES) {
        t->all->has_id = true;
        return take_nested(t, row, layout_at(L_sample_id), f, t->all->id);
    }
    if (!find(t, &names, &m) || (is_number && f->wire == PROTO_BYTES && row->kind != Q_NUMBERS))
        return PFR_OK;
    if (row->kind == Q_NUMBERS)
        return take_many(t, row, &m, from, first);
    if (!is_number)
        return f->wire == PROTO_BYTES ? take_bytes_field(t, row, &m, f, from, first) : PFR_OK;
    if (row->kind != Q_MD5 && row->kind != Q_MD5S && row->kind != Q_ROOT_MD5 && row->kind != Q_LACKS)
        take_number(t, row, f->value);
    return PFR_OK;
}

/* The row for a field number. If several rows share the number, successive fields take successive rows, skipping rows
 * whose member the context lacks. */
static const struct quipper_row *row_for(struct struct_taking *t, uint32_t number, bool *first) {
    const struct quipper_row *const rows = quipper_rows(t->message), *const row = quipper_row_of(t->message, number);
    const struct quipper_row *last = row, *at = row;
    struct quipper_member m;
    if (!row || (size_t)(row - rows) >= ROWS_MOST)
        return NULL;
    uint32_t skip = t->seen[row - rows];
    *first = skip == 0;
    if (t->seen[row - rows] < UINT32_MAX)
        t->seen[row - rows]++;
    for (; at->name && at->number == number; at++) {
        const char *names = at->from;
        if (at[0].number != at[1].number && at == row)
            return row;
        if (!find(t, &names, &m) || !m.there)
            continue;
        last = at;
        if (skip-- == 0)
            break;
    }
    return last;
}

pfr_status quipper_take(struct quipper_taking *all, unsigned message, const struct layout *l, struct cursor in,
                        void *body, pfr_error *err) {
    struct struct_taking t = {.all = all, .message = message, .layout = l, .body = body, .rest = in, .err = err};
    struct proto_field f;
    while (cursor_left(&in) > 0) {
        const struct cursor from = in;
        bool first;
        if (!proto_take(&in, &f))
            return damaged(&t, &in, l->name);
        const struct quipper_row *row = row_for(&t, f.number, &first);
        if (row)
            PFR_TRY(take_field(&t, row, &f, &from, first));
    }
    return PFR_OK;
}
