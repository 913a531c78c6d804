/* SPDX-License-Identifier: Apache-2.0 */
/* Writes any layout by its descriptors: one switch over kinds, the counterpart of layout_read.c. */
#include "wire/layout_write.h"

#include "wire/any_layout.h"

struct output_layout {
    const struct layout *layout;
    const struct pfr_context *context;
    const uint8_t *rec;
    struct writing *to;
    uint64_t start;            /* start of this layout */
    uint64_t end;              /* end of this layout, if known, for ROOM */
    const struct field *scope; /* the size member of this layout, after it was written; NULL before */
    uint64_t scope_at;
    pfr_error *err;
};

static pfr_status unwritable(const struct output_layout *o, const struct field *f, const char *why) {
    return pfr_fail(o->err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, f->name, "%s.%s: %s", o->layout->name, f->name, why);
}

/* Makes room for `length` more bytes: *at is set to their address, or to NULL if bytes are only counted. */
static pfr_status make_room(struct writing *to, uint64_t length, uint8_t **at, pfr_error *err) {
    if (length > to->capacity - to->used)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "", "%llu bytes do not fit where %llu of %llu are left",
                        (unsigned long long)length, (unsigned long long)(to->capacity - to->used),
                        (unsigned long long)to->capacity);
    *at = to->bytes ? to->bytes + to->used : NULL;
    to->used += length;
    return PFR_OK;
}

static pfr_status put_bytes(struct writing *to, const void *bytes, uint64_t length, pfr_error *err) {
    uint8_t *at = NULL;
    PFR_TRY(make_room(to, length, &at, err));
    if (at && length)
        memcpy(at, bytes, length);
    return PFR_OK;
}

static pfr_status put_zeros(struct writing *to, uint64_t length, pfr_error *err) {
    uint8_t *at = NULL;
    PFR_TRY(make_room(to, length, &at, err));
    if (at && length)
        memset(at, 0, length);
    return PFR_OK;
}

static void store_integer(uint8_t *at, unsigned width, uint64_t v, bool swap) {
    for (unsigned i = 0; i < width; i++) {
        const bool little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != swap;
        at[little ? i : width - 1 - i] = (uint8_t)(v >> 8 * i);
    }
}

static bool fits_width(uint64_t v, unsigned width) {
    return width == 8 || v >> 8 * width == 0;
}

static const void *member(const struct output_layout *o, const struct field *f) {
    return o->rec + f->at;
}

/* The number of elements of a view, in the unit of its count. */
static uint64_t view_count(const struct output_layout *o, const struct field *f) {
    switch (f->kind) {
    case K_BYTES:
        return ((const pfr_bytes *)member(o, f))->length;
    case K_A64:
        return ((const pfr_u64s *)member(o, f))->count;
    default:
        return ((const pfr_items *)member(o, f))->count;
    }
}

static bool counts_by_member(const struct field *f) {
    return (f->kind == K_BYTES || f->kind == K_A64 || f->kind == K_ARRAY) && !(f->extra & COUNT_FROM_WORD);
}

/* The value to write for an integer member: the element count of the first view that it counts, else its own value. */
static uint64_t effective_integer(const struct output_layout *o, const struct field *f) {
    const uint64_t own = field_integer(f, o->rec);
    for (const struct field *view = f + 1; view->name; view++) {
        if (!counts_by_member(view) || (view->extra & ~COUNT_IN_BITS) != f->at)
            continue;
        const uint64_t count = view_count(o, view);
        if (view->extra & COUNT_IN_BITS)
            return own / 64 + (own % 64 != 0) == count ? own : count * 64;
        return count;
    }
    return own;
}

static const struct field *field_at(const struct layout *l, uint64_t at) {
    const struct field *f = l->fields();
    while (f->name && f->at != at)
        f++;
    return f;
}

static bool any_byte(const uint8_t *at, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (at[i])
            return true;
    return false;
}

static bool is_view(const struct field *f) {
    return field_width(f) == 0 && f->kind != K_BITS && f->kind != K_SUB;
}

/* Every view type starts with its pointer. */
static bool view_there(const struct output_layout *o, const struct field *f) {
    const void *at;
    memcpy(&at, member(o, f), sizeof at);
    return at != NULL;
}

static bool holds_something(const struct output_layout *o, const struct field *f) {
    if (is_view(f))
        return view_there(o, f);
    if (f->kind == K_SUB)
        return any_byte(member(o, f), layout_at(f->of)->size);
    return effective_integer(o, f) != 0;
}

static bool has_room(const struct output_layout *o, const struct field *f) {
    const uint64_t left = o->end > o->to->used ? o->end - o->to->used : 0;
    if (is_view(f))
        return view_there(o, f);
    if (o->end != EXTENT_UNKNOWN)
        return field_present(f, o->context, o->rec, left);
    for (; f->name; f++)
        if ((f->when.test == TEST_ROOM || f->when.test == TEST_ROOM_WORD) && holds_something(o, f))
            return true;
    return false;
}

static bool is_written(const struct output_layout *o, const struct field *f) {
    const struct presence *p = &f->when;
    switch (p->test) {
    case TEST_ROOM:
    case TEST_ROOM_WORD:
        return has_room(o, f);
    case TEST_AT_LEAST:
        return effective_integer(o, field_at(o->layout, p->clear)) >= p->set;
    case TEST_BELOW:
        return effective_integer(o, field_at(o->layout, p->clear)) < p->set;
    default:
        return field_present(f, o->context, o->rec, 0);
    }
}

/* Composes a word from the BITS that follow it in the list. */
static uint64_t word_of_bits(const struct output_layout *o, const struct field *f) {
    const bool mirrored = f->extra == EXTRA_MIRRORED && o->context->mirrored;
    const unsigned width = 8 * field_width(f);
    uint64_t word = 0;
    if (f[1].kind != K_BITS || !f[1].name)
        return field_integer(f, o->rec);
    for (const struct field *bits = f + 1; bits->name && bits->kind == K_BITS; bits++)
        word = bits_into(word, width, bits->extra, mirrored, field_integer(bits, o->rec));
    return word;
}

static void open_scope(struct output_layout *o, const struct field *f, uint64_t size) {
    o->scope = f;
    o->scope_at = o->to->used;
    o->end = size ? o->start + size : EXTENT_UNKNOWN;
}

static pfr_status write_integer(struct output_layout *o, const struct field *f) {
    const bool word = field_is_word(f);
    const uint64_t v = word ? word_of_bits(o, f) : effective_integer(o, f);
    const unsigned width = field_width(f);
    uint8_t *at = NULL;
    if (!fits_width(v, width))
        return unwritable(o, f, "the count is too large for its member");
    if (!word && f->extra == EXTRA_SCOPE)
        open_scope(o, f, v);
    PFR_TRY(make_room(o->to, width, &at, o->err));
    if (at)
        store_integer(at, width, v, o->context->swap);
    return PFR_OK;
}

/* Writes the size of the layout, now known. An attr with size 0, which means 64, keeps the 0. */
static pfr_status close_scope(struct output_layout *o) {
    const uint64_t size = o->to->used - o->start;
    if (!o->scope || (o->layout == layout_at(L_attr) && size == 64 && field_integer(o->scope, o->rec) == 0))
        return PFR_OK;
    if (!fits_width(size, field_width(o->scope)))
        return unwritable(o, o->scope, "the layout is too large for its size member");
    if (o->to->bytes)
        store_integer(o->to->bytes + o->scope_at, field_width(o->scope), size, o->context->swap);
    return PFR_OK;
}

static uint64_t round_up(uint64_t v, uint64_t unit) {
    return (v + unit - 1) / unit * unit;
}

static pfr_status put_text(struct output_layout *o, const pfr_text *text, uint64_t room) {
    PFR_TRY(put_bytes(o->to, text->at, text->length, o->err));
    return put_zeros(o->to, room - text->length, o->err);
}

static pfr_status write_text(struct output_layout *o, const struct field *f) {
    const pfr_text *text = member(o, f);
    uint64_t room = text->room;
    if (f->extra < EXTRA_TO_NUL)
        room = f->extra;
    else if (f->extra == EXTRA_TO_NUL)
        room = text->room > 0 && text->room == text->length ? text->length : (uint64_t)text->length + 1;
    else if (room == 0 && text->length > 0)
        room = round_up(o->to->used + text->length + 1, 8) - o->to->used;
    if (text->length > room)
        return unwritable(o, f, "the text is longer than its field");
    return put_text(o, text, room);
}

static pfr_status write_str32(struct output_layout *o, const struct field *f) {
    const pfr_text *text = member(o, f);
    const uint64_t room = text->room == 0 && text->length > 0 ? round_up((uint64_t)text->length + 1, 64) : text->room;
    uint8_t *at = NULL;
    if (text->length > room || !fits_width(room, 4))
        return unwritable(o, f, "the text is longer than its field");
    PFR_TRY(make_room(o->to, 4, &at, o->err));
    if (at)
        store_integer(at, 4, room, o->context->swap);
    return put_text(o, text, room);
}

/* Writes exactly `size` bytes; zeros if the view is empty. */
static pfr_status write_sized(struct output_layout *o, const struct field *f, uint64_t size) {
    const pfr_bytes *bytes = member(o, f);
    if (bytes->length == 0)
        return put_zeros(o->to, size, o->err);
    if (bytes->length != size)
        return unwritable(o, f, "not as many bytes as the layout has");
    return put_bytes(o->to, bytes->at, size, o->err);
}

static pfr_status write_bytes(struct output_layout *o, const struct field *f) {
    const pfr_bytes *bytes = member(o, f);
    if (f->kind == K_BYTES && f->extra & COUNT_FROM_WORD)
        return write_sized(o, f, field_count(f, o->context, o->rec));
    return put_bytes(o->to, bytes->at, bytes->length, o->err);
}

static bool count_agrees(const struct output_layout *o, const struct field *f, uint64_t count) {
    if (f->kind == K_WHILE || f->extra == COUNT_TO_END || f->extra == COUNT_TO_ZERO)
        return true;
    if (f->extra & COUNT_FROM_WORD)
        return count == field_count(f, o->context, o->rec);
    const uint64_t said = effective_integer(o, field_at(o->layout, f->extra & ~COUNT_IN_BITS));
    return count == (f->extra & COUNT_IN_BITS ? said / 64 + (said % 64 != 0) : said);
}

static pfr_status write_u64s(struct output_layout *o, const struct field *f) {
    const pfr_u64s *numbers = member(o, f);
    uint8_t *at = NULL;
    if (!count_agrees(o, f, numbers->count))
        return unwritable(o, f, "not as many numbers as the context or another list says");
    if (numbers->count > UINT64_MAX / 8)
        return unwritable(o, f, "too many numbers");
    PFR_TRY(make_room(o->to, numbers->count * 8, &at, o->err));
    for (uint64_t i = 0; at && i < numbers->count; i++)
        store_integer(at + 8 * i, 8, pfr_u64s_at(numbers, i), o->context->swap);
    return PFR_OK;
}

static pfr_status write_layout(const struct layout *l, const struct pfr_context *c, const void *rec, uint64_t end,
                               struct writing *to, pfr_error *err);

static pfr_status write_items(struct output_layout *o, const struct field *f) {
    const pfr_items *items = member(o, f);
    struct items_walk walk = items_start(items);
    union any_layout part;
    pfr_status s;
    uint64_t written = 0;
    if (!count_agrees(o, f, items->count))
        return unwritable(o, f, "not as many parts as the context or another list says");
    for (; (s = items_next(items, &walk, &part, o->err)) == PFR_OK; written++)
        PFR_TRY(write_layout(layout_at(items->of), o->context, &part, EXTENT_UNKNOWN, o->to, o->err));
    PFR_TRY(s);
    if (written < items->count)
        return unwritable(o, f, "the view ends before its count");
    return f->extra == COUNT_TO_ZERO ? put_zeros(o->to, layout_fixed_size(layout_at(f->of), o->context), o->err)
                                     : PFR_OK;
}

static pfr_status write_choice(struct output_layout *o, const struct field *f) {
    const pfr_items *items = member(o, f);
    const struct layout *part = layout_at(items->of);
    if (!part)
        return put_bytes(o->to, items->at, items->length, o->err);
    return layout_convert(part, items->context, items->at, items->length, 0, o->context, o->to, o->err);
}

static pfr_status write_padding(struct output_layout *o, const struct field *f) {
    const uint64_t taken = o->to->used - o->start;
    const uint64_t length = round_up(taken, f->extra) - taken;
    const uint64_t left = o->end > o->to->used ? o->end - o->to->used : 0;
    return put_zeros(o->to, length < left ? length : left, o->err);
}

static pfr_status write_field(struct output_layout *o, const struct field *f) {
    switch ((enum field_kind)f->kind) {
    case K_U8:
    case K_U16:
    case K_U32:
    case K_U64:
    case K_W8:
    case K_W32:
    case K_W64:
        return write_integer(o, f);
    case K_BITS: /* written with their word */
        return PFR_OK;
    case K_TEXT:
        return write_text(o, f);
    case K_STR32:
        return write_str32(o, f);
    case K_RAW:
        return write_sized(o, f, f->extra);
    case K_BYTES:
    case K_REST:
        return write_bytes(o, f);
    case K_A64:
        return write_u64s(o, f);
    case K_SUB:
        return write_layout(layout_at(f->of), o->context, member(o, f), o->end, o->to, o->err);
    case K_ARRAY:
    case K_WHILE:
        return write_items(o, f);
    case K_CHOICE:
        return write_choice(o, f);
    case K_PAD:
        return write_padding(o, f);
    case K_KINDS:
        break;
    }
    return PFR_ERR_USAGE;
}

static pfr_status write_layout(const struct layout *l, const struct pfr_context *c, const void *rec, uint64_t end,
                               struct writing *to, pfr_error *err) {
    struct output_layout o = {l, c, rec, to, to->used, end, NULL, 0, err};
    for (const struct field *f = l->fields(); f->name; f++)
        if (is_written(&o, f))
            PFR_TRY(write_field(&o, f));
    return close_scope(&o);
}

pfr_status layout_write(const struct layout *l, const struct pfr_context *c, const void *rec, struct writing *to,
                        pfr_error *err) {
    return write_layout(l, c, rec, to->extent, to, err);
}

pfr_status layout_convert(const struct layout *l, const struct pfr_context *from, const void *bytes, uint64_t length,
                          uint64_t offset, const struct pfr_context *c, struct writing *to, pfr_error *err) {
    struct cursor in = cursor_on(bytes, (size_t)length, offset, from->swap);
    union any_layout rec;
    const uint8_t *end = in.end;
    PFR_TRY(layout_read(l, from, &in, &rec, err));
    PFR_TRY(write_layout(l, c, &rec, to->used + length, to, err));
    if (in.end != end) /* the layout has its own size */
        in.at = in.end;
    return put_bytes(to, in.at, (uint64_t)(end - in.at), err);
}
