/* SPDX-License-Identifier: Apache-2.0 */
/* Writes structs of layouts as messages: each row of the message finds its member and writes it by the row's kind. */
#include "base/text/md5.h"
#include "edit/quipper/quipper.h"

#include "wire/record_bits.h"

struct putting {
    struct quipper_parts *parts;
    unsigned depth;
    const struct quipper_source *source;
    struct output *to;
    pfr_error *err;
};

static pfr_status put_message(const struct putting *p, const struct quipper_row *row, const struct quipper_source *s) {
    struct output *part = &p->parts->at[p->depth];
    PFR_TRY(quipper_put(p->parts, p->depth + 1, row->message, s, part, p->err));
    proto_message(p->to, row->number, part);
    return PFR_OK;
}

/* Finds the first member of the row that is present in the struct. Returns false if there is no such member. */
static bool find_there(const struct quipper_source *s, const struct quipper_row *row, struct quipper_member *m) {
    struct quipper_name name;
    for (const char *from = row->from; quipper_next_name(&from, &name);)
        if (quipper_find(s->layout, s->context, s->body, &name, m) && m->there)
            return true;
    return false;
}

static const void *value_of(const struct quipper_source *s, const struct quipper_member *m) {
    return (const uint8_t *)s->body + m->at + m->field->at;
}

static uint64_t number_of(const struct quipper_source *s, const struct quipper_member *m) {
    return field_integer(m->field, (const uint8_t *)s->body + m->at);
}

/* --- Texts. */

static pfr_text root_of(const pfr_text *path) {
    unsigned slashes = 0;
    uint32_t last = 0;
    if (path->length == 0 || path->at[0] != '/')
        return (pfr_text){path->at, 0, 0};
    if (path->length > 1 && path->at[1] == '/')
        return (pfr_text){path->at, 2, 0};
    for (uint32_t i = 0; i < path->length && slashes < 3; i++)
        if (path->at[i] == '/') {
            slashes++;
            last = i;
        }
    return (pfr_text){path->at, last, 0};
}

static void put_text(const struct putting *p, const struct quipper_row *row, const pfr_text *text) {
    const pfr_text root = root_of(text);
    if (row->kind == Q_TEXT || row->kind == Q_TEXTS)
        proto_bytes(p->to, row->number, text->at, text->length);
    else if (row->kind == Q_MD5 || row->kind == Q_MD5S)
        proto_number(p->to, row->number, md5_prefix(text->at, text->length));
    else if (row->kind == Q_ROOT_MD5)
        proto_number(p->to, row->number, md5_prefix(root.at, root.length));
    else if (root.length)
        proto_bytes(p->to, row->number, root.at, root.length);
}

static void put_hex(const struct putting *p, const struct quipper_row *row, const pfr_bytes *bytes) {
    struct output *part = &p->parts->at[p->depth];
    out_hex_bytes(part, bytes->at, (size_t)bytes->length);
    proto_message(p->to, row->number, part);
}

/* --- Repeated fields. */

static void put_numbers(const struct putting *p, const struct quipper_row *row, const pfr_u64s *numbers) {
    for (uint64_t i = 0; i < numbers->count; i++)
        proto_number(p->to, row->number, pfr_u64s_at(numbers, i));
}

static pfr_status put_item(const struct putting *p, const struct quipper_row *row, const pfr_items *items,
                           const union any_layout *part) {
    const struct quipper_source inner = {.layout = layout_at(items->of), .context = items->context, .body = part};
    if (row->kind == Q_PART)
        return put_message(p, row, &inner);
    put_text(p, row, &part->as_string.text);
    return PFR_OK;
}

static pfr_status put_items(const struct putting *p, const struct quipper_row *row, const pfr_items *items) {
    union any_layout part;
    struct items_walk walk = items_start(items);
    pfr_status s = PFR_OK;
    while (items->at && s >= 0 && (s = items_next(items, &walk, &part, p->err)) == PFR_OK)
        PFR_TRY(put_item(p, row, items, &part));
    return s < 0 ? s : PFR_OK;
}

static pfr_status put_part(const struct putting *p, const struct quipper_row *row, const struct quipper_member *m) {
    if (m->field->kind != K_SUB)
        return put_items(p, row, value_of(p->source, m));
    const struct quipper_source inner = {
        .layout = layout_at(m->field->of), .context = p->source->context, .body = value_of(p->source, m)};
    return put_message(p, row, &inner);
}

/* --- By kind. */

static pfr_status put_tail(const struct putting *p, const struct quipper_row *row) {
    const struct quipper_source tail = {
        .layout = layout_at(L_sample_id), .context = p->source->context, .body = p->source->id};
    return tail.body ? put_message(p, row, &tail) : PFR_OK;
}

/* Writes fields that concern the record but are not members of its struct. Returns false for other fields. */
static bool put_about(const struct putting *p, const struct quipper_row *row, pfr_status *status) {
    const struct quipper_source *s = p->source;
    *status = PFR_OK;
    switch ((enum quipper_kind)row->kind) {
    case Q_ABOUT:
        proto_number(p->to, row->number, s->about);
        return true;
    case Q_MISC_BIT:
        proto_number(p->to, row->number, has_bit(s->misc, row->extra));
        return true;
    case Q_ALWAYS_IS:
        proto_number(p->to, row->number, row->extra);
        return true;
    case Q_PAYLOAD:
        if (s->payload.length)
            proto_bytes(p->to, row->number, s->payload.at, (size_t)s->payload.length);
        return true;
    case Q_TAIL:
        *status = put_tail(p, row);
        return true;
    case Q_ALIAS:
    case Q_OWN:
        return true;
    default:
        return false;
    }
}

/* Rows of the kinds BESIDE and LACKS are also written if the member is absent but the struct that contains it is
 * present. */
static void put_beside(const struct putting *p, const struct quipper_row *row) {
    struct quipper_name name;
    struct quipper_member m;
    const char *from = row->from;
    const struct quipper_source *s = p->source;
    if (!quipper_next_name(&from, &name) || !quipper_find(s->layout, s->context, s->body, &name, &m) || !m.part_there)
        return;
    if (row->kind == Q_LACKS)
        proto_number(p->to, row->number, !m.there);
    else
        proto_number(p->to, row->number, m.there ? number_of(s, &m) : 0);
}

static pfr_status put_member(const struct putting *p, const struct quipper_row *row, const struct quipper_member *m) {
    const struct quipper_source *s = p->source;
    const pfr_bytes *bytes;
    switch ((enum quipper_kind)row->kind) {
    case Q_ROOMY:
    case Q_ROOMY_TRUTH:
        if (s->size < row->extra)
            return PFR_OK;
        /* fall through */
    case Q_NUMBER:
    case Q_TRUTH:
        proto_number(p->to, row->number, number_of(s, m));
        return PFR_OK;
    case Q_BITS:
    case Q_BIT:
        proto_number(p->to, row->number, bits_of(number_of(s, m), 64, row->extra, false));
        return PFR_OK;
    case Q_TEXTS:
    case Q_MD5S:
        return put_items(p, row, value_of(s, m));
    case Q_TEXT:
    case Q_MD5:
    case Q_ROOT:
    case Q_ROOT_MD5:
        put_text(p, row, value_of(s, m));
        return PFR_OK;
    case Q_BYTES:
        bytes = value_of(s, m);
        proto_bytes(p->to, row->number, bytes->at, (size_t)bytes->length);
        return PFR_OK;
    case Q_HEX:
        put_hex(p, row, value_of(s, m));
        return PFR_OK;
    case Q_NUMBERS:
        put_numbers(p, row, value_of(s, m));
        return PFR_OK;
    case Q_SAME:
        return put_message(p, row, s);
    case Q_PART:
        return put_part(p, row, m);
    default:
        return PFR_OK;
    }
}

pfr_status quipper_put(struct quipper_parts *parts, unsigned depth, unsigned message, const struct quipper_source *s,
                       struct output *to, pfr_error *err) {
    const struct putting p = {parts, depth, s, to, err};
    struct quipper_member m;
    pfr_status status;
    for (const struct quipper_row *row = quipper_rows(message); row->name; row++) {
        if (row->number < 64 && parts->without[message] >> row->number & 1)
            continue;
        if (row->kind == Q_BESIDE || row->kind == Q_LACKS) {
            put_beside(&p, row);
        } else if (put_about(&p, row, &status)) {
            PFR_TRY(status);
        } else if (find_there(s, row, &m)) {
            PFR_TRY(put_member(&p, row, &m));
        }
    }
    return PFR_OK;
}
