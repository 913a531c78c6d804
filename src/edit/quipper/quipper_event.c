/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the record that an event of a PerfDataProto describes. Body and sample_id are made from their messages; if the
 * size in the event header is larger, the last text is padded with zeros to reach it. If the event holds the original
 * bytes, those are used instead.
 *
 * The fields of a record depend on the event to which it belongs, and the id of that event is one of the fields. The
 * body is therefore read with the first event's context, and read again if the id selects another event.
 */
#include "edit/quipper/quipper.h"
#include "wire/layout_write.h"

/* Fields of an event seen so far. */
struct event_fields {
    uint32_t type, misc, size;
    bool has_header;
    const struct quipper_row *row; /* row of the body's message */
    struct cursor body;
    pfr_bytes ours;
};

pfr_status quipper_maker_open(struct quipper_maker *m, struct memory *memory, pfr_error *err) {
    m->memory = memory;
    arena_init(&m->arena, memory);
    m->record = mem_alloc(memory, RECORD_MOST + 1, 1);
    return m->record ? PFR_OK : mem_fail(memory, err, "record");
}

void quipper_maker_close(struct quipper_maker *m) {
    arena_free(&m->arena);
    mem_free(m->memory, m->record, RECORD_MOST + 1, 1);
    m->record = NULL;
}

/* --- The fields of the event. */

static void take_header(struct event_fields *e, const struct proto_field *f) {
    struct cursor in = cursor_on(f->bytes, (size_t)f->value, 0, false);
    struct proto_field inner;
    e->has_header = true;
    while (cursor_left(&in) > 0 && proto_take(&in, &inner)) {
        uint32_t *const to[] = {NULL, &e->type, &e->misc, &e->size};
        if (inner.number > 0 && inner.number < sizeof to / sizeof *to && inner.wire == PROTO_VARINT)
            *to[inner.number] = (uint32_t)inner.value;
    }
}

static pfr_status take_fields(struct event_fields *e, struct cursor in, pfr_error *err) {
    const struct cursor start = in;
    struct proto_field f;
    while (cursor_left(&in) > 0) {
        if (!proto_take(&in, &f))
            return pfr_fail(err, PFR_HOLE, cursor_offset(&in), cursor_left(&in), "events",
                            "an event has bytes that are not a field of a protocol buffer");
        const struct quipper_row *row = quipper_row_of(M_event, f.number);
        if (!row || f.wire != PROTO_BYTES)
            continue;
        if (f.number == 1) {
            take_header(e, &f);
        } else if (row->number == QUIPPER_OUR_RECORD) {
            e->ours = (pfr_bytes){f.bytes, f.value};
        } else if (row->kind == Q_PART) {
            e->row = row;
            e->body = cursor_on(f.bytes, (size_t)f.value, start.offset + (uint64_t)(f.bytes - start.start), false);
        }
    }
    return PFR_OK;
}

/* --- Choice of the layout. */

/* Chooses one of the layouts that the message can represent: the layout of the type in the header, or without a header
   the first layout. */
static const struct layout *layout_for(const struct event_fields *e) {
    struct quipper_name name;
    for (const char *from = e->row ? e->row->from : ""; quipper_next_name(&from, &name);) {
        char text[32];
        if (name.length >= sizeof text)
            continue;
        memcpy(text, name.at, name.length);
        text[name.length] = 0;
        const struct layout *l = layout_at(layout_named(text));
        if (l && (!e->has_header || LAYOUT_VALUE(l->id) == e->type))
            return l;
    }
    return NULL;
}

/* The layout of a record that consists only of its header and so needs no message; NULL for other records. */
static const struct layout *layout_without_body(const struct quipper_maker *m, const struct event_fields *e) {
    const struct layout *l = layout_at(layout_of_type(m->base, e->type));
    return e->has_header && l && !e->row && !l->fields()->name ? l : NULL;
}

/* --- Bytes. */

/* The text at the end of the body, which may be padded with zeros; NULL if the layout ends with another field. */
static pfr_text *last_text(const struct layout *l, union any_layout *body) {
    const struct field *f = l->fields();
    while (f->name && f[1].name)
        f++;
    if (f->name && f->kind == K_SUB && layout_at(f->of)->fields()->name)
        return NULL;
    return f->name && f->kind == K_TEXT && f->extra == COUNT_TO_END ? (pfr_text *)((uint8_t *)body + f->at) : NULL;
}

/* Writes body and sample_id after the header. `said` is the size in the event header; if it is larger than needed, the
 * text is padded to reach it. */
static pfr_status write_body(const struct quipper_maker *m, const struct layout *l, const struct pfr_context *c,
                             union any_layout *body, const struct quipper_taking *t, uint32_t said, struct writing *to,
                             uint16_t *tail, pfr_error *err) {
    struct writing counted = writing_nowhere(), id = writing_nowhere();
    pfr_text *text = last_text(l, body);
    if (t->has_id)
        PFR_TRY(layout_write(layout_at(L_sample_id), t->context, t->id, &id, err));
    const uint64_t room = said > RECORD_HEADER + id.used && said <= RECORD_MOST ? said - RECORD_HEADER - id.used : 0;
    counted.extent = room ? room : EXTENT_UNKNOWN;
    PFR_TRY(layout_write(l, c, body, &counted, err));
    if (text && room > counted.used)
        text->room = (uint32_t)(room - counted.used) + (text->length ? (text->length + 8) / 8 * 8 : 0);
    *to = writing_into(m->record + RECORD_HEADER, RECORD_MOST - RECORD_HEADER);
    to->extent = counted.extent;
    PFR_TRY(layout_write(l, c, body, to, err));
    *tail = (uint16_t)id.used;
    to->extent = EXTENT_UNKNOWN;
    return t->has_id ? layout_write(layout_at(L_sample_id), t->context, t->id, to, err) : PFR_OK;
}

static void put_header(const struct quipper_maker *m, uint32_t type, uint16_t misc, uint16_t size) {
    const bool swap = m->base->swap;
    type = swap ? __builtin_bswap32(type) : type;
    misc = swap ? __builtin_bswap16(misc) : misc;
    size = swap ? __builtin_bswap16(size) : size;
    memcpy(m->record, &type, sizeof type);
    memcpy(m->record + 4, &misc, sizeof misc);
    memcpy(m->record + 6, &size, sizeof size);
}

/* --- From messages. */

static uint64_t id_in(const struct layout *l, const union any_layout *body, const struct quipper_taking *t) {
    return l == layout_at(L_sample) ? body->as_sample.id : t->has_id ? t->id->id : 0;
}

/* Reads the body with the context of `owner`. */
static pfr_status take_body(struct quipper_maker *m, const struct event_fields *e, const struct layout *l,
                            const struct quipper_owner *owner, struct pfr_context *c, struct quipper_taking *t,
                            struct pfr_rec_sample_id *id, union any_layout *body, pfr_error *err) {
    *c = *owner->context;
    c->word[WORD_MISC] = e->misc;
    c->word[WORD_VARIANT] = 0;
    c->home = NULL;
    memset(body, 0, sizeof *body);
    memset(id, 0, sizeof *id);
    *t = (struct quipper_taking){.arena = &m->arena, .context = c, .id = id};
    return e->row ? quipper_take(t, e->row->message, l, e->body, body, err) : PFR_OK;
}

static pfr_status make(struct quipper_maker *m, const struct event_fields *e, const struct layout *l, pfr_record *rec,
                       pfr_bytes *payload, pfr_error *err) {
    const uint32_t type = LAYOUT_VALUE(l->id);
    struct quipper_owner owner, other;
    struct pfr_context c;
    struct quipper_taking t;
    struct pfr_rec_sample_id id;
    union any_layout body;
    struct writing to;
    m->owner_of(m->owners, 0, &owner);
    PFR_TRY(take_body(m, e, l, &owner, &c, &t, &id, &body, err));
    m->owner_of(m->owners, id_in(l, &body, &t), &other);
    if (other.context != owner.context) {
        owner = other;
        PFR_TRY(take_body(m, e, l, &owner, &c, &t, &id, &body, err));
    }
    t.has_id = t.has_id && owner.has_tail && type < 64 && type != PFR_RECORD_SAMPLE;
    if (type == PFR_RECORD_AUXTRACE)
        body.as_auxtrace.size = t.payload.length;
    PFR_TRY(write_body(m, l, &c, &body, &t, e->size, &to, &rec->tail, err));
    rec->size = (uint32_t)(RECORD_HEADER + to.used);
    rec->type = type;
    rec->misc = (uint16_t)e->misc;
    rec->event = type < 64 ? owner.event : PFR_NO_EVENT;
    rec->context = type < 64 ? owner.context : m->base;
    put_header(m, type, rec->misc, (uint16_t)rec->size);
    *payload = t.payload;
    return PFR_OK;
}

/* --- Original bytes. */

static pfr_status make_ours(struct quipper_maker *m, const struct event_fields *e, pfr_record *rec, pfr_bytes *payload,
                            pfr_error *err) {
    const bool swap = m->base->swap;
    struct quipper_taking t = {.arena = &m->arena, .context = m->base};
    struct pfr_rec_auxtrace aux = {0};
    if (e->ours.length < RECORD_HEADER || e->ours.length > RECORD_MOST ||
        load_u16(e->ours.at + 6, swap) != e->ours.length)
        return pfr_fail(err, PFR_HOLE, rec->offset, e->ours.length, "perfray_record",
                        "the size field of a record does not match its number of bytes");
    rec->bytes = e->ours.at;
    rec->type = load_u32(e->ours.at, swap);
    rec->misc = load_u16(e->ours.at + 4, swap);
    rec->size = (uint32_t)e->ours.length;
    rec->context = m->base;
    rec->event = PFR_NO_EVENT;
    if (rec->type == PFR_RECORD_AUXTRACE && e->row && e->row->message == M_auxtrace_event)
        PFR_TRY(quipper_take(&t, e->row->message, layout_at(L_auxtrace), e->body, &aux, err));
    *payload = t.payload;
    return PFR_OK;
}

/* The payload of an AUXTRACE record must have the size that the record gives. */
static pfr_status check_payload(pfr_record *rec, const pfr_bytes *payload, bool swap, pfr_error *err) {
    const uint64_t said = rec->type == PFR_RECORD_AUXTRACE && rec->size >= 16 ? load_u64(rec->bytes + 8, swap) : 0;
    rec->payload = payload->length;
    if (said == payload->length)
        return PFR_OK;
    return pfr_fail(err, PFR_HOLE, rec->offset, rec->size, "auxtrace_event",
                    "%llu bytes of AUX data, but the record announces %llu", (unsigned long long)payload->length,
                    (unsigned long long)said);
}

pfr_status quipper_make_record(struct quipper_maker *m, struct cursor event, bool ours, pfr_record *rec,
                               pfr_bytes *payload, pfr_error *err) {
    struct event_fields e = {0};
    *rec = (pfr_record){.offset = cursor_offset(&event), .bytes = m->record, .event = PFR_NO_EVENT};
    *payload = (pfr_bytes){0};
    arena_free(&m->arena);
    PFR_TRY(take_fields(&e, event, err));
    pfr_status s = PFR_OK;
    if (ours && e.ours.at) {
        s = make_ours(m, &e, rec, payload, err);
    } else {
        const struct layout *l = layout_for(&e);
        l = l ? l : layout_without_body(m, &e);
        if (!l)
            return pfr_fail(err, PFR_HOLE, rec->offset, cursor_left(&event), "events",
                            "an event of type %u has no message with its record", e.type);
        s = make(m, &e, l, rec, payload, err);
    }
    if (s == PFR_ERR_DAMAGE || s == PFR_ERR_USAGE || s == PFR_ERR_LIMIT) {
        pfr_error why = *err;
        if (mem_failure(m->memory) == PFR_ERR_LIMIT && s == PFR_ERR_LIMIT)
            return s;
        return pfr_fail(err, PFR_HOLE, rec->offset, cursor_left(&event), "events",
                        "the record cannot be rebuilt: %.100s", why.text);
    }
    return s == PFR_OK ? check_payload(rec, payload, m->base->swap, err) : s;
}
