/* SPDX-License-Identifier: Apache-2.0 */
/*
 * COMPRESSED and COMPRESSED2 records: a single zstd stream continues through all such records of a file, and a record
 * inside the stream may be split between two of them. So the zstd context lives as long as the file, and an incomplete
 * record stays in the buffer until later output completes it (docs/perf-data-format.md, compression).
 */
#include "base/io/unpack.h"
#include "file/read/inflate.h"

#include <zstd.h>
#include <zstd_errors.h>

void inflater_close(struct inflater *z, struct memory *memory) {
    ZSTD_freeDStream(z->stream);
    mem_free(memory, z->buffer, z->capacity, 1);
    *z = (struct inflater){0};
}

void inflater_rewind(struct inflater *z) {
    if (z->stream)
        ZSTD_DCtx_reset(z->stream, ZSTD_reset_session_only);
    z->at = z->length = 0;
    z->start = 0;
    z->hint = 0;
    z->broken = false;
}

static pfr_status make_stream(pfr_reader *r, struct inflater *z, pfr_error *err) {
    if (z->stream)
        return PFR_OK;
    z->stream = ZSTD_createDStream();
    if (!z->stream)
        return pfr_fail(err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, "zstd", "no memory for a zstd context");
    const int window_log = 63 - __builtin_clzll(r->limits.window); /* the range that zstd accepts */
    ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax, window_log > 31 ? 31 : window_log < 10 ? 10 : window_log);
    return PFR_OK;
}

/* Discards the bytes already returned and moves the others to the front. */
static void drop_used(struct inflater *z) {
    if (z->at > 0)
        memmove(z->buffer, z->buffer + z->at, z->length - z->at);
    z->start += z->at;
    z->length -= z->at;
    z->at = 0;
}

/* A COMPRESSED record with too much output is a hole, like one that cannot be decompressed; the records before it are
   kept. */
static pfr_status too_much(pfr_reader *r, struct inflater *z, uint64_t produced, uint64_t offset, pfr_error *err) {
    z->broken = true;
    z->length -= (size_t)produced;
    return pfr_fail(err, PFR_HOLE, offset, 0, "zstd_output_per_record",
                    "the COMPRESSED record expands to more than %llu bytes (limit zstd_output_per_record)",
                    (unsigned long long)r->limits.zstd_output_per_record);
}

static pfr_status more_room(pfr_reader *r, struct inflater *z, uint64_t produced, uint64_t offset, pfr_error *err) {
    if (produced > r->limits.zstd_output_per_record)
        return too_much(r, z, produced, offset, err);
    if (z->length < z->capacity)
        return PFR_OK;
    const size_t capacity = z->capacity ? z->capacity * 2 : (size_t)256 << 10;
    uint8_t *buffer = mem_resize(&r->memory, z->buffer, z->capacity, capacity, 1);
    if (!buffer)
        return mem_fail(&r->memory, err, "zstd output");
    z->buffer = buffer;
    z->capacity = capacity;
    return PFR_OK;
}

static pfr_status broken(const pfr_reader *r, size_t code, pfr_bytes from, size_t at, uint64_t offset, pfr_error *err) {
    if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge)
        return pfr_fail(err, PFR_HOLE, offset, from.length, "window",
                        "zstd data that require more history than the limit window allows (%llu bytes)",
                        (unsigned long long)r->limits.window);
    return pfr_fail(err, PFR_HOLE, offset, from.length, "compressed", "zstd data at byte %zu of %llu: %s", at,
                    (unsigned long long)from.length, ZSTD_getErrorName(code));
}

/* Limit for the output of one record: the end of the buffer, or one byte past the limit on its output, so that an
   output above the limit is detected. */
static size_t room_for(const pfr_reader *r, const struct inflater *z, size_t before) {
    const uint64_t most = r->limits.zstd_output_per_record;
    return z->capacity - before > most ? before + (size_t)most + 1 : z->capacity;
}

static bool starts_frame(pfr_bytes from) {
    return from.length >= 4 && load_u32(from.at, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) == ZSTD_MAGICNUMBER;
}

/* Limits the output of all records together: each may stay below its own limit while the sum becomes thousands of times
   the size of the file. If the ratio is exceeded, the part ends. */
static pfr_status check_ratio(pfr_reader *r, uint64_t offset, pfr_error *err) {
    if (r->cursor.unpacked <= UNPACK_FREE_OUTPUT || r->cursor.unpacked / r->limits.ratio <= r->cursor.packed)
        return PFR_OK;
    r->cursor.ended = true;
    return pfr_fail(err, PFR_HOLE, offset, 0, "ratio",
                    "%llu bytes of COMPRESSED records expanded to %llu: more than the limit ratio (%llu) allows; the "
                    "rest is not read",
                    (unsigned long long)r->cursor.packed, (unsigned long long)r->cursor.unpacked,
                    (unsigned long long)r->limits.ratio);
}

pfr_status inflate_record(pfr_reader *r, struct inflater *z, pfr_bytes from, uint64_t offset, pfr_error *err) {
    r->cursor.packed += from.length;
    const pfr_status allowed = check_ratio(r, offset, err);
    if (allowed != PFR_OK)
        return allowed;
    PFR_TRY(make_stream(r, z, err));
    if (z->broken) {
        if (!starts_frame(from))
            return pfr_fail(err, PFR_HOLE, offset, from.length, "compressed",
                            "zstd data after a damaged range cannot be decompressed before the next frame");
        inflater_rewind(z);
    }
    drop_used(z);
    const size_t before = z->length;
    ZSTD_inBuffer in = {from.at, 0, 0};
    bool more = true;
    while (in.pos < from.length || more) {
        const pfr_status s = more_room(r, z, z->length - before, offset, err);
        if (s != PFR_OK)
            return s;
        in.size = in.pos + unpack_zstd_piece(from.at + in.pos, from.length - in.pos, z->hint);
        ZSTD_outBuffer out = {z->buffer, room_for(r, z, before), z->length};
        const size_t in_before = in.pos;
        const size_t hint = ZSTD_decompressStream(z->stream, &out, &in);
        r->cursor.unpacked += out.pos - z->length;
        if (ZSTD_isError(hint)) {
            z->broken = true;
            if (ZSTD_getErrorCode(hint) == ZSTD_error_checksum_wrong) /* any byte of the output may be wrong */
                z->length = before;
            return broken(r, hint, from, in.pos, offset, err);
        }
        z->hint = hint;
        more = out.pos == out.size; /* the buffer is full: zstd may hold more output */
        if (out.pos == z->length && in.pos == in_before)
            more = false;
        z->length = out.pos;
        if (!more && in.pos == in_before && in.pos < from.length)
            break;
    }
    return PFR_OK;
}
