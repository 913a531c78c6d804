/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers of the flight recorder. In version 1 they follow each other at a fixed distance, whatever bytes fill the rest
 * of a buffer. From version 2 on, a BufferExtents precedes each buffer; the size that it states, not the records,
 * determines where the buffer ends.
 *
 * Bytes that cannot be a record make the rest of the buffer a hole. These bytes are searched for the start of another
 * buffer, because the extents may be wrong. Bytes between buffers are searched in the same way.
 */
#include "file/xray/recorder_notes.h"
#include "file/xray/fdr_buffers.h"
#include "file/xray/fdr_records.h"
#include "file/xray/xray_next.h"

#define SIGHT (3 * FDR_METADATA) /* bytes needed to judge whether a buffer begins */

static bool ends_after_extents(const pfr_reader *r, const uint8_t *bytes, size_t have) {
    return have >= FDR_METADATA && fdr_kind_of(r, bytes[0]) == FDR_BUFFER_EXTENTS;
}

/* Whether a BufferExtents is here, followed by a NewBuffer, another BufferExtents, or the end of the input. `have`:
   number of bytes up to the end of the input, or more than FDR_METADATA. */
static bool begins_buffer(const pfr_reader *r, const uint8_t *bytes, size_t have) {
    if (!ends_after_extents(r, bytes, have))
        return false;
    const uint32_t next = have > FDR_METADATA ? fdr_kind_of(r, bytes[FDR_METADATA]) : FDR_NEW_BUFFER;
    return next == FDR_NEW_BUFFER || next == FDR_BUFFER_EXTENTS;
}

/* Like begins_buffer, but NewBuffer and WallClockTime must follow, so that a match by chance is unlikely. */
static bool surely_begins_buffer(const pfr_reader *r, const uint8_t *bytes, size_t have) {
    return have >= SIGHT && begins_buffer(r, bytes, have) && fdr_kind_of(r, bytes[FDR_METADATA]) == FDR_NEW_BUFFER &&
           fdr_kind_of(r, bytes[2 * FDR_METADATA]) == FDR_WALL_CLOCK_TIME;
}

typedef bool buffer_test(const pfr_reader *r, const uint8_t *bytes, size_t have);

/* Moves *at to the first buffer before `until`; if there is no such buffer, to `until` or the end of the input. */
static pfr_status find_buffer(pfr_reader *r, uint64_t *at, uint64_t until, buffer_test *is_buffer, pfr_error *err) {
    const uint8_t *bytes;
    size_t have;
    while (*at < until) {
        PFR_TRY(input_window(&r->parts[0].in, *at, SIGHT, &bytes, &have, err));
        const size_t seen = have < SIGHT ? have : have - SIGHT + 1;
        const size_t places = seen < until - *at ? seen : (size_t)(until - *at);
        for (size_t i = 0; i < places; i++, ++*at)
            if (is_buffer(r, bytes + i, have - i))
                return PFR_OK;
        if (have < SIGHT)
            return PFR_OK;
    }
    return PFR_OK;
}

/* --- Between buffers. */

static pfr_status skip_garbage(pfr_reader *r, pfr_error *err) {
    uint64_t next = r->cursor.at;
    PFR_TRY(find_buffer(r, &next, UINT64_MAX, begins_buffer, err));
    return xray_hole(r, &r->damage.quality.garbage, next, err, "fdr_buffer_extents",
                     "bytes between buffers that are not the start of a buffer");
}

/* Finds the next BufferExtents. In a trace that the runtime is still writing, or whose process was killed, the buffers
   are in slots: skips the unused bytes after each buffer. */
static pfr_status find_extents(pfr_reader *r, const uint8_t **bytes, size_t *have, pfr_error *err) {
    do
        PFR_TRY(xray_window(r, FDR_METADATA + 1, bytes, have, err));
    while (*have && !ends_after_extents(r, *bytes, *have) && recorder_room_ends(r, r->cursor.at, &r->cursor.at));
    return PFR_OK;
}

static pfr_status learn_room(pfr_reader *r, pfr_error *err) {
    const uint8_t *bytes;
    size_t have;
    PFR_TRY(xray_window(r, RTF_NOTE + sizeof(struct rtf_control), &bytes, &have, err));
    recorder_learn(r, bytes, have);
    return PFR_OK;
}

static pfr_status begin_extents(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    const uint8_t *bytes;
    size_t have;
    if (r->cursor.at == XRAY_HEADER)
        PFR_TRY(learn_room(r, err));
    PFR_TRY(find_extents(r, &bytes, &have, err));
    if (have == 0)
        return recorder_missing(r, r->cursor.at) ? xray_cut(r, 0, recorder_missing(r, r->cursor.at), err,
                                                            "the trace was truncated: the recorder had written more")
                                                 : xray_end(r, err);
    if (!ends_after_extents(r, bytes, have))
        return have < FDR_METADATA ? xray_cut(r, have, 0, err, "the last record is cut short") : skip_garbage(r, err);
    const uint64_t size = load_u64(bytes + r->trace->places.extents, r->context.swap);
    const uint64_t begin = r->cursor.at + FDR_METADATA;
    fdr_begin(r, size > UINT64_MAX - 1 - begin ? UINT64_MAX - 1 : begin + size);
    xray_give(r, rec, FDR_BUFFER_EXTENTS, bytes, FDR_METADATA);
    return PFR_OK;
}

/* Begins the next buffer of version 1. If the filler of the last buffer is cut, r->at is past the end of the input. */
static pfr_status begin_stride(pfr_reader *r, pfr_error *err) {
    const uint64_t stride = r->trace->stride, size = input_size(&r->parts[0].in);
    const uint8_t *bytes;
    size_t have;
    PFR_TRY(xray_window(r, 1, &bytes, &have, err));
    if (have == 0) {
        const uint64_t end = size != UINT64_MAX ? size : input_size(&r->parts[0].in);
        if (end >= r->cursor.at)
            return xray_end(r, err);
        const uint64_t missing = r->cursor.at - end;
        r->cursor.at = end;
        return xray_cut(r, 0, missing, err, "the filler of the last buffer is cut short");
    }
    fdr_begin(r,
              stride ? (stride > UINT64_MAX - 1 - r->cursor.at ? UINT64_MAX - 1 : r->cursor.at + stride) : UINT64_MAX);
    return PFR_OK;
}

/* --- Inside a buffer. */

static void leave(pfr_reader *r, uint64_t next) {
    r->trace->buffer.inside = false;
    r->cursor.at = next;
}

/* Makes the rest of the buffer a hole, up to its end or the certain start of another buffer. */
static pfr_status lose_rest(pfr_reader *r, const char *why, pfr_error *err) {
    uint64_t next = r->cursor.at;
    if (r->trace->stride) {
        next = r->trace->buffer.end;
        PFR_TRY(fdr_lose_base(r, err));
        PFR_TRY(xray_clip(r, &next, err));
    } else {
        PFR_TRY(find_buffer(r, &next, r->trace->buffer.end, surely_begins_buffer, err));
    }
    r->trace->buffer.inside = false;
    return xray_hole(r, &r->damage.quality.garbage, next, err, "record", "%s", why);
}

static pfr_status cut_in_buffer(pfr_reader *r, uint64_t have, pfr_error *err) {
    const uint64_t end = r->trace->buffer.end;
    if (end == UINT64_MAX && have == 0) /* the trace states no size */
        return xray_end(r, err);
    const uint64_t missing = end == UINT64_MAX ? 0 : end - r->cursor.at - have;
    return xray_cut(r, have, missing, err,
                    have ? "the last record is cut short" : "the last buffer is cut short between two records");
}

/* Ends the buffer, because another one begins where its next record should begin: the stated extents are too large. */
static pfr_status end_early(pfr_reader *r, pfr_error *err) {
    const uint64_t missing = r->trace->buffer.end - r->cursor.at;
    leave(r, r->cursor.at);
    return xray_hole(r, &r->damage.quality.bad_header, r->cursor.at, err, "fdr_buffer_extents",
                     "a buffer begins %llu bytes before the end of the previous one", (unsigned long long)missing);
}

static pfr_status out_of_place(pfr_reader *r, uint32_t kind, pfr_error *err) {
    const uint32_t after = r->trace->buffer.after;
    const struct layout *l = layout_at(layout_find(TABLE_TRACE_RECORD, kind));
    const struct layout *before = layout_at(layout_find(TABLE_TRACE_RECORD, after));
    r->trace->buffer.reported = true;
    return xray_hole(r, &r->damage.quality.bad_order, r->cursor.at, err, l->name, "%s may not come %s %s in version %u",
                     l->name, before ? "after" : "at", before ? before->name : "the start of a buffer",
                     r->trace->version);
}

static bool may_come(const struct xray_trace *t, uint32_t kind) {
    return t->buffer.reported || (t->may_follow[t->buffer.after] >> kind & 1);
}

/* Version 1: skips the rest of the buffer, which is filler. */
static pfr_status end_of_buffer(pfr_reader *r, pfr_error *err) {
    const struct xray_trace *t = r->trace;
    if (t->version > 1)
        return PFR_OK;
    PFR_TRY(fdr_keep_base(r, err));
    leave(r, t->stride ? t->buffer.end : r->cursor.at);
    return PFR_OK;
}

/* Skips an event that exceeds the limit. */
static pfr_status too_long(pfr_reader *r, uint64_t length, pfr_error *err) {
    uint64_t next = r->cursor.at + length;
    PFR_TRY(xray_clip(r, &next, err));
    if (next < r->cursor.at + length)
        return cut_in_buffer(r, next - r->cursor.at, err);
    return xray_hole(r, &r->damage.quality.bad_records, next, err, "record",
                     "an event of %llu bytes is larger than the limit chunk (%llu)", (unsigned long long)length,
                     (unsigned long long)r->limits.chunk);
}

/* Whether this is an event without bytes. Such an event is a valid record. But if its size was lost, the bytes after it
   are the bytes of the event. */
static bool is_empty_event(uint32_t kind, uint64_t length) {
    return fdr_is_event(kind) && length == FDR_METADATA;
}

static pfr_status empty_event(pfr_reader *r, uint32_t kind, pfr_error *err) {
    r->trace->buffer.reported_empty = true;
    return xray_hole(r, &r->damage.quality.bad_records, r->cursor.at, err,
                     layout_at(layout_find(TABLE_TRACE_RECORD, kind))->name,
                     "an event of 0 bytes, which llvm-xray refuses");
}

/* Returns the record of `length` bytes, all of them inside the buffer. */
static pfr_status take(pfr_reader *r, pfr_record *rec, uint32_t kind, uint64_t length, pfr_error *err) {
    const uint8_t *bytes;
    size_t have;
    if (length > r->limits.chunk)
        return too_long(r, length, err);
    PFR_TRY(xray_window(r, (size_t)length, &bytes, &have, err));
    if (have < length)
        return cut_in_buffer(r, have, err);
    if (!may_come(r->trace, kind))
        return out_of_place(r, kind, err);
    if (is_empty_event(kind, length) && !r->trace->buffer.reported_empty)
        return empty_event(r, kind, err);
    fdr_step(r, kind, bytes);
    xray_give(r, rec, kind, bytes, length);
    return kind == FDR_END_OF_BUFFER ? end_of_buffer(r, err) : PFR_OK;
}

/* Reads the next record of the buffer. PFR_END: the buffer has no more records. */
static pfr_status next_in_buffer(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    const uint64_t room = r->trace->buffer.end - r->cursor.at;
    const uint8_t *bytes;
    size_t have;
    if (room == 0)
        return PFR_END;
    PFR_TRY(xray_window(r, FDR_METADATA + 1, &bytes, &have, err));
    if (have == 0)
        return cut_in_buffer(r, 0, err);
    const uint32_t kind = fdr_kind_of(r, bytes[0]);
    if (kind == FDR_BUFFER_EXTENTS && r->trace->version > 1 && begins_buffer(r, bytes, have))
        return end_early(r, err);
    const size_t seen = have < room ? have : (size_t)room, least = kind == FDR_CALL ? FDR_FUNCTION : FDR_METADATA;
    const char *wrong = fdr_wrong(r, kind, bytes, seen);
    if (wrong)
        return lose_rest(r, wrong, err);
    if (seen < least)
        return have < least && have < room ? cut_in_buffer(r, have, err)
                                           : lose_rest(r, "a record that crosses the end of its buffer", err);
    const uint64_t length = fdr_length(r, kind, bytes);
    return length > room ? lose_rest(r, "an event that crosses the end of its buffer", err)
                         : take(r, rec, kind, length, err);
}

pfr_status fdr_next(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    pfr_status s;
    for (;;) {
        if (r->trace->buffer.inside) {
            if ((s = next_in_buffer(r, rec, err)) != PFR_END || r->cursor.ended)
                return s;
            PFR_TRY(fdr_keep_base(r, err));
            leave(r, r->cursor.at);
        }
        s = r->trace->version > 1 ? begin_extents(r, rec, err) : begin_stride(r, err);
        if (s != PFR_OK || r->trace->version > 1)
            return s;
    }
}
