/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The distance between buffers of version 1. Only the file header states it, and it may be wrong. If buffers begin at
 * every multiple of another distance, and the stated distance does not explain them, the other distance is used. Only
 * the first megabyte is examined, so that a stream and a file give the same result.
 */
#include "file/xray/fdr_stride.h"

#include <inttypes.h>

#define SIGHT ((size_t)1 << 20)
#define PREAMBLE (2 * FDR_METADATA)
#define MICROSECONDS 1000000u

struct buffers_seen {
    const pfr_reader *r;
    const uint8_t *bytes; /* the trace from its first buffer on */
    size_t length;
};

/* Whether a buffer begins at `at`: a NewBuffer and a WallClockTime with a plausible time. */
static bool begins_at(const struct buffers_seen *s, uint64_t at) {
    if (at > s->length || s->length - at < PREAMBLE)
        return false;
    const uint8_t *bytes = s->bytes + at;
    const struct fdr_places *p = &s->r->trace->places;
    return fdr_kind_of(s->r, bytes[0]) == FDR_NEW_BUFFER &&
           fdr_kind_of(s->r, bytes[FDR_METADATA]) == FDR_WALL_CLOCK_TIME &&
           load_u32(bytes + FDR_METADATA + p->microseconds, s->r->context.swap) < MICROSECONDS;
}

/* If a buffer begins at every visible multiple of the distance, returns their number; else 0. */
static uint64_t recurs(const struct buffers_seen *s, uint64_t distance) {
    uint64_t count = 0;
    for (uint64_t at = distance; at + PREAMBLE <= s->length; at += distance, count++)
        if (!begins_at(s, at))
            return 0;
    return count;
}

/* The smallest distance that recurs; 0: not found. */
static uint64_t find_stride(const struct buffers_seen *s, uint64_t *count) {
    for (uint64_t at = PREAMBLE; at + PREAMBLE <= s->length; at++)
        if (begins_at(s, at) && (*count = recurs(s, at)) > 0)
            return at;
    return 0;
}

/* Whether a buffer begins at a multiple of the stated distance that is not a multiple of `found`. */
static bool has_its_own(const struct buffers_seen *s, uint64_t said, uint64_t found) {
    for (uint64_t at = said; at + PREAMBLE <= s->length; at += said)
        if (at % found != 0 && begins_at(s, at))
            return true;
    return false;
}

/* Whether `found`, which recurs `count` times, replaces the stated distance. */
static bool is_meant(const struct buffers_seen *s, uint64_t said, uint64_t found, uint64_t count) {
    if (said == 0) /* buffers then end with EndOfBuffer and follow each other directly, unless filler separates them */
        return fdr_kind_of(s->r, s->bytes[found - FDR_METADATA]) != FDR_END_OF_BUFFER;
    if (found < said)
        return count > 1 || !begins_at(s, said);
    return !has_its_own(s, said, found) && (count > 1 || found % said != 0);
}

pfr_status fdr_settle_stride(pfr_reader *r, pfr_error *err) {
    struct xray_trace *t = r->trace;
    struct buffers_seen s = {.r = r};
    const size_t most = r->limits.chunk < SIGHT ? (size_t)r->limits.chunk : SIGHT;
    uint64_t count;
    size_t have;
    PFR_TRY(input_window(&r->parts[0].in, 0, most, &s.bytes, &have, err));
    if (have < XRAY_HEADER)
        return PFR_OK;
    s.length = (have < most ? have : most) - XRAY_HEADER;
    s.bytes += XRAY_HEADER;
    const uint64_t stride = begins_at(&s, 0) ? find_stride(&s, &count) : 0;
    if (stride == 0 || stride == t->stride || !is_meant(&s, t->stride, stride, count))
        return PFR_OK;
    found(r, 16, 8, "xray_header.buffer_size",
          "a size of %" PRIu64 " bytes, but a buffer begins every %" PRIu64 " bytes", r->header.buffer_size, stride);
    t->stride = stride;
    return PFR_OK;
}
