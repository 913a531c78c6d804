/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the parts of a PerfDataProto that are not records: attrs with ids and names, counts, features. */
#include "file/read/features.h"
#include "edit/quipper/quipper_writing.h"
#include "wire/feature_bits.h"
#include "wire/layout_write.h"

#define LENGTH_VALID 0x8000u
#define NUMBER_BUILD_IDS 7u /* field numbers of M_perf_data */
#define NUMBER_EVENT_TYPES 10u
#define NUMBER_STRINGS 13u

/* --- Events of the recording. */

static pfr_status put(struct quipper_output *q, unsigned message, const struct quipper_source *s, pfr_error *err) {
    return quipper_put(&q->parts, 0, message, s, &q->message, err);
}

/* Sets *restored to whether the attr read back from the message equals the event's attr, except for its size. */
static pfr_status attr_is_restored(struct quipper_output *q, const pfr_event *e, bool *restored, pfr_error *err) {
    uint8_t bytes[2][256] = {0};
    struct pfr_rec_header_attr again = {0};
    struct quipper_taking t = {.arena = &q->maker.arena, .context = &q->reader->context};
    struct pfr_rec_attr whole = e->attr;
    size_t length;
    const char *message = out_bytes(&q->message, &length);
    *restored = false;
    arena_free(&q->maker.arena);
    PFR_TRY(quipper_take(&t, M_file_attr, layout_at(L_header_attr), cursor_on(message, length, 0, false), &again, err));
    again.attr.size = whole.size = 144;
    whole.beyond = again.attr.beyond = (pfr_bytes){0};
    const struct pfr_rec_attr *const both[] = {&whole, &again.attr};
    for (size_t i = 0; i < 2; i++) {
        struct writing to = writing_into(bytes[i], sizeof bytes[i]);
        PFR_TRY(layout_write(layout_at(L_attr), &q->reader->context, both[i], &to, err));
    }
    *restored = e->attr.beyond.length == 0 && memcmp(bytes[0], bytes[1], sizeof bytes[0]) == 0;
    return PFR_OK;
}

static pfr_status put_attr(struct quipper_output *q, uint32_t index, pfr_error *err) {
    const pfr_event *e = &q->reader->events.list[index].public;
    const struct pfr_rec_header_attr body = {.attr = e->attr, .ids = {(const uint8_t *)e->ids, e->nr_ids, 0}};
    const struct quipper_source s = {.layout = layout_at(L_header_attr), .context = &q->reader->context, .body = &body};
    bool restored;
    pfr_error hole;
    PFR_TRY(put(q, M_file_attr, &s, err));
    PFR_TRY(attr_is_restored(q, e, &restored, err));
    if (!q->text)
        proto_bytes(&q->message, QUIPPER_OUR_ATTR, e->attr_bytes.at, (size_t)e->attr_bytes.length);
    else if (!restored)
        quipper_output_lost(q, (pfr_fail(&hole, PFR_HOLE, PFR_NO_OFFSET, 0, "attr",
                                         "quipper's text cannot express all of the attr of event %u", index),
                                &hole));
    quipper_output_field(q, 1);
    return PFR_OK;
}

pfr_status quipper_output_front(struct quipper_output *q, pfr_error *err) {
    if (q->reader->header.big_endian && !q->text)
        quipper_output_number(q, QUIPPER_OUR_ORDER, 1);
    for (uint32_t i = 0; i < q->reader->events.count; i++)
        PFR_TRY(put_attr(q, i, err));
    return PFR_OK;
}

static pfr_status put_names(struct quipper_output *q, pfr_error *err) {
    for (uint32_t i = 0; i < q->reader->events.count; i++) {
        const pfr_event *e = &q->reader->events.list[i].public;
        struct pfr_rec_event_desc_entry entry = {.attr = e->attr};
        const struct quipper_source s = {
            .layout = layout_at(L_event_desc_entry), .context = &q->reader->context, .body = &entry};
        if (!e->named)
            continue;
        entry.name = (pfr_text){e->name, (uint32_t)strlen(e->name), 0};
        PFR_TRY(put(q, M_event_type, &s, err));
        quipper_output_field(q, NUMBER_EVENT_TYPES);
    }
    return PFR_OK;
}

/* --- Counts. */

static void put_stats(struct quipper_output *q) {
    const uint64_t samples = q->types[9];
    proto_number(&q->message, 2, samples);
    proto_number(&q->message, 3, q->maps);
    proto_number(&q->message, 4, q->types[7]);
    proto_number(&q->message, 5, q->types[4]);
    proto_number(&q->message, 6, q->mapped);
    proto_number(&q->message, 7, 0);
    quipper_output_field(q, 4);
}

/* The feature mask of a stream. quipper sets the bits of features for which there are records, and EVENT_DESC if there
 * are EVENT_TYPE records. */
static uint64_t mask_of(const struct quipper_output *q) {
    const uint64_t from_records = 0x37ff8;
    uint64_t mask = q->types[65] ? 1u << BIT_EVENT_DESC : 0;
    if (q->reader->header.container != PFR_PIPE)
        return q->reader->header.features[0];
    for (uint32_t i = 0; i < q->reader->features.count; i++)
        if (q->reader->features.list[i].bit < 64)
            mask |= from_records & 1ull << q->reader->features.list[i].bit;
    return mask;
}

/* --- Build-ids. */

static pfr_status put_build_id(struct quipper_output *q, const struct pfr_rec_build_id_entry *entry,
                               const struct pfr_context *c, pfr_error *err) {
    const struct quipper_source s = {.layout = layout_at(L_build_id_entry), .context = c, .body = entry};
    PFR_TRY(put(q, M_build_id, &s, err));
    if (entry->misc & LENGTH_VALID)
        proto_number(&q->message, 6, entry->length);
    return PFR_OK;
}

static pfr_status keep_build_id(struct quipper_output *q, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_header_build_id b;
    if (pfr_decode(rec, &b, sizeof b, NULL) != PFR_OK)
        return PFR_OK;
    const struct pfr_rec_build_id_entry entry = {
        .misc = rec->misc, .pid = b.pid, .build_id = b.build_id, .length = b.length, .filename = b.filename};
    PFR_TRY(put_build_id(q, &entry, &q->reader->context, err));
    proto_message(&q->kept, NUMBER_BUILD_IDS, &q->message);
    return PFR_OK;
}

static pfr_status keep_name(struct quipper_output *q, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_header_event_type body;
    const struct quipper_source s = {
        .layout = layout_at(L_header_event_type), .context = &q->reader->context, .body = &body};
    if (pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return PFR_OK;
    PFR_TRY(put(q, M_event_type, &s, err));
    proto_message(&q->kept, NUMBER_EVENT_TYPES, &q->message);
    return PFR_OK;
}

pfr_status quipper_output_keep(struct quipper_output *q, const pfr_record *rec, pfr_error *err) {
    return rec->type == PFR_RECORD_BUILD_ID ? keep_build_id(q, rec, err) : keep_name(q, rec, err);
}

static bool put_kept(struct quipper_output *q, uint32_t number) {
    size_t length;
    struct proto_field f;
    const char *bytes = out_bytes(&q->kept, &length);
    struct cursor in = cursor_on(bytes, length, 0, false);
    bool any = false;
    while (cursor_left(&in) > 0 && proto_take(&in, &f)) {
        if (f.number != number)
            continue;
        out_write(&q->message, f.bytes, (size_t)f.value);
        quipper_output_field(q, f.number);
        any = true;
    }
    return any;
}

/* --- Features. */

/* Decodes the feature that `from`, a member of a row, names. *items is the member named after the dot, or NULL. Returns
 * false if the recording lacks the feature or its bytes cannot be decoded; if *status is < 0, *err is filled. */
static bool find_feature(struct quipper_output *q, const char *from, const struct layout **l, union any_layout *body,
                         struct pfr_context *c, const pfr_items **items, pfr_status *status, pfr_error *err) {
    char name[64];
    const size_t length = strcspn(from, ".");
    pfr_error why;
    memcpy(name, from, length);
    name[length] = 0;
    *l = layout_at(layout_named(name));
    const pfr_feature *f = pfr_find_feature(q->reader, LAYOUT_VALUE((*l)->id), &why);
    *status = f ? PFR_OK : why.status;
    if (!f && why.status < 0 && err)
        *err = why;
    if (!f || f->status != PFR_OK || pfr_decode_feature(q->reader, f, body, (*l)->size, &why) != PFR_OK)
        return false;
    *c = feature_context(q->reader, f);
    const struct field *member = from[length] ? field_named(*l, from + length + 1) : NULL;
    *items = member ? (const pfr_items *)(const void *)((const uint8_t *)body + member->at) : NULL;
    return true;
}

static pfr_status put_items(struct quipper_output *q, const struct quipper_row *row, const pfr_items *items,
                            pfr_error *err) {
    union any_layout part;
    struct items_walk walk = items_start(items);
    while (items_next(items, &walk, &part, NULL) == PFR_OK) {
        const struct quipper_source s = {.layout = layout_at(items->of), .context = items->context, .body = &part};
        if (row->message == M_build_id)
            PFR_TRY(put_build_id(q, &part.as_build_id_entry, items->context, err));
        else
            PFR_TRY(put(q, row->message, &s, err));
        quipper_output_field(q, row->number);
    }
    return PFR_OK;
}

static pfr_status put_feature(struct quipper_output *q, const struct quipper_row *row, pfr_error *err) {
    const struct layout *l;
    union any_layout body;
    struct pfr_context c;
    const pfr_items *items;
    pfr_status s;
    if (!find_feature(q, row->from, &l, &body, &c, &items, &s, err))
        return s < 0 ? s : row->number == NUMBER_EVENT_TYPES ? put_names(q, err) : PFR_OK;
    if (items)
        return put_items(q, row, items, err);
    const struct quipper_source source = {.layout = l, .context = &c, .body = &body, .about = LAYOUT_VALUE(l->id)};
    PFR_TRY(put(q, row->message, &source, err));
    quipper_output_field(q, row->number);
    return PFR_OK;
}

/* --- Texts of features, all in one message. */

static pfr_status put_string(struct quipper_output *q, const struct quipper_row *row, const struct quipper_source *s,
                             pfr_error *err) {
    struct output *part = &q->parts.at[0];
    PFR_TRY(quipper_put(&q->parts, 1, row->message, s, part, err));
    proto_message(&q->message, row->number, part);
    return PFR_OK;
}

/* Writes each word, then all words joined by spaces. */
static pfr_status put_words(struct quipper_output *q, const struct quipper_row *row, const pfr_items *items,
                            pfr_error *err) {
    union any_layout part;
    struct items_walk walk = items_start(items);
    struct output *whole = &q->parts.at[QUIPPER_DEPTH - 1];
    size_t length;
    while (items_next(items, &walk, &part, NULL) == PFR_OK) {
        const struct quipper_source s = {.layout = layout_at(items->of), .context = items->context, .body = &part};
        PFR_TRY(put_string(q, row, &s, err));
        out_write(whole, " ", whole->used > 0);
        out_write(whole, part.as_string.text.at, part.as_string.text.length);
    }
    const char *bytes = out_bytes(whole, &length);
    const struct pfr_rec_string all = {.text = {length ? bytes : "", (uint32_t)length, 0}};
    const struct quipper_source s = {.layout = layout_at(L_string), .context = &q->reader->context, .body = &all};
    const pfr_status status = put_string(q, row + 1, &s, err);
    out_clear(whole);
    return status;
}

static pfr_status put_strings(struct quipper_output *q, pfr_error *err) {
    const struct layout *l;
    union any_layout body;
    struct pfr_context c;
    const pfr_items *items;
    pfr_status s;
    for (const struct quipper_row *row = quipper_rows(M_string_metadata); row->name; row++) {
        if (row->kind != Q_PART)
            continue;
        if (!find_feature(q, row->from, &l, &body, &c, &items, &s, err)) {
            PFR_TRY(s);
            continue;
        }
        const struct quipper_source source = {.layout = l, .context = &c, .body = &body};
        PFR_TRY(items ? put_words(q, row, items, err) : put_string(q, row, &source, err));
    }
    if (q->message.used)
        quipper_output_field(q, NUMBER_STRINGS);
    return PFR_OK;
}

/* --- Bytes of features, in fields of our own. */

/* True for features that only describe the container, and for tracepoint formats, whose bytes one of quipper's messages
   holds. */
static bool is_stored_elsewhere(uint32_t bit) {
    return bit == BIT_TRACING_DATA || bit == BIT_AUXTRACE || bit == BIT_DIR_FORMAT || bit == BIT_COMPRESSED;
}

static bool has_words(uint32_t bit) {
    char name[64];
    const struct layout *l = layout_at(layout_find(TABLE_PERF_FEATURE, bit));
    const unsigned messages[] = {M_perf_data, M_string_metadata};
    for (size_t i = 0; l && i < sizeof messages / sizeof *messages; i++)
        for (const struct quipper_row *row = quipper_rows(messages[i]); row->name; row++) {
            const size_t length = strcspn(row->from, ".");
            memcpy(name, row->from, length < sizeof name ? length : 0);
            if (strlen(l->name) == length && memcmp(l->name, name, length) == 0)
                return true;
        }
    return bit == BIT_EVENT_DESC;
}

static pfr_status put_bytes(struct quipper_output *q, const pfr_feature *f) {
    pfr_error hole;
    if (is_stored_elsewhere(f->bit))
        return PFR_OK;
    if (f->status != PFR_OK) {
        pfr_fail(&hole, PFR_HOLE, f->offset, f->bytes.length, "features", "feature %u is outside the file", f->bit);
        quipper_output_lost(q, &hole);
    } else if (q->text && f->bytes.length && !has_words(f->bit)) {
        out_text(&q->lost_features, q->lost_features.used ? ", " : "");
        out_text(&q->lost_features, f->name ? f->name : "unknown");
    } else if (!q->text) {
        proto_number(&q->message, 1, f->bit);
        proto_bytes(&q->message, 2, f->bytes.at, (size_t)f->bytes.length);
        quipper_output_field(q, QUIPPER_OUR_FEATURE);
    }
    return PFR_OK;
}

static pfr_status put_all_bytes(struct quipper_output *q, pfr_error *err) {
    for (uint32_t i = 0; i < pfr_feature_count(q->reader); i++) {
        pfr_error why;
        const pfr_feature *f = pfr_get_feature(q->reader, i, &why);
        if (!f && err)
            *err = why;
        if (!f)
            return why.status;
        PFR_TRY(put_bytes(q, f));
    }
    return PFR_OK;
}

pfr_status quipper_output_back(struct quipper_output *q, pfr_error *err) {
    quipper_output_number(q, 3, 0);
    put_stats(q);
    quipper_output_number(q, 5, mask_of(q));
    for (const struct quipper_row *row = quipper_rows(M_perf_data); row->name; row++) {
        if (row->number == NUMBER_STRINGS)
            PFR_TRY(put_strings(q, err));
        else if (row->kind == Q_PART && !put_kept(q, row->number))
            PFR_TRY(put_feature(q, row, err));
    }
    return put_all_bytes(q, err);
}
