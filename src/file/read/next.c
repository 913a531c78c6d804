/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Returns records in file order. A record is returned as it lies in the read buffer. The data after an AUXTRACE or
 * HEADER_TRACING_DATA record is skipped. A COMPRESSED record is returned first, followed by the records inside it.
 *
 * Bytes that are not a record, or a record whose body does not match its type, are a hole that ends at the next
 * plausible record (plausible_record.c, resync.c). Most records pass the checks in a few instructions, in
 * next_in_window.
 */
#include "file/read/next.h"
#include "file/read/event_names.h"
#include "file/read/events.h"
#include "file/read/findings.h"
#include "file/read/inflate.h"
#include "file/read/metadata_records.h"
#include "file/read/plausible_record.h"
#include "file/read/resync.h"

#include <inttypes.h>

#include "base/memory/sizes.h"

static struct part *current(pfr_reader *r) {
    return &r->parts[r->cursor.part];
}

/* Reports a hole up to the end of the part, and ends the part. */
static pfr_status last_hole(pfr_reader *r, pfr_error *err, uint64_t offset, uint64_t length, const char *text) {
    r->cursor.ended = true;
    count_hole(r, &r->damage.quality.cut, length);
    return pfr_fail(err, PFR_HOLE, offset, length, "record", "%s", text);
}

/* Finds the event of most records without a function call: the only event, or the last sample's event if the id is the
   same. The size test also covers the id, because an id is as long as a record header. */
static inline int32_t owner_of(pfr_reader *r, pfr_record *rec) {
    if (rec->type == PFR_RECORD_SAMPLE && rec->size >= RECORD_HEADER + r->events.id_at) {
        rec->tail = 0;
        if (r->events.count == 1)
            return 0;
        if (r->events.id_at && load_u64(rec->bytes + r->events.id_at, r->context.swap) == r->events.last_id &&
            r->events.last_event >= 0)
            return r->events.last_event;
    }
    return events_owner(r, rec->type, rec->bytes, rec->size, &rec->tail);
}

static inline void frame_record(pfr_reader *r, pfr_record *rec, const uint8_t *bytes, uint64_t offset) {
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
    rec->context = rec->event >= 0 ? &r->events.list[rec->event].context : &r->context;
}

void frame(pfr_reader *r, pfr_record *rec, const uint8_t *bytes, uint64_t offset) {
    frame_record(r, rec, bytes, offset);
}

static inline void count(pfr_reader *r, const pfr_record *rec) {
    r->damage.quality.records++;
    if (rec->type == PFR_RECORD_SAMPLE) {
        r->damage.quality.samples++;
        r->damage.quality.unknown_ids += rec->event == PFR_NO_EVENT;
    }
}

/* The usual case of the plausibility check, without a call. */
static inline bool is_whole(const pfr_reader *r, const pfr_record *rec) {
    const uint8_t *body = rec->bytes + RECORD_HEADER;
    const uint64_t length = (uint64_t)rec->size - RECORD_HEADER - rec->tail;
    if (rec->type == PFR_RECORD_SAMPLE && rec->event >= 0)
        return length_holds(&r->events.list[rec->event].length, body, length, r->context.swap) ||
               plausibility_of(r, rec) >= PLAUSIBILITY_FULL;
    return plausibility_of(r, rec) >= PLAUSIBILITY_FULL;
}

/* --- Records in decompressed bytes. */

static void sight_inside(const pfr_reader *r, struct visible_bytes *s) {
    const struct inflater *z = &r->parts[r->cursor.part].inflater;
    *s = (struct visible_bytes){z->buffer, z->length - z->at, .pieces = true};
    if (s->length) /* otherwise there may be no buffer yet */
        s->bytes += z->at;
}

/* Drops the decompressed bytes up to `next`, which are not a record, and reports them. */
static pfr_status hole_inside(pfr_reader *r, uint64_t *kind, uint64_t next, pfr_error *err) {
    struct inflater *z = &current(r)->inflater;
    const uint64_t from = z->start + z->at;
    z->at += next;
    count_hole(r, kind, next);
    return pfr_fail(err, PFR_HOLE, r->cursor.outer, 0, "compressed", "%llu decompressed bytes at %llu are not a record",
                    (unsigned long long)next, (unsigned long long)from);
}

/* Reads the next record from the decompressed bytes. PFR_END: they contain no complete record. */
static pfr_status next_inside(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    struct inflater *z = &current(r)->inflater;
    struct visible_bytes s;
    sight_inside(r, &s);
    if (s.length < RECORD_HEADER)
        return PFR_END;
    const uint16_t size = load_u16(s.bytes + 6, r->context.swap);
    if (size > s.length)
        return PFR_END;
    if (size < RECORD_HEADER)
        return hole_inside(r, &r->damage.quality.garbage, chain_after(r, &s, 1, s.length, 1), err);
    frame_record(r, rec, s.bytes, r->cursor.outer);
    const bool whole = is_whole(r, rec);
    const uint64_t bad = whole ? 0 : implausible_bytes(r, &s, rec);
    if (bad == size)
        return hole_inside(r, &r->damage.quality.bad_records, bad, err);
    if (bad) {
        rec->bytes = NULL;
        return hole_inside(r, &r->damage.quality.garbage, bad, err);
    }
    rec->inner = z->start + z->at;
    rec->inside = true;
    z->at += size;
    r->damage.unsure += !whole;
    count(r, rec);
    return PFR_OK;
}

static pfr_status inflate_pending(pfr_reader *r, pfr_error *err) {
    const pfr_bytes from = r->cursor.compressed;
    r->cursor.compressed = (pfr_bytes){NULL, 0};
    pfr_status s = inflate_record(r, &current(r)->inflater, from, r->cursor.outer, err);
    if (s == PFR_HOLE)
        count_hole(r, &r->damage.quality.bad_compressed, from.length);
    return s;
}

/* End of a part. Bytes left in the decompressor belong to a record that was never completed. */
static pfr_status end_of_part(pfr_reader *r, pfr_error *err) {
    struct inflater *z = &current(r)->inflater;
    const size_t left = z->length - z->at;
    z->at = z->length;
    if (left > 0) {
        r->damage.quality.truncated_bytes += left;
        return last_hole(r, err, r->cursor.outer, 0, "the last decompressed record is cut short");
    }
    if (r->damage.broken.status == PFR_HOLE && !r->damage.broken_reported) {
        *err = r->damage.broken;
        r->damage.broken_reported = true;
        count_hole(r, &r->damage.quality.bad_compressed, 0);
        return PFR_HOLE;
    }
    if (r->whole || r->cursor.part + 1 == r->nr_parts)
        return PFR_END;
    input_set_chunk(&current(r)->in, current(r)->in.chunk); /* frees its buffer: only one part at a time has one */
    r->cursor.part++;
    r->cursor.at = current(r)->begin;
    r->cursor.ended = false;
    return PFR_OK;
}

static pfr_status cut_short(pfr_reader *r, uint64_t have, pfr_error *err) {
    r->damage.quality.truncated_bytes += have;
    return last_hole(r, err, r->cursor.at, have, "the last record is cut short");
}

/* --- Records in the input. */

static pfr_status hole_up_to(pfr_reader *r, uint64_t *kind, uint64_t from, uint64_t next, const pfr_error *why,
                             pfr_error *err) {
    const pfr_error cause = *why; /* a copy, because `why` may be *err */
    r->cursor.at = next;
    r->cursor.doubtful = UINT64_MAX;
    r->cursor.payload_from = r->cursor.payload_end = 0; /* a search starts inside the same payload only once */
    count_hole(r, kind, next - from);
    *err = cause;
    err->status = PFR_HOLE;
    err->offset = from;
    err->length = next - from;
    return PFR_HOLE;
}

/* Start of the search for the next record: inside the last payload or record if its size may be wrong, else after
   r->at. */
static uint64_t search_from(const pfr_reader *r) {
    const struct input *in = &r->parts[r->cursor.part].in;
    uint64_t from = r->cursor.at + 1;
    if (r->cursor.payload_end == r->cursor.at && r->cursor.payload_from < r->cursor.at)
        from = r->cursor.payload_from;
    else if (r->cursor.doubtful < r->cursor.at)
        from = r->cursor.doubtful + 1;
    return input_seekable(in) || from >= in->start ? from : r->cursor.at + 1;
}

/* Handles bytes at r->at that are not a record, for the reason in *why: all bytes up to the next record are a hole. */
static pfr_status skip_garbage(pfr_reader *r, const pfr_error *why, pfr_error *err) {
    const uint64_t from = search_from(r);
    uint64_t next = from;
    pfr_error larger;
    pfr_status s = from < r->cursor.at ? resync(r, &next, r->cursor.at - 1, 3, err) : PFR_END;
    if (s == PFR_END) {
        next = r->cursor.at + 1;
        s = resync(r, &next, UINT64_MAX, 1, err);
    }
    if (s < 0)
        return s;
    r->cursor.ended = s == PFR_END;
    if (next > r->cursor.at)
        return hole_up_to(r, &r->damage.quality.garbage, r->cursor.at, next, why, err);
    pfr_fail(&larger, PFR_HOLE, from, next - from, "record",
             "records begin inside the payload that the previous record announces");
    return hole_up_to(r, &r->damage.quality.garbage, from, next, &larger, err);
}

/* A record that reaches past the end has a wrong size or is cut off. If a cut record holds compressed data, its bytes
   may look like records, because zstd stores some blocks uncompressed: the search then requires three records in a
   row. */
static pfr_status past_end(pfr_reader *r, const uint8_t *bytes, uint16_t size, uint64_t left, pfr_error *err) {
    const bool opaque = holds_compressed(load_u32(bytes, r->context.swap));
    pfr_error why;
    uint64_t next = r->cursor.at + 1;
    const pfr_status s = resync(r, &next, UINT64_MAX, opaque ? 3 : 1, err);
    if (s != PFR_OK)
        return s < 0 ? s : cut_short(r, left, err);
    pfr_fail(&why, PFR_HOLE, r->cursor.at, size, "record", "a record of %u bytes would reach past the end", size);
    return hole_up_to(r, &r->damage.quality.garbage, r->cursor.at, next, &why, err);
}

/* Decides whether a record that is not plausible by itself is returned after all, or is a hole. */
static pfr_status settle(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    struct visible_bytes s;
    pfr_error why;
    PFR_TRY(sight_at(r, r->cursor.at, &s, err));
    frame_record(r, rec, s.bytes, r->cursor.at);
    const uint64_t next = implausible_bytes(r, &s, rec);
    if (!next)
        return r->damage.unsure++, PFR_OK;
    implausible_because(rec, &why);
    if (next == rec->size && (next < s.length || s.whole))
        return hole_up_to(r, &r->damage.quality.bad_records, r->cursor.at, r->cursor.at + next, &why, err);
    rec->bytes = NULL;
    return next < s.length ? hole_up_to(r, &r->damage.quality.garbage, r->cursor.at, r->cursor.at + next, &why, err)
                           : skip_garbage(r, &why, err);
}

static pfr_status no_size(pfr_reader *r, pfr_error *err) {
    pfr_error why;
    pfr_fail(&why, PFR_HOLE, r->cursor.at, 0, "record", "no record begins here: the size field is below 8");
    return skip_garbage(r, &why, err);
}

/* Loads enough bytes at r->at for one record into the buffer. *size: the size in its header; 0: fewer than 8 bytes are
   left. */
static pfr_status look_at(pfr_reader *r, const uint8_t **bytes, uint64_t *left, uint16_t *size, pfr_error *err) {
    struct part *p = current(r);
    const uint64_t room = p->end - r->cursor.at;
    size_t have;
    *size = 0;
    PFR_TRY(input_window(&p->in, r->cursor.at, RECORD_HEADER, bytes, &have, err));
    if (have >= RECORD_HEADER) {
        *size = load_u16(*bytes + 6, r->context.swap);
        PFR_TRY(input_window(&p->in, r->cursor.at, *size, bytes, &have, err));
    }
    if (p->in.broken.status == PFR_HOLE && (have < RECORD_HEADER || have < *size))
        r->damage.broken = p->in.broken;
    *left = have < room ? have : room;
    return PFR_OK;
}

/* If the stated end is doubtful, tries to continue past it. PFR_END: no records follow. */
static pfr_status go_past_end(pfr_reader *r, uint64_t left, pfr_error *err) {
    struct part *p = current(r);
    const uint64_t said = p->end;
    struct visible_bytes s;
    if (!p->end_doubtful)
        return PFR_END;
    p->end = UINT64_MAX;
    const pfr_status seen = sight_at(r, r->cursor.at, &s, err);
    if (seen >= 0 && s.length > left && is_record_at(r, &s, 0)) {
        p->end = r->cursor.at + load_u16(s.bytes + 6, r->context.swap);
        return PFR_OK;
    }
    p->end = said;
    return seen < 0 ? seen : PFR_END;
}

static pfr_status next_outside(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    const uint8_t *bytes;
    uint64_t left;
    uint16_t size;
    pfr_status s = PFR_OK;
    if (r->cursor.ended)
        return PFR_END;
    if (r->cursor.at >= current(r)->end && (s = go_past_end(r, 0, err)) != PFR_OK)
        return s;
    PFR_TRY(look_at(r, &bytes, &left, &size, err));
    if (size > left) {
        PFR_TRY(go_past_end(r, left, err));
        PFR_TRY(look_at(r, &bytes, &left, &size, err)); /* the buffer may have moved, and the end may have changed */
    }
    if (left < RECORD_HEADER)
        return left == 0 ? PFR_END : cut_short(r, left, err);
    if (size < RECORD_HEADER)
        return no_size(r, err);
    if (size > left)
        return past_end(r, bytes, size, left, err);
    frame_record(r, rec, bytes, r->cursor.at);
    s = is_whole(r, rec) ? PFR_OK : settle(r, rec, err);
    if (s != PFR_OK)
        return s;
    count(r, rec);
    r->cursor.doubtful = may_hide_records(rec) ? r->cursor.at : UINT64_MAX;
    r->cursor.at += size;
    return PFR_OK;
}

/* Determines the end of the part's records as far as it is known; in a stream of unknown length, reads up to the end of
   the payload. */
static pfr_status find_end(pfr_reader *r, uint64_t size, uint64_t *end, pfr_error *err) {
    struct part *p = current(r);
    const uint8_t *bytes;
    size_t have;
    *end = p->end < input_size(&p->in) ? p->end : input_size(&p->in);
    if (*end != UINT64_MAX || size > UINT64_MAX - r->cursor.at)
        return PFR_OK;
    PFR_TRY(input_window(&p->in, r->cursor.at + size - 1, 1, &bytes, &have, err));
    if (have == 0)
        *end = input_size(&p->in);
    return PFR_OK;
}

/* The payload announced by the last record is incomplete: it is cut off, or its size is wrong. */
static pfr_status payload_past_end(pfr_reader *r, uint64_t size, uint64_t room, pfr_error *err) {
    pfr_error why;
    uint64_t next = r->cursor.at;
    const struct input *in = &current(r)->in;
    const pfr_status s = input_seekable(in) || next >= in->start ? resync(r, &next, UINT64_MAX, 3, err) : PFR_END;
    if (s < 0)
        return s;
    r->damage.quality.truncated_bytes += size - room;
    if (s == PFR_END)
        return last_hole(r, err, r->cursor.at, room, "the data after the last record are cut short");
    pfr_fail(&why, PFR_HOLE, r->cursor.at, room, "record", "the data after the last record would reach past the end");
    return hole_up_to(r, &r->damage.quality.garbage, r->cursor.at, next, &why, err);
}

/* Skips the payload after a record; a payload shorter than announced counts as truncated. */
static pfr_status skip_payload(pfr_reader *r, pfr_error *err) {
    const uint64_t size = r->cursor.payload_size;
    uint64_t end;
    r->cursor.payload_size = 0;
    PFR_TRY(find_end(r, size, &end, err));
    const uint64_t room = end > r->cursor.at ? end - r->cursor.at : 0;
    r->cursor.payload_from = r->cursor.at;
    if (size > room)
        return payload_past_end(r, size, room, err);
    r->cursor.payload_end = r->cursor.at += size;
    r->cursor.doubtful = UINT64_MAX;
    return PFR_OK;
}

/* Fast path: no work is pending and the whole record is in the buffer. */
static inline bool next_in_window(pfr_reader *r, pfr_record *rec) {
    const struct part *p = current(r);
    const uint64_t skip = r->cursor.at - p->in.start, left = p->in.length - skip;
    if (reader_has_pending(r))
        return false;
    if (skip > p->in.length || left < RECORD_HEADER)
        return false;
    const uint8_t *bytes = p->in.bytes + skip;
    const uint16_t size = load_u16(bytes + 6, r->context.swap);
    if (size < RECORD_HEADER || size > left || size > p->end - r->cursor.at || r->cursor.at >= p->end)
        return false;
    frame_record(r, rec, bytes, r->cursor.at);
    if (!is_whole(r, rec))
        return false;
    count(r, rec);
    r->cursor.doubtful = may_hide_records(rec) ? r->cursor.at : UINT64_MAX;
    r->cursor.at += size;
    return true;
}

/*
 * Whether the reader still needs the buffer after it has returned the record at r->at: a payload is read through the
 * same buffer, and compressed bytes stay there until the next call. Such a record must not be returned by next_at_hand,
 * whose caller may free the buffer at once.
 */
static bool outlives_window(const pfr_reader *r) {
    const struct input *in = &r->parts[r->cursor.part].in;
    const uint64_t skip = r->cursor.at - in->start;
    if (skip > in->length || in->length - skip < RECORD_HEADER)
        return false;
    const uint32_t type = load_u32(in->bytes + skip, r->context.swap);
    return may_be_followed(type) || holds_compressed(type);
}

pfr_status next_at_hand(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    if (outlives_window(r) || !next_in_window(r, rec))
        return PFR_END;
    return rec->type == PFR_RECORD_SAMPLE ? PFR_OK : notice(r, rec, err);
}

static inline bool has_read_enough(const pfr_reader *r) {
    return __builtin_expect(r->damage.quality.records > r->limits.records, 0);
}

static pfr_status too_many(const pfr_reader *r, const pfr_record *rec, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_LIMIT, rec->offset, rec->size, "record",
                    "there are more than %" PRIu64 " records (limit records)", r->limits.records);
}

static pfr_status next_anywhere(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    pfr_status s = PFR_OK;
    rec->bytes = NULL;
    if (r->damage.findings_reported < r->damage.nr_findings)
        return *err = r->damage.findings[r->damage.findings_reported++], PFR_HOLE;
    if (r->cursor.compressed.length && (s = inflate_pending(r, err)) != PFR_OK)
        return s;
    if (r->cursor.payload_size && (s = skip_payload(r, err)) != PFR_OK)
        return s;
    if (r->events.names_stale && (s = events_name(r, err)) < 0)
        return s;
    for (;;) {
        s = next_inside(r, rec, err);
        if (s == PFR_END)
            s = next_outside(r, rec, err);
        if (s == PFR_OK)
            break;
        if (s != PFR_END)
            return s;
        if ((s = end_of_part(r, err)) != PFR_OK)
            return s;
    }
    if (has_read_enough(r))
        return too_many(r, rec, err);
    return notice(r, rec, err);
}

pfr_status pfr_next(pfr_reader *r, pfr_record *rec, pfr_error *error) {
    if (r->kind)
        return r->kind->next(r, rec, error);
    if (next_in_window(r, rec) && !has_read_enough(r))
        return rec->type == PFR_RECORD_SAMPLE ? PFR_OK : notice(r, rec, error);
    if (has_read_enough(r))
        return too_many(r, rec, error);
    pfr_error own, *err = error ? error : &own;
    const pfr_status s = next_anywhere(r, rec, err);
    if ((s < 0 || s == PFR_HOLE) && err->offset != PFR_NO_OFFSET && !r->cursor.part_reported)
        error_in_part(err, r->parts[r->cursor.part].number);
    return s;
}

pfr_status pfr_rewind(pfr_reader *r, pfr_error *err) {
    if (!input_seekable(&r->parts[0].in))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "", "a stream can be read only once");
    for (uint32_t i = 0; i < r->nr_parts; i++) {
        inflater_rewind(&r->parts[i].inflater);
        input_read_ahead_to(&r->parts[i].in, 0);
    }
    r->damage.quality = r->damage.found_at_open;
    r->cursor.attrs_seen = r->damage.unsure = 0;
    r->events.last_event = PFR_NO_EVENT;
    r->cursor.doubtful = UINT64_MAX;
    r->damage.patience = PATIENCE_FIRST;
    r->damage.findings_reported = 0;
    for (uint32_t i = r->damage.nr_found_at_open; i < r->damage.nr_findings; i++)
        count_hole(r, &r->damage.quality.bad_header, 0);
    r->cursor.part = 0;
    r->cursor.at = r->parts[0].begin;
    r->parts[0].end = r->damage.end_at_open;
    r->cursor.payload_size = r->cursor.payload_from = r->cursor.payload_end = 0;
    r->cursor.compressed = (pfr_bytes){NULL, 0};
    r->cursor.packed = r->cursor.unpacked = 0;
    r->cursor.ended = r->damage.broken_reported = false;
    if (r->kind)
        r->kind->rewind(r);
    return PFR_OK;
}

pfr_status pfr_payload(pfr_reader *r, uint64_t offset, void *to, size_t length, size_t *got, pfr_error *err) {
    struct part *p = current(r);
    const uint8_t *bytes;
    *got = 0;
    if (offset >= r->cursor.payload_size)
        return PFR_OK;
    if (length > r->cursor.payload_size - offset)
        length = (size_t)(r->cursor.payload_size - offset);
    if (input_seekable(&p->in))
        return input_read_at(&p->in, r->cursor.at + offset, to, length, got, err);
    if (length > sizes.input_chunk)
        length = sizes.input_chunk;
    size_t have;
    PFR_TRY(input_window(&p->in, r->cursor.at + offset, length, &bytes, &have, err));
    *got = have < length ? have : length;
    memcpy(to, bytes, *got);
    return PFR_OK;
}
