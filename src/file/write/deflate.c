/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compresses records into COMPRESSED records; inflate.c is the inverse.
 *
 * Form 1, frames: each COMPRESSED record is one zstd frame with a checksum and holds complete records. Damage to a
 * frame loses only the records in it. A frame must fit in a record (65 527 bytes), and its size is known only after
 * compression. So the amount of input is predicted from the last frame, and a frame that becomes too long is split into
 * halves.
 *
 * Form 2, stream: one zstd stream, flushed at the end of each record, as perf record -z writes it.
 */
#include "file/write/deflate.h"
#include "file/write/writer_part.h"

#include <zstd.h>

#define WAITING_ROOM ((size_t)256 << 10)
#define PACKED_MOST ((size_t)RECORD_MOST - RECORD_HEADER)
#define PACKED_ROOM (RECORD_HEADER + ((size_t)384 << 10))
#define SURE ((size_t)64 << 10) /* input of this size, less 2 KB, fits in a record even if it is incompressible */

static pfr_status no_memory(pfr_writer *w, pfr_error *err) {
    pfr_error why;
    pfr_fail(&why, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, "zstd", "no memory for compressing %.80s", w->name);
    return writer_failed(w, &why, err);
}

static pfr_status refused(pfr_writer *w, size_t code, pfr_error *err) {
    pfr_error why;
    pfr_fail(&why, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, "zstd", "zstd: %s", ZSTD_getErrorName(code));
    return writer_failed(w, &why, err);
}

pfr_status deflate_open(pfr_writer *w, struct deflater *z, pfr_error *err) {
    z->context = ZSTD_createCCtx();
    z->waiting = mem_alloc(&w->memory, WAITING_ROOM, 1);
    z->packed = mem_alloc(&w->memory, PACKED_ROOM, 1);
    z->target = SURE;
    if (!z->context || !z->waiting || !z->packed)
        return no_memory(w, err);
    ZSTD_CCtx_setParameter(z->context, ZSTD_c_compressionLevel, w->level);
    ZSTD_CCtx_setParameter(z->context, ZSTD_c_checksumFlag, w->compression == PFR_ZSTD_FRAMES);
    return PFR_OK;
}

void deflate_close(pfr_writer *w, struct deflater *z) {
    ZSTD_freeCCtx(z->context);
    mem_free(&w->memory, z->waiting, WAITING_ROOM, 1);
    mem_free(&w->memory, z->packed, PACKED_ROOM, 1);
    *z = (struct deflater){.in = z->in, .out = z->out};
}

/* Writes the COMPRESSED record whose content (`length` bytes) is in z->packed, after space for its header. */
static pfr_status put_packed(pfr_writer *w, struct deflater *z, size_t from, size_t length, pfr_error *err) {
    struct output *out = &part_of(w)->out;
    put_u32(z->packed, PFR_RECORD_COMPRESSED, w->context.swap);
    put_u16(z->packed + 4, 0, w->context.swap);
    put_u16(z->packed + 6, (uint16_t)(RECORD_HEADER + length), w->context.swap);
    out_write(out, z->packed, RECORD_HEADER + length);
    z->in += from;
    z->out += length;
    return writer_check(w, err);
}

/* Offset of a record boundary near the middle; 0: there is only one record. */
static size_t middle_of(const pfr_writer *w, const uint8_t *bytes, size_t length) {
    size_t at = 0;
    while (at < length / 2) {
        const uint16_t size = load_u16(bytes + at + 6, w->context.swap);
        if (size < RECORD_HEADER || size > length - at)
            return 0;
        at += size;
    }
    return at < length ? at : 0;
}

/* Predicts how much input to collect: enough to fill nine tenths of a record at the ratio of the last frame. */
static void learn_target(struct deflater *z, size_t from, size_t length) {
    const size_t expected = from * (PACKED_MOST / 10 * 9 / 64) / (length / 64 + 1);
    z->target = expected < SURE ? SURE : expected > WAITING_ROOM ? WAITING_ROOM : expected;
}

/* Writes records as frames, halving them until each fits. A record that does not fit by itself is written uncompressed.
 */
static pfr_status pack_frames(pfr_writer *w, struct deflater *z, const uint8_t *bytes, size_t length, pfr_error *err) {
    const size_t n = ZSTD_compress2(z->context, z->packed + RECORD_HEADER, PACKED_ROOM - RECORD_HEADER, bytes, length);
    if (ZSTD_isError(n))
        return refused(w, n, err);
    if (length >= SURE / 2)
        learn_target(z, length, n);
    if (n <= PACKED_MOST)
        return put_packed(w, z, length, n, err);
    const size_t half = middle_of(w, bytes, length);
    if (!half) {
        out_write(&part_of(w)->out, bytes, length);
        return writer_check(w, err);
    }
    PFR_TRY(pack_frames(w, z, bytes, half, err));
    return pack_frames(w, z, bytes + half, length - half, err);
}

/* Compresses a piece of the stream that is small enough to always fit in one record. */
static pfr_status pack_piece(pfr_writer *w, struct deflater *z, const uint8_t *bytes, size_t length, pfr_error *err) {
    ZSTD_inBuffer in = {bytes, length, 0};
    ZSTD_outBuffer out = {z->packed + RECORD_HEADER, PACKED_MOST, 0};
    const size_t left = ZSTD_compressStream2(z->context, &out, &in, ZSTD_e_flush);
    if (ZSTD_isError(left))
        return refused(w, left, err);
    PFR_TRY(put_packed(w, z, length, out.pos, err));
    return left == 0 && in.pos == length ? PFR_OK : refused(w, (size_t)-1, err);
}

static pfr_status pack_stream(pfr_writer *w, struct deflater *z, pfr_error *err) {
    const size_t most = SURE - 2048;
    for (size_t at = 0; at < z->used; at += most)
        PFR_TRY(pack_piece(w, z, z->waiting + at, z->used - at < most ? z->used - at : most, err));
    return PFR_OK;
}

pfr_status deflate_flush(pfr_writer *w, pfr_error *err) {
    struct deflater *z = &part_of(w)->deflater;
    if (z->used == 0)
        return PFR_OK;
    const pfr_status s =
        w->compression == PFR_ZSTD_STREAM ? pack_stream(w, z, err) : pack_frames(w, z, z->waiting, z->used, err);
    z->used = 0;
    return s;
}

/* Number of bytes of complete records, counted from `bytes` on, that fit in `room`. */
static size_t that_fit(const pfr_writer *w, const uint8_t *bytes, size_t length, size_t room) {
    size_t at = 0;
    if (length <= room)
        return length;
    while (at < length) {
        const uint16_t size = load_u16(bytes + at + 6, w->context.swap);
        if (size < RECORD_HEADER || size > room - at)
            break;
        at += size;
    }
    return at;
}

pfr_status deflate_records(pfr_writer *w, const uint8_t *bytes, size_t length, pfr_error *err) {
    struct deflater *z = &part_of(w)->deflater;
    while (length > 0) {
        const size_t n = z->used < z->target ? that_fit(w, bytes, length, z->target - z->used) : 0;
        memcpy(z->waiting + z->used, bytes, n);
        z->used += n;
        bytes += n;
        length -= n;
        if (length > 0)
            PFR_TRY(deflate_flush(w, err));
    }
    return PFR_OK;
}
