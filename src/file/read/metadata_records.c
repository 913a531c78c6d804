/* SPDX-License-Identifier: Apache-2.0 */
/* Records that describe the recording itself: events and features of a stream, names, losses, payloads, compressed
   data. One table of functions by type; types without an entry need no handling. */
#include "file/read/metadata_records.h"
#include "file/read/event_names.h"
#include "file/read/events.h"
#include "file/read/features.h"

#include "base/memory/capped_sum.h"
#include "wire/any_layout.h"
#include "wire/feature_bits.h"

/* `body` is the decoded record. */
typedef pfr_status notice_fn(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err);

#define NOTICED 128u
#define AUX_TRUNCATED 1u
#define LOST_BY_BPF 0x8000u

static pfr_status on_lost(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    (void)rec, (void)err;
    r->damage.quality.lost_records = capped_sum(r->damage.quality.lost_records, body->as_lost.lost);
    return PFR_OK;
}

static pfr_status on_lost_samples(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    (void)err;
    if (rec->misc & LOST_BY_BPF)
        r->damage.quality.lost_samples_bpf = capped_sum(r->damage.quality.lost_samples_bpf, body->as_lost_samples.lost);
    else
        r->damage.quality.lost_samples = capped_sum(r->damage.quality.lost_samples, body->as_lost_samples.lost);
    return PFR_OK;
}

static pfr_status on_throttle(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    (void)rec, (void)body, (void)err;
    r->damage.quality.throttled++;
    return PFR_OK;
}

static pfr_status on_unthrottle(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    (void)rec, (void)body, (void)err;
    r->damage.quality.unthrottled++;
    return PFR_OK;
}

static pfr_status on_aux(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    (void)rec, (void)err;
    r->damage.quality.aux_truncated += body->as_aux.flags & AUX_TRUNCATED;
    return PFR_OK;
}

static pfr_status on_auxtrace_error(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    (void)rec, (void)body, (void)err;
    r->damage.quality.auxtrace_errors++;
    return PFR_OK;
}

/* Adds an event of a stream. In a file, all events are in the attrs section. */
static pfr_status on_attr(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    const struct pfr_rec_header_attr *added = &body->as_header_attr;
    if (r->header.container != PFR_PIPE || r->cursor.attrs_seen++ < r->events.count)
        return PFR_OK;
    const uint32_t said = added->attr.size ? added->attr.size : 64;
    return events_add(r, rec->bytes + RECORD_HEADER, said, &added->ids, err);
}

static pfr_status on_feature(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    const struct pfr_rec_header_feature *f = &body->as_header_feature;
    if (f->payload.length == 0) /* the end marker, whatever its feature number */
        return PFR_OK;
    r->events.names_stale = r->events.names_stale || f->feat_id == BIT_TRACING_DATA;
    return features_add(r, (uint32_t)(f->feat_id < UINT32_MAX ? f->feat_id : UINT32_MAX), rec->offset + 16,
                        f->payload.at, f->payload.length, err);
}

static struct event *event_by_id(pfr_reader *r, uint64_t id) {
    const int32_t i = pfr_event_of_id(r, id);
    return i < 0 ? NULL : &r->events.list[i];
}

static pfr_status update_text(pfr_reader *r, const char **member, const pfr_text *text, pfr_error *err) {
    *member = arena_text(&r->arena, text->at, text->length);
    return *member ? PFR_OK : mem_fail(&r->memory, err, "event_update");
}

/* An update of an unknown event, or of an unknown kind, is ignored. */
static pfr_status on_event_update(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    const pfr_items *data = &body->as_event_update.data;
    struct event *e = event_by_id(r, body->as_event_update.id);
    struct items_walk walk = items_start(data);
    union any_layout part;
    (void)rec;
    if (!e || items_next(data, &walk, &part, NULL) != PFR_OK)
        return PFR_OK;
    if (data->of == L_event_update_unit)
        return update_text(r, &e->public.unit, &part.as_event_update_unit.unit, err);
    if (data->of == L_event_update_scale)
        memcpy(&e->public.scale, &part.as_event_update_scale.scale, sizeof e->public.scale);
    if (data->of != L_event_update_name)
        return PFR_OK;
    e->public.named = true;
    PFR_TRY(update_text(r, &e->public.name, &part.as_event_update_name.event_name, err));
    return events_note_name(r, (size_t)(e - r->events.list), err);
}

/* Reports a cpu map of unknown form or word size; decoding accepts any number for both. */
static pfr_status on_cpu_map(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    const pfr_items *map = &body->as_cpu_map.data.map;
    struct items_walk walk = items_start(map);
    union any_layout part;
    const uint64_t length =
        rec->inside ? 0 : rec->size; /* a range of the input; records inside compressed data have no such range */
    (void)err;
    if (map->of == L_NONE)
        found(r, rec->offset, length, "cpu_map_data.type", "a CPU map of unknown type %u", body->as_cpu_map.data.type);
    if (items_next(map, &walk, &part, NULL) != PFR_OK)
        return PFR_OK;
    if (map->of == L_cpu_map_mask && part.as_cpu_map_mask.mask.of == L_NONE)
        found(r, rec->offset, length, "cpu_map_mask.long_size", "a CPU map with words of %u bytes",
              part.as_cpu_map_mask.long_size);
    return PFR_OK;
}

static pfr_status on_auxtrace(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    (void)err;
    rec->payload = r->cursor.payload_size = rec->inside ? 0 : body->as_auxtrace.size;
    return PFR_OK;
}

/* Stores the formats that follow the record as feature TRACING_DATA, as if they came from a file. */
static pfr_status keep_blob(pfr_reader *r, pfr_record *rec, uint64_t size, pfr_error *err) {
    const uint8_t *bytes;
    size_t have;
    if (size > r->limits.chunk) { /* not skipped: the following bytes are searched for records */
        r->cursor.payload_size = rec->payload = 0;
        found(r, rec->offset, rec->size, "header_tracing_data.size",
              "tracing data of %llu bytes exceed the limit chunk", (unsigned long long)size);
        return PFR_OK;
    }
    rec->bytes = arena_copy(&r->arena, rec->bytes, rec->size,
                            8); /* reading the formats moves the buffer, and the record with it */
    if (!rec->bytes)
        return mem_fail(&r->memory, err, "tracing data");
    PFR_TRY(input_window(&r->parts[r->cursor.part].in, r->cursor.at, (size_t)size, &bytes, &have, err));
    return features_add(r, BIT_TRACING_DATA, r->cursor.at, bytes, have < size ? have : (size_t)size, err);
}

static pfr_status on_tracing_data(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    const struct pfr_rec_header_tracing_data *data = &body->as_header_tracing_data;
    if (rec->inside)
        return PFR_OK;
    r->events.names_stale = true;
    if (data->inside.length > 4) /* simpleperf puts the formats into the record */
        return features_add(r, BIT_TRACING_DATA, rec->offset + 12, data->inside.at,
                            data->inside.length < data->size ? data->inside.length : data->size, err);
    rec->payload = r->cursor.payload_size = data->size;
    return r->header.container == PFR_PIPE ? keep_blob(r, rec, data->size, err) : PFR_OK;
}

/* No recorder nests compressed data in compressed data: such a record is returned but not decompressed. */
static pfr_status inflate_next(pfr_reader *r, const pfr_record *rec, const pfr_bytes *data) {
    if (rec->inside)
        return PFR_OK;
    r->cursor.compressed = *data;
    r->cursor.outer = rec->offset;
    return PFR_OK;
}

static pfr_status on_compressed(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    (void)err;
    return inflate_next(r, rec, &body->as_compressed.data);
}

static pfr_status on_compressed2(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    (void)err;
    return inflate_next(r, rec, &body->as_compressed2.data);
}

static notice_fn *const notices[NOTICED] = {
    [PFR_RECORD_LOST] = on_lost,
    [PFR_RECORD_THROTTLE] = on_throttle,
    [PFR_RECORD_UNTHROTTLE] = on_unthrottle,
    [PFR_RECORD_AUX] = on_aux,
    [PFR_RECORD_LOST_SAMPLES] = on_lost_samples,
    [PFR_RECORD_ATTR] = on_attr,
    [PFR_RECORD_TRACING_DATA] = on_tracing_data,
    [PFR_RECORD_AUXTRACE] = on_auxtrace,
    [PFR_RECORD_AUXTRACE_ERROR] = on_auxtrace_error,
    [PFR_RECORD_CPU_MAP] = on_cpu_map,
    [PFR_RECORD_EVENT_UPDATE] = on_event_update,
    [PFR_RECORD_FEATURE] = on_feature,
    [PFR_RECORD_COMPRESSED] = on_compressed,
    [PFR_RECORD_COMPRESSED2] = on_compressed2,
};

/* For readers of slices. They need only the payload that follows a record; the reader of the whole recording has
   handled everything else. */
static pfr_status on_blob_of_slice(pfr_reader *r, pfr_record *rec, const union any_layout *body, pfr_error *err) {
    const struct pfr_rec_header_tracing_data *data = &body->as_header_tracing_data;
    (void)err;
    if (!rec->inside && data->inside.length <= 4)
        rec->payload = r->cursor.payload_size = data->size;
    return PFR_OK;
}

static notice_fn *const notices_of_slice[NOTICED] = {
    [PFR_RECORD_TRACING_DATA] = on_blob_of_slice, [PFR_RECORD_AUXTRACE] = on_auxtrace};

/* A body that cannot be decoded is ignored here: the consumer's own pfr_decode reports it. */
pfr_status notice(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    notice_fn *const *const table = r->whole ? notices_of_slice : notices;
    notice_fn *const noticed = rec->type < NOTICED ? table[rec->type] : NULL;
    union any_layout body;
    if (!noticed) {
        r->damage.quality.unknown_records += !pfr_record_name(rec);
        return PFR_OK;
    }
    const struct layout *l = layout_at(r->events.rules[rec->type].layout);
    return pfr_decode(rec, &body, l->size, NULL) == PFR_OK ? noticed(r, rec, &body, err) : PFR_OK;
}
