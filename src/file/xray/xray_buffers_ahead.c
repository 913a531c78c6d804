/* SPDX-License-Identifier: Apache-2.0 */
/* Finds buffers of a flight-recorder trace, one after the other or from any offset, without reading their records. */
#include "file/xray/xray_slice.h"
#include "file/xray/recorder_notes.h"
#include "file/xray/xray.h"
#include <string.h>

_Static_assert(TRACE_PREAMBLE_MOST == 5 * FDR_METADATA, "extents, and the records of a preamble");

#define SIGHT ((size_t)128 << 10)

/* Records of a preamble, in the order that all writers use. */
static const uint32_t preamble[] = {FDR_NEW_BUFFER, FDR_WALL_CLOCK_TIME, FDR_PID, FDR_NEW_CPU_ID};

/* Reads the preamble at `bytes`; false: it is not valid. */
static bool read_preamble(const pfr_reader *r, const uint8_t *bytes, size_t have, struct xray_buffer *b) {
    const struct xray_trace *t = r->trace;
    const bool swap = r->context.swap;
    b->has_pid = t->version >= 3;
    for (size_t i = 0; i < sizeof preamble / sizeof preamble[0]; i++) {
        if (preamble[i] == FDR_PID && !b->has_pid)
            continue;
        if (have < FDR_METADATA || fdr_kind_of(r, bytes[0]) != preamble[i])
            return false;
        if (preamble[i] == FDR_NEW_BUFFER)
            b->tid = (int32_t)load_u32(bytes + t->places.tid, swap);
        else if (preamble[i] == FDR_PID)
            b->pid = (int32_t)load_u32(bytes + t->places.pid, swap);
        bytes += FDR_METADATA;
        have -= FDR_METADATA;
    }
    b->time = load_u64(bytes - FDR_METADATA + t->places.cpu_tsc, swap);
    return true;
}

/* Determines the range of the buffer's records; false: the buffer is not valid. */
static bool frame_buffer(const pfr_reader *r, const uint8_t *bytes, size_t have, uint64_t at, struct xray_buffer *b) {
    const struct xray_trace *t = r->trace;
    const uint64_t size = input_size(&r->parts[0].in);
    uint64_t length = t->stride;
    b->slice = (struct xray_slice){.at = at};
    if (t->version > 1) {
        if (have < FDR_METADATA || fdr_kind_of(r, bytes[0]) != FDR_BUFFER_EXTENTS)
            return false;
        length = load_u64(bytes + t->places.extents, r->context.swap);
        b->slice.at += FDR_METADATA;
    }
    if (length == 0 || b->slice.at > size || length > size - b->slice.at)
        return false;
    b->next = b->slice.end = b->slice.until = b->slice.at + length;
    return true;
}

/* Learns whether the trace is in slots, which have unused bytes after their buffers, and may have empty buffers. */
static pfr_status learn_slots(pfr_reader *r, pfr_error *err) {
    uint8_t bytes[RTF_NOTE + sizeof(struct rtf_control)];
    size_t have;
    PFR_TRY(input_read_at(&r->parts[0].in, XRAY_HEADER, bytes, sizeof bytes, &have, err));
    recorder_learn(r, bytes, have);
    return PFR_OK;
}

static bool is_empty(const pfr_reader *r, const uint8_t *bytes, size_t have) {
    return r->trace->slot_size && have >= FDR_METADATA && fdr_kind_of(r, bytes[0]) == FDR_BUFFER_EXTENTS &&
           load_u64(bytes + r->trace->places.extents, r->context.swap) == 0;
}

static bool is_room(const pfr_reader *r, const uint8_t *bytes, size_t have) {
    return r->trace->slot_size && have && fdr_kind_of(r, bytes[0]) != FDR_BUFFER_EXTENTS;
}

/* Reads the first bytes of the buffer at *at. If the rest of a slot is unused there, *at moves to the next slot. An
   abandoned slot has one empty buffer. */
static pfr_status read_begin(pfr_reader *r, uint64_t *at, uint8_t *bytes, size_t *have, pfr_error *err) {
    for (bool was_empty = false;;) {
        PFR_TRY(input_read_at(&r->parts[0].in, *at, bytes, TRACE_PREAMBLE_MOST, have, err));
        if (!was_empty && is_empty(r, bytes, *have)) {
            *at += FDR_METADATA;
            was_empty = true;
        } else if (is_room(r, bytes, *have) && recorder_room_ends(r, *at, at)) {
            was_empty = false;
        } else {
            return PFR_OK;
        }
    }
}

pfr_status xray_buffer_at(pfr_reader *r, uint64_t at, struct xray_buffer *b, pfr_error *err) {
    uint8_t bytes[TRACE_PREAMBLE_MOST];
    size_t have;
    *b = (struct xray_buffer){.tid = 0};
    if (at == XRAY_HEADER)
        PFR_TRY(learn_slots(r, err));
    PFR_TRY(read_begin(r, &at, bytes, &have, err));
    if (have == 0)
        return at == input_size(&r->parts[0].in) && !recorder_missing(r, at) ? PFR_END : PFR_HOLE;
    if (!frame_buffer(r, bytes, have, at, b))
        return PFR_HOLE;
    const size_t skip = (size_t)(b->slice.at - at);
    const uint64_t length = b->slice.end - b->slice.at;
    const size_t inside = length < have - skip ? (size_t)length : have - skip;
    return read_preamble(r, bytes + skip, inside, b) ? PFR_OK : PFR_HOLE;
}

pfr_status xray_buffer_ahead(pfr_reader *r, uint64_t at, uint64_t ahead, struct xray_buffer *b, pfr_error *err) {
    struct input *in = &r->parts[0].in;
    const uint8_t *bytes;
    size_t have;
    input_read_ahead_to(in, ahead);
    PFR_TRY(input_window(in, at, TRACE_PREAMBLE_MOST, &bytes, &have, err));
    return xray_buffer_at(r, at, b, err);
}

/* The first byte of a BufferExtents in this file. */
static uint8_t first_of_extents(const pfr_reader *r) {
    unsigned byte = 0;
    while (fdr_kind_of(r, (uint8_t)byte) != FDR_BUFFER_EXTENTS)
        byte++;
    return (uint8_t)byte;
}

/* Searches the bytes in the read buffer, which begin at `from`. */
static pfr_status look_for_extents(pfr_reader *r, uint64_t from, const uint8_t *bytes, size_t have,
                                   struct xray_buffer *b, uint64_t *at, pfr_error *err) {
    const uint8_t first = first_of_extents(r);
    const uint8_t *next = bytes, *const end = bytes + (have > TRACE_PREAMBLE_MOST ? have - TRACE_PREAMBLE_MOST : 0);
    while (next < end && (next = memchr(next, first, (size_t)(end - next)))) {
        *at = from + (uint64_t)(next - bytes);
        if (fdr_kind_of(r, next[FDR_METADATA]) == FDR_NEW_BUFFER) {
            const pfr_status st = xray_buffer_at(r, *at, b, err);
            if (st <= 0)
                return st;
        }
        next++;
    }
    return PFR_END;
}

pfr_status xray_buffer_near(pfr_reader *r, uint64_t from, uint64_t until, uint64_t like, struct xray_buffer *b,
                            uint64_t *at, pfr_error *err) {
    struct input *in = &r->parts[0].in;
    const size_t most = r->limits.chunk < SIGHT ? (size_t)r->limits.chunk : SIGHT;
    const uint8_t *bytes;
    size_t have;
    *at = from + like - 1 - (from + like - 1 - TRACE_FIRST_BUFFER) % like;
    pfr_status st = *at < until ? xray_buffer_at(r, *at, b, err) : PFR_HOLE;
    if (st <= 0)
        return st;
    if (r->trace->version == 1)
        return PFR_END;
    input_read_ahead_to(in, from + most);
    PFR_TRY(input_window(in, from, most, &bytes, &have, err));
    have = have < until - from ? have : (size_t)(until - from);
    return look_for_extents(r, from, bytes, have, b, at, err);
}
