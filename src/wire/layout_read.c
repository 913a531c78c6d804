/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads any layout by its descriptors: one switch over kinds. The straight-line code of fast_sample.c reads the same
 * bytes faster. If it fails, its callers read again with this code, which can name the field.
 */
#include "wire/any_layout.h"

struct layout_reading {
    const struct layout *layout;
    const struct pfr_context *context;
    struct cursor *in;
    const uint8_t *start; /* start of this layout, for SCOPE and PAD */
    uint8_t *rec;
    pfr_error *err;
    uint64_t word; /* the last W8, W32 or W64, and the order of its bits */
    unsigned word_width;
    bool word_mirrored;
};

static pfr_status damaged(const struct layout_reading *r, const struct field *f, uint64_t need) {
    return pfr_fail(r->err, PFR_ERR_DAMAGE, cursor_offset(r->in), cursor_left(r->in), f->name,
                    "%s.%s needs %llu bytes where %zu remain", r->layout->name, f->name, (unsigned long long)need,
                    cursor_left(r->in));
}

static void *member(const struct layout_reading *r, const struct field *f) {
    return r->rec + f->at;
}

static bool take_integer(struct cursor *in, unsigned width, uint64_t *v) {
    uint8_t byte;
    uint16_t half;
    uint32_t word;
    bool ok;
    switch (width) {
    case 1:
        ok = take_u8(in, &byte);
        *v = ok ? byte : 0;
        return ok;
    case 2:
        ok = take_u16(in, &half);
        *v = ok ? half : 0;
        return ok;
    case 4:
        ok = take_u32(in, &word);
        *v = ok ? word : 0;
        return ok;
    default:
        return take_u64(in, v);
    }
}

/* The value is the length of this layout, counted from its start. In perf_event_attr, 0 means 64: early writers did not
   set the size. */
static pfr_status close_scope(struct layout_reading *r, const struct field *f, uint64_t size) {
    const uint64_t length = size == 0 && r->layout == layout_at(L_attr) ? 64 : size;
    const uint64_t taken = (uint64_t)(r->in->at - r->start);
    if (length < taken || length - taken > cursor_left(r->in))
        return pfr_fail(r->err, PFR_ERR_DAMAGE, cursor_offset(r->in), cursor_left(r->in), f->name,
                        "%s.%s is %llu, but the layout may have %llu to %llu bytes", r->layout->name, f->name,
                        (unsigned long long)size, (unsigned long long)taken,
                        (unsigned long long)(taken + cursor_left(r->in)));
    r->in->end = r->start + length;
    return PFR_OK;
}

static pfr_status read_integer(struct layout_reading *r, const struct field *f, unsigned width) {
    uint64_t v;
    if (!take_integer(r->in, width, &v))
        return damaged(r, f, width);
    field_set_integer(f, r->rec, v);
    if (field_is_word(f)) {
        r->word = v;
        r->word_width = width * 8;
        r->word_mirrored = f->extra == EXTRA_MIRRORED && r->context->mirrored;
        return PFR_OK;
    }
    return f->extra == EXTRA_SCOPE ? close_scope(r, f, v) : PFR_OK;
}

static void set_text(pfr_text *text, const uint8_t *at, uint64_t room) {
    const uint32_t bounded = room > UINT32_MAX ? UINT32_MAX : (uint32_t)room;
    *text = (pfr_text){(const char *)at, (uint32_t)strnlen((const char *)at, bounded), bounded};
}

static bool is_too_long(const struct layout_reading *r, uint64_t room) {
    return r->context->string_most && room > r->context->string_most;
}

static pfr_status too_long(const struct layout_reading *r, const struct field *f, uint64_t room) {
    return pfr_fail(r->err, PFR_ERR_LIMIT, cursor_offset(r->in), room, f->name,
                    "%s.%s of %llu bytes is longer than the limit string (%llu)", r->layout->name, f->name,
                    (unsigned long long)room, (unsigned long long)r->context->string_most);
}

static pfr_status read_text(struct layout_reading *r, const struct field *f) {
    uint64_t room = f->extra;
    const uint8_t *at;
    if (f->extra == COUNT_TO_END) {
        room = cursor_left(r->in);
    } else if (f->extra == EXTRA_TO_NUL) {
        const size_t length = strnlen((const char *)r->in->at, cursor_left(r->in));
        room = length < cursor_left(r->in) || length == 0 ? length + 1 : length;
    }
    if (!take_bytes(r->in, room, &at))
        return damaged(r, f, room);
    set_text(member(r, f), at, room);
    return PFR_OK;
}

static pfr_status read_str32(struct layout_reading *r, const struct field *f) {
    uint32_t room;
    const uint8_t *at;
    if (!take_u32(r->in, &room))
        return damaged(r, f, 4);
    if (is_too_long(r, room))
        return too_long(r, f, room);
    if (!take_bytes(r->in, room, &at))
        return damaged(r, f, room);
    set_text(member(r, f), at, room);
    return PFR_OK;
}

static pfr_status read_bytes(struct layout_reading *r, const struct field *f, uint64_t length) {
    const uint8_t *at;
    if (!take_bytes(r->in, length, &at))
        return damaged(r, f, length);
    *(pfr_bytes *)member(r, f) = (pfr_bytes){at, length};
    return PFR_OK;
}

static pfr_status read_u64s(struct layout_reading *r, const struct field *f) {
    const uint64_t left = cursor_left(r->in);
    const uint64_t count = f->extra == COUNT_TO_END ? left / 8 : field_count(f, r->context, r->rec);
    if (count > left / 8)
        return damaged(r, f, count > UINT64_MAX / 8 ? UINT64_MAX : count * 8);
    *(pfr_u64s *)member(r, f) = (pfr_u64s){r->in->at, count, r->in->swap};
    r->in->at += count * 8;
    return PFR_OK;
}

static pfr_status read_part(struct layout_reading *r, const struct field *f) {
    const struct layout *part = layout_at(f->of);
    const uint8_t *end = r->in->end;
    pfr_status s = layout_read(part, r->context, r->in, member(r, f), r->err);
    if (r->in->end != end) { /* the part has its own size: continue after it */
        r->in->at = r->in->end;
        r->in->end = end;
    }
    return s;
}

/* Skips parts of one known size: `count` parts, or as many as fit if `all`. */
static pfr_status skip_fixed(struct layout_reading *r, const struct layout *part, uint64_t size, bool all,
                             uint64_t count, uint64_t *done) {
    const uint64_t fit = cursor_left(r->in) / size;
    if (!all && count > fit)
        return pfr_fail(r->err, PFR_ERR_DAMAGE, cursor_offset(r->in), cursor_left(r->in), part->name,
                        "%s: %llu times %s of %llu bytes where %zu bytes remain", r->layout->name,
                        (unsigned long long)count, part->name, (unsigned long long)size, cursor_left(r->in));
    *done = all ? fit : count;
    r->in->at += *done * size;
    return PFR_OK;
}

/* Skips parts of variable size by reading each of them. */
static pfr_status skip_read(struct layout_reading *r, unsigned of, bool all, uint64_t count, uint64_t *done) {
    const struct layout *part = layout_at(of);
    struct items_walk walk = {*r->in, UINT64_MAX};
    const pfr_items items = {.context = r->context, .of = of};
    union any_layout room;
    pfr_status s = PFR_OK;
    for (*done = 0; (all || *done < count) && cursor_left(&walk.in) > 0; ++*done)
        if ((s = items_next(&items, &walk, &room, r->err)) != PFR_OK)
            return s;
    if (!all && *done < count)
        return pfr_fail(r->err, PFR_ERR_DAMAGE, cursor_offset(&walk.in), 0, part->name,
                        "%s: %llu of %llu times %s, then the end", r->layout->name, (unsigned long long)*done,
                        (unsigned long long)count, part->name);
    r->in->at = walk.in.at;
    return PFR_OK;
}

static bool any_set(const uint8_t *at, uint64_t length) {
    for (uint64_t i = 0; i < length; i++)
        if (at[i])
            return true;
    return false;
}

static const struct pfr_context *kept_context(const struct layout_reading *r) {
    return r->context->home ? r->context->home : r->context;
}

/* Reads parts of one size up to an all-zero part, whose bytes belong to the list. */
static pfr_status read_to_zero(struct layout_reading *r, const struct field *f) {
    const struct layout *part = layout_at(f->of);
    const uint64_t size = layout_fixed_size(part, r->context);
    const uint8_t *const at = r->in->at;
    uint64_t count = 0;
    for (; cursor_left(r->in) >= size; count++, r->in->at += size) {
        if (!any_set(r->in->at, size)) {
            r->in->at += size;
            *(pfr_items *)member(r, f) = (pfr_items){at, (count + 1) * size, count, kept_context(r), f->of};
            return PFR_OK;
        }
    }
    return pfr_fail(r->err, PFR_ERR_DAMAGE, cursor_offset(r->in), cursor_left(r->in), f->name,
                    "%s.%s does not end: %llu times %s, then the end", r->layout->name, f->name,
                    (unsigned long long)count, part->name);
}

/* Reads a list of parts. Its count may be any number from the file. WHILE has no count; with COUNT_TO_ZERO, an all-zero
   part ends the list. */
static pfr_status read_items(struct layout_reading *r, const struct field *f) {
    if (f->extra == COUNT_TO_ZERO)
        return read_to_zero(r, f);
    const uint8_t *at = r->in->at;
    const bool all = f->kind == K_WHILE;
    const uint64_t count = all ? 0 : field_count(f, r->context, r->rec);
    const uint64_t fixed = layout_fixed_size(layout_at(f->of), r->context);
    uint64_t done = 0;
    if (fixed)
        PFR_TRY(skip_fixed(r, layout_at(f->of), fixed, all, count, &done));
    else
        PFR_TRY(skip_read(r, f->of, all, count, &done));
    *(pfr_items *)member(r, f) = (pfr_items){at, (uint64_t)(r->in->at - at), done, kept_context(r), f->of};
    return PFR_OK;
}

/* Reads the chosen layout once to check that it fits, as is done for the parts of arrays. */
static pfr_status read_choice(struct layout_reading *r, const struct field *f) {
    const unsigned of = layout_find((enum layout_table)f->of, field_count(f, r->context, r->rec));
    const size_t left = cursor_left(r->in);
    struct cursor inside = *r->in;
    union any_layout chosen;
    if (of != L_NONE)
        PFR_TRY(layout_read(layout_at(of), r->context, &inside, &chosen, r->err));
    *(pfr_items *)member(r, f) = (pfr_items){r->in->at, left, 1, kept_context(r), of};
    r->in->at = r->in->end;
    return PFR_OK;
}

static pfr_status read_padding(struct layout_reading *r, const struct field *f) {
    const uint64_t taken = (uint64_t)(r->in->at - r->start);
    const uint64_t over = taken % f->extra;
    uint64_t length = over ? f->extra - over : 0;
    if (length > cursor_left(r->in))
        length = cursor_left(r->in);
    return read_bytes(r, f, length);
}

static pfr_status read_field(struct layout_reading *r, const struct field *f) {
    switch ((enum field_kind)f->kind) {
    case K_U8:
    case K_W8:
        return read_integer(r, f, 1);
    case K_U16:
        return read_integer(r, f, 2);
    case K_U32:
    case K_W32:
        return read_integer(r, f, 4);
    case K_U64:
    case K_W64:
        return read_integer(r, f, 8);
    case K_BITS:
        field_set_integer(f, r->rec, bits_of(r->word, r->word_width, f->extra, r->word_mirrored));
        return PFR_OK;
    case K_TEXT:
        return read_text(r, f);
    case K_STR32:
        return read_str32(r, f);
    case K_RAW:
        return read_bytes(r, f, f->extra);
    case K_BYTES:
        return read_bytes(r, f, field_count(f, r->context, r->rec));
    case K_REST:
        return read_bytes(r, f, cursor_left(r->in));
    case K_A64:
        return read_u64s(r, f);
    case K_SUB:
        return read_part(r, f);
    case K_ARRAY:
    case K_WHILE:
        return read_items(r, f);
    case K_CHOICE:
        return read_choice(r, f);
    case K_PAD:
        return read_padding(r, f);
    case K_KINDS:
        break;
    }
    return PFR_ERR_USAGE;
}

pfr_status layout_read(const struct layout *l, const struct pfr_context *c, struct cursor *in, void *rec,
                       pfr_error *err) {
    struct layout_reading r = {l, c, in, in->at, rec, err, 0, 64, false};
    memset(rec, 0, l->size);
    for (const struct field *f = l->fields(); f->name; f++)
        if (field_present(f, c, rec, cursor_left(in)))
            PFR_TRY(read_field(&r, f));
    return PFR_OK;
}

struct items_walk items_start(const pfr_items *items) {
    return (struct items_walk){cursor_on(items->at, items->length, 0, items->context && items->context->swap),
                               items->count};
}

pfr_status items_next(const pfr_items *items, struct items_walk *walk, void *rec, pfr_error *err) {
    const struct layout *part = layout_at(items->of);
    const uint8_t *end = walk->in.end, *at = walk->in.at;
    if (walk->left == 0 || !part || (cursor_left(&walk->in) == 0 && layout_least_size(part, items->context) > 0))
        return PFR_END;
    PFR_TRY(layout_read(part, items->context, &walk->in, rec, err));
    if (walk->in.end != end) {
        walk->in.at = walk->in.end;
        walk->in.end = end;
    }
    if (walk->in.at == at) /* a part without bytes would repeat forever */
        return PFR_END;
    walk->left--;
    return PFR_OK;
}
