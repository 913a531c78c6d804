/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records in file order. A record is given as it lies in the input's window; what follows an AUXTRACE or
 * HEADER_TRACING_DATA record is stepped over; a COMPRESSED record is given first and then what was in it.
 *
 * What cannot be a record (a size below 8, or past the end) ends its file of records: the rest is one hole.
 */
#include "file/recording.h"

#define TYPE_SAMPLE 9u

static struct part *current(pfr_reader *r) {
    return &r->parts[r->part];
}

static pfr_status hole(pfr_reader *r, pfr_error *err, uint64_t offset, uint64_t length, const char *text) {
    r->quality.holes++;
    r->quality.hole_bytes += length;
    r->ended = true;
    return pfr_fail(err, PFR_HOLE, offset, length, "record", "%s", text);
}

/* The owner of most records without a call: there is one event, or the id is that of the sample before. */
static inline int32_t owner_of(pfr_reader *r, pfr_record *rec) {
    if (rec->type == TYPE_SAMPLE && rec->size >= RECORD_HEADER + r->id_at) {
        rec->tail = 0;
        if (r->nr_events == 1)
            return 0;
        if (r->id_at && rec->size >= r->id_at + 8 && load_u64(rec->bytes + r->id_at, r->context.swap) == r->last_id &&
            r->last_event >= 0)
            return r->last_event;
    }
    return events_owner(r, rec->type, rec->bytes, rec->size, &rec->tail);
}

static inline void fill(pfr_reader *r, pfr_record *rec, const uint8_t *bytes, uint64_t offset) {
    rec->offset = offset;
    rec->inner = 0;
    rec->part = current(r)->number;
    rec->type = load_u32(bytes, r->context.swap);
    rec->misc = load_u16(bytes + 4, r->context.swap);
    rec->size = load_u16(bytes + 6, r->context.swap);
    rec->inside = false;
    rec->payload = 0;
    rec->bytes = bytes;
    rec->event = owner_of(r, rec);
    rec->context = rec->event >= 0 ? &r->events[rec->event].context : &r->context;
    r->quality.records++;
    r->quality.samples += rec->type == TYPE_SAMPLE;
}

/* A whole record that waits in the decompressed bytes. */
static bool next_inside(pfr_reader *r, pfr_record *rec) {
    struct inflater *z = &current(r)->inflater;
    const size_t left = z->length - z->at;
    if (left < RECORD_HEADER)
        return false;
    const uint16_t size = load_u16(z->buffer + z->at + 6, r->context.swap);
    if (size < RECORD_HEADER || size > left)
        return false;
    fill(r, rec, z->buffer + z->at, r->outer);
    rec->inner = z->start + z->at;
    rec->inside = true;
    z->at += size;
    return true;
}

/* Decompressed bytes that are no record cannot be stepped over: drop them, say where. */
static pfr_status bad_inside(pfr_reader *r, pfr_error *err) {
    struct inflater *z = &current(r)->inflater;
    const size_t left = z->length - z->at;
    if (left < RECORD_HEADER || load_u16(z->buffer + z->at + 6, r->context.swap) >= RECORD_HEADER)
        return PFR_OK;
    z->at = z->length;
    r->quality.holes++;
    r->quality.hole_bytes += left;
    return pfr_fail(err, PFR_HOLE, r->outer, 0, "compressed", "%zu decompressed bytes do not begin with a record", left);
}

static pfr_status inflate_pending(pfr_reader *r, pfr_error *err) {
    const pfr_bytes from = r->compressed;
    r->compressed = (pfr_bytes){NULL, 0};
    pfr_status s = inflate_record(r, &current(r)->inflater, from, r->outer, err);
    if (s == PFR_HOLE) {
        r->quality.holes++;
        r->quality.hole_bytes += from.length;
    }
    return s;
}

/* The part's end: what is left over in the decompressor was a record that never came whole. */
static pfr_status end_of_part(pfr_reader *r, pfr_error *err) {
    struct inflater *z = &current(r)->inflater;
    const size_t left = z->length - z->at;
    z->at = z->length;
    if (left > 0) {
        r->quality.truncated_bytes += left;
        return hole(r, err, r->outer, 0, "the last decompressed record is cut short");
    }
    if (r->broken.status == PFR_HOLE && !r->broken_told) {
        *err = r->broken;
        r->broken_told = true;
        r->quality.holes++;
        return PFR_HOLE;
    }
    if (r->part + 1 == r->nr_parts)
        return PFR_END;
    r->part++;
    r->at = current(r)->begin;
    r->ended = false;
    return PFR_OK;
}

static pfr_status cut_short(pfr_reader *r, uint64_t have, pfr_error *err) {
    r->quality.truncated_bytes += have;
    return hole(r, err, r->at, have, "the last record is cut short");
}

/* The window on the record at r->at: PFR_OK, PFR_END at the end of the part, PFR_HOLE when what is there is no record. */
static pfr_status find_record(pfr_reader *r, const uint8_t **bytes, pfr_error *err) {
    struct part *p = current(r);
    const uint64_t room = p->end - r->at;
    size_t have;
    if (r->ended || r->at >= p->end)
        return PFR_END;
    PFR_TRY(input_window(&p->in, r->at, RECORD_HEADER, bytes, &have, err));
    if (p->in.broken.status == PFR_HOLE && have < RECORD_HEADER)
        r->broken = p->in.broken;
    const uint64_t left = have < room ? have : room;
    if (left == 0)
        return PFR_END;
    if (left < RECORD_HEADER)
        return cut_short(r, left, err);
    const uint16_t size = load_u16(*bytes + 6, r->context.swap);
    if (size < RECORD_HEADER)
        return hole(r, err, r->at, room == UINT64_MAX - r->at ? 0 : room, "no record begins here: its size is below 8");
    PFR_TRY(input_window(&p->in, r->at, size, bytes, &have, err));
    if (have < size || room < size)
        return cut_short(r, have < room ? have : room, err);
    return PFR_OK;
}

static pfr_status next_outside(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    const uint8_t *bytes;
    pfr_status s = find_record(r, &bytes, err);
    if (s != PFR_OK)
        return s;
    fill(r, rec, bytes, r->at);
    r->at += rec->size;
    return PFR_OK;
}

/* Where the records of the part end as far as is known; a stream of unknown length is asked for the payload's end. */
static pfr_status find_end(pfr_reader *r, uint64_t size, uint64_t *end, pfr_error *err) {
    struct part *p = current(r);
    const uint8_t *bytes;
    size_t have;
    *end = p->end < input_size(&p->in) ? p->end : input_size(&p->in);
    if (*end != UINT64_MAX || size > UINT64_MAX - r->at)
        return PFR_OK;
    PFR_TRY(input_window(&p->in, r->at + size - 1, 1, &bytes, &have, err));
    if (have == 0)
        *end = input_size(&p->in);
    return PFR_OK;
}

/* Steps over what follows the record; less than it says is a truncation. */
static pfr_status skip_payload(pfr_reader *r, pfr_error *err) {
    const uint64_t size = r->payload_size;
    uint64_t end;
    r->payload_size = 0;
    PFR_TRY(find_end(r, size, &end, err));
    const uint64_t room = end > r->at ? end - r->at : 0;
    if (size > room) {
        r->quality.truncated_bytes += size - room;
        return hole(r, err, r->at, room, "the data behind the last record are cut short");
    }
    r->at += size;
    return PFR_OK;
}

/* The common case by itself: nothing is pending and the whole record lies in the window. */
static inline bool next_in_window(pfr_reader *r, pfr_record *rec) {
    const struct part *p = current(r);
    const uint64_t skip = r->at - p->in.start, left = p->in.length - skip;
    if (r->compressed.length || r->payload_size || r->names_stale || r->ended || p->inflater.length > p->inflater.at)
        return false;
    if (skip > p->in.length || left < RECORD_HEADER)
        return false;
    const uint8_t *bytes = p->in.bytes + skip;
    const uint16_t size = load_u16(bytes + 6, r->context.swap);
    if (size < RECORD_HEADER || size > left || size > p->end - r->at || r->at >= p->end)
        return false;
    fill(r, rec, bytes, r->at);
    r->at += size;
    return true;
}

pfr_status pfr_next(pfr_reader *r, pfr_record *rec, pfr_error *error) {
    if (next_in_window(r, rec))
        return rec->type == TYPE_SAMPLE ? PFR_OK : notice(r, rec, error);
    pfr_error own, *err = error ? error : &own;
    pfr_status s = PFR_OK;
    if (r->compressed.length && (s = inflate_pending(r, err)) != PFR_OK)
        return s;
    if (r->payload_size && (s = skip_payload(r, err)) != PFR_OK)
        return s;
    if (r->names_stale && (s = events_name(r, err)) < 0)
        return s;
    for (;;) {
        if (next_inside(r, rec))
            break;
        if ((s = bad_inside(r, err)) != PFR_OK)
            return s;
        s = next_outside(r, rec, err);
        if (s == PFR_OK)
            break;
        if (s != PFR_END)
            return s;
        if ((s = end_of_part(r, err)) != PFR_OK)
            return s;
    }
    return notice(r, rec, err);
}

pfr_status pfr_rewind(pfr_reader *r, pfr_error *err) {
    if (!input_seekable(&r->parts[0].in))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "", "a stream can be read once");
    for (uint32_t i = 0; i < r->nr_parts; i++)
        inflater_rewind(&r->parts[i].inflater);
    r->quality = r->found_at_open;
    r->attrs_seen = 0;
    r->part = 0;
    r->at = r->parts[0].begin;
    r->payload_size = 0;
    r->compressed = (pfr_bytes){NULL, 0};
    r->ended = r->broken_told = false;
    return PFR_OK;
}

pfr_status pfr_payload(pfr_reader *r, uint64_t offset, void *to, size_t length, size_t *got, pfr_error *err) {
    struct part *p = current(r);
    const uint8_t *bytes;
    *got = 0;
    if (offset >= r->payload_size)
        return PFR_OK;
    if (length > r->payload_size - offset)
        length = (size_t)(r->payload_size - offset);
    if (input_seekable(&p->in))
        return input_read_at(&p->in, r->at + offset, to, length, got, err);
    if (length > INPUT_CHUNK)
        length = INPUT_CHUNK;
    size_t have;
    PFR_TRY(input_window(&p->in, r->at + offset, length, &bytes, &have, err));
    *got = have < length ? have : length;
    memcpy(to, bytes, *got);
    return PFR_OK;
}
