/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that say something about the recording itself: events and features of a stream, names, losses, payloads,
 * compressed data. One table of functions by type; types that are not in it are of no concern here.
 */
#include "file/recording.h"

#include <perfray/record_structs.h>

typedef pfr_status notice_fn(pfr_reader *r, pfr_record *rec, pfr_error *err);

#define NOTICED 128u
#define AUX_TRUNCATED 1u
#define LOST_BY_BPF 0x8000u
#define FEATURE_TRACING_DATA 1u

/* Decoding may fail on damage: then the record says nothing, and the one who looks at it will be told. */
#define DECODE(body)                                                                                                   \
    do {                                                                                                               \
        if (pfr_decode(rec, &(body), sizeof(body), NULL) != PFR_OK)                                                    \
            return PFR_OK;                                                                                             \
    } while (0)

static pfr_status on_lost(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    struct pfr_rec_lost body;
    (void)err;
    DECODE(body);
    r->quality.lost_records += body.lost;
    return PFR_OK;
}

static pfr_status on_lost_samples(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    struct pfr_rec_lost_samples body;
    (void)err;
    DECODE(body);
    if (rec->misc & LOST_BY_BPF)
        r->quality.lost_samples_bpf += body.lost;
    else
        r->quality.lost_samples += body.lost;
    return PFR_OK;
}

static pfr_status on_throttle(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    (void)rec, (void)err;
    r->quality.throttled++;
    return PFR_OK;
}

static pfr_status on_unthrottle(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    (void)rec, (void)err;
    r->quality.unthrottled++;
    return PFR_OK;
}

static pfr_status on_aux(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    struct pfr_rec_aux body;
    (void)err;
    DECODE(body);
    r->quality.aux_truncated += body.flags & AUX_TRUNCATED;
    return PFR_OK;
}

static pfr_status on_auxtrace_error(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    (void)rec, (void)err;
    r->quality.auxtrace_errors++;
    return PFR_OK;
}

/* A stream's events. In a file the attrs section has them all. */
static pfr_status on_attr(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    struct pfr_rec_header_attr body;
    if (r->header.container != PFR_PIPE)
        return PFR_OK;
    DECODE(body);
    if (r->attrs_seen++ < r->nr_events)
        return PFR_OK;
    const uint32_t said = body.attr.size ? body.attr.size : 64;
    return events_add(r, rec->bytes + RECORD_HEADER, said, &body.ids, err);
}

static pfr_status on_feature(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    struct pfr_rec_header_feature body;
    DECODE(body);
    if (body.payload.length == 0) /* the end marker, whatever its number */
        return PFR_OK;
    r->names_stale = r->names_stale || body.feat_id == FEATURE_TRACING_DATA;
    return features_add(r, (uint32_t)(body.feat_id < UINT32_MAX ? body.feat_id : UINT32_MAX), rec->offset + 16,
                        body.payload.at, body.payload.length, err);
}

static struct event *event_by_id(pfr_reader *r, uint64_t id) {
    const int32_t i = pfr_event_of_id(r, id);
    return i < 0 ? NULL : &r->events[i];
}

static const char *keep_text(pfr_reader *r, const pfr_text *text) {
    return arena_text(&r->arena, text->at, text->length);
}

static pfr_status update_text(pfr_reader *r, const char **member, const pfr_text *text, pfr_error *err) {
    *member = keep_text(r, text);
    return *member ? PFR_OK : mem_fail(&r->memory, err, "event_update");
}

static pfr_status on_event_update(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    struct pfr_rec_event_update body;
    struct pfr_rec_event_update_unit unit;
    struct pfr_rec_event_update_scale scale;
    struct pfr_rec_event_update_name name;
    DECODE(body);
    struct event *e = event_by_id(r, body.id);
    struct items_walk walk = items_start(&body.data);
    if (!e)
        return PFR_OK;
    if (body.data.of == L_event_update_unit && items_next(&body.data, &walk, &unit, NULL) == PFR_OK)
        return update_text(r, &e->public.unit, &unit.unit, err);
    if (body.data.of == L_event_update_scale && items_next(&body.data, &walk, &scale, NULL) == PFR_OK)
        memcpy(&e->public.scale, &scale.scale, sizeof e->public.scale);
    if (body.data.of == L_event_update_name && items_next(&body.data, &walk, &name, NULL) == PFR_OK) {
        e->public.named = true;
        return update_text(r, &e->public.name, &name.event_name, err);
    }
    return PFR_OK;
}

/* Nothing but its number tells the form of a cpu map: a form or a word that no table knows is said. */
static pfr_status on_cpu_map(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    struct pfr_rec_cpu_map body;
    struct pfr_rec_cpu_map_mask mask;
    (void)err;
    DECODE(body);
    const pfr_items *map = &body.data.map;
    struct items_walk walk = items_start(map);
    const uint64_t length = rec->inside ? 0 : rec->size; /* of the input; decompressed bytes are none of it */
    if (map->of == L_NONE)
        found(r, rec->offset, length, "cpu_map_data.type", "a cpu map of unknown form %u", body.data.type);
    else if (map->of == L_cpu_map_mask && items_next(map, &walk, &mask, NULL) == PFR_OK && mask.mask.of == L_NONE)
        found(r, rec->offset, length, "cpu_map_mask.long_size", "a cpu map of words of %u bytes", mask.long_size);
    return PFR_OK;
}

static pfr_status on_auxtrace(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    struct pfr_rec_auxtrace body;
    (void)err;
    DECODE(body);
    rec->payload = r->payload_size = rec->inside ? 0 : body.size;
    return PFR_OK;
}

/* The formats behind the record become feature TRACING_DATA, as if they stood in a file. */
static pfr_status keep_blob(pfr_reader *r, pfr_record *rec, uint64_t size, pfr_error *err) {
    const uint8_t *bytes;
    size_t have;
    if (size > r->limits.chunk) { /* and what comes is searched for records */
        r->payload_size = rec->payload = 0;
        found(r, rec->offset, rec->size, "header_tracing_data.size", "tracing data of %llu bytes (limit chunk)",
              (unsigned long long)size);
        return PFR_OK;
    }
    rec->bytes = arena_copy(&r->arena, rec->bytes, rec->size, 8); /* the window moves on to the blob */
    if (!rec->bytes)
        return mem_fail(&r->memory, err, "tracing data");
    PFR_TRY(input_window(&r->parts[r->part].in, r->at, (size_t)size, &bytes, &have, err));
    return features_add(r, FEATURE_TRACING_DATA, r->at, bytes, have < size ? have : (size_t)size, err);
}

static pfr_status on_tracing_data(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    struct pfr_rec_header_tracing_data body;
    DECODE(body);
    if (rec->inside)
        return PFR_OK;
    r->names_stale = true;
    if (body.inside.length > 4) /* simpleperf's form */
        return features_add(r, FEATURE_TRACING_DATA, rec->offset + 12, body.inside.at,
                            body.inside.length < body.size ? body.inside.length : body.size, err);
    rec->payload = r->payload_size = body.size;
    if (r->header.container != PFR_PIPE)
        return PFR_OK;
    return keep_blob(r, rec, body.size, err);
}

static pfr_status on_compressed(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    struct pfr_rec_compressed body;
    (void)err;
    DECODE(body);
    if (rec->inside)
        return PFR_OK;
    r->compressed = body.data;
    r->outer = rec->offset;
    return PFR_OK;
}

static pfr_status on_compressed2(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    struct pfr_rec_compressed2 body;
    (void)err;
    DECODE(body);
    if (rec->inside)
        return PFR_OK;
    r->compressed = body.data;
    r->outer = rec->offset;
    return PFR_OK;
}

static notice_fn *const notices[NOTICED] = {
    [2] = on_lost,          [5] = on_throttle,      [6] = on_unthrottle,
    [11] = on_aux,          [13] = on_lost_samples, [64] = on_attr,
    [66] = on_tracing_data, [71] = on_auxtrace,     [72] = on_auxtrace_error,
    [74] = on_cpu_map,      [78] = on_event_update, [80] = on_feature,
    [81] = on_compressed,   [83] = on_compressed2,
};

pfr_status notice(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    if (rec->type < NOTICED && notices[rec->type])
        return notices[rec->type](r, rec, err);
    if (!pfr_record_name(rec))
        r->quality.unknown_records++;
    return PFR_OK;
}
