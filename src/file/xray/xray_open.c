/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace. A profile begins with a magic. Flight-recorder traces and basic logs are recognised by version and
   type, tried in both byte orders. A pair that is valid in one order is invalid in the other (docs/xray-format.md). */
#include "file/xray/xray_open.h"
#include "file/xray/fdr_buffers.h"
#include "file/xray/fdr_records.h"
#include "file/xray/fdr_stride.h"
#include "file/xray/xray_basic.h"
#include "file/xray/xray_profile.h"
#include "file/xray/xray_writer.h"
#include "wire/any_layout.h"

#include <inttypes.h>

#define PROFILE_MAGIC 0x7872617970726f66u
#define PROFILE_VERSION 0x20180424u
#define BASIC_VERSIONS 3u
#define NEAR_VERSIONS 16u /* versions up to this one are reported as unknown versions of a trace */

static const bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

enum { XRAY_BASIC, XRAY_FDR };

static void set_order(pfr_reader *r, bool big) {
    r->header.big_endian = big;
    r->context.swap = big != host_big;
    r->context.mirrored = big;
}

static bool is_log(const uint8_t *bytes, bool swap, uint16_t most_basic, uint16_t most_fdr) {
    const uint16_t version = load_u16(bytes, swap), type = load_u16(bytes + 2, swap);
    return version > 0 && ((type == XRAY_BASIC && version <= most_basic) || (type == XRAY_FDR && version <= most_fdr));
}

/* --- Version and type are only a few bits, and other files also begin with a small number: more of the header is
   checked. */

static bool begins_fdr(const struct pfr_rec_xray_header *h, uint8_t first) {
    const unsigned kind = h->version == 1 ? FDR_NEW_BUFFER : FDR_BUFFER_EXTENTS;
    return first == (kind << 1 | 1) || first == (0x80 | kind);
}

/* The unused bits in the header of a flight-recorder trace are 0; if they are not, the header must be followed by the
   first buffer. */
static bool is_likely_fdr(const pfr_reader *r, const struct pfr_rec_xray_header *h, const uint8_t *bytes, size_t have) {
    const bool flags = r->header.big_endian ? h->noise <= 3 : h->noise == 0;
    return (flags && h->free_form == 0) || have <= XRAY_HEADER || begins_fdr(h, bytes[XRAY_HEADER]);
}

static bool is_basic_record(const pfr_reader *r, const uint8_t *at) {
    const bool swap = r->context.swap, is_call = load_u16(at, swap) == 0 && at[3] <= PFR_TRACE_ENTER_ARGUMENT;
    return is_call && load_u32(at + 4, swap) != 0 && load_u32(at + 16, swap) != 0 && load_u64(at + 24, false) == 0;
}

/* The unused bits in the header of a basic log are arbitrary, so one of the first two records must look like a call. */
static bool is_likely_basic(const pfr_reader *r, const uint8_t *bytes, size_t have) {
    if (have < 3 * XRAY_HEADER) /* too few bytes to judge */
        return true;
    return is_basic_record(r, bytes + XRAY_HEADER) || is_basic_record(r, bytes + 2 * XRAY_HEADER);
}

static bool is_likely(const pfr_reader *r, const uint8_t *bytes, size_t have) {
    struct pfr_rec_xray_header h;
    struct cursor in = cursor_on(bytes, have < XRAY_HEADER ? have : XRAY_HEADER, 0, r->context.swap);
    if (layout_read(layout_at(L_xray_header), &r->context, &in, &h, NULL) != PFR_OK)
        return true; /* shorter than a header; this is reported later */
    if (h.type == XRAY_FDR)
        return is_likely_fdr(r, &h, bytes, have);
    return h.free_form == XRAY_BASIC_MARK || is_likely_basic(r, bytes, have);
}

/* LLVM's reader has a hybrid form: integers are big-endian, but bit fields are laid out as on little-endian
   machines. */
static bool is_hybrid(const pfr_reader *r, const uint8_t *bytes, size_t have) {
    const uint8_t first = r->trace->version == 1 ? FDR_NEW_BUFFER << 1 | 1 : FDR_BUFFER_EXTENTS << 1 | 1;
    return r->header.big_endian && have > XRAY_HEADER && bytes[XRAY_HEADER] == first;
}

/* In a big-endian file, LLVM's reader takes the flags from the two low bits of the flags word. These are the last two
   bits of the member `noise` here. */
static void take_flags(pfr_header *header, const struct pfr_rec_xray_header *h) {
    const bool big = header->big_endian;
    header->constant_tsc = h->constant_tsc || (big && h->noise & 1);
    header->nonstop_tsc = h->nonstop_tsc || (big && h->noise & 2);
}

static pfr_status read_log_header(pfr_reader *r, const uint8_t *bytes, size_t have, pfr_error *err) {
    struct pfr_rec_xray_header h;
    struct cursor in = cursor_on(bytes, XRAY_HEADER, 0, r->context.swap);
    PFR_TRY(layout_read(layout_at(L_xray_header), &r->context, &in, &h, err));
    r->header.format = h.type == XRAY_FDR ? PFR_XRAY_FDR : PFR_XRAY_BASIC;
    r->header.version = r->trace->version = h.version;
    r->header.cycle_frequency = h.cycle_frequency;
    r->trace->clock = (struct xray_clock){.frequency = h.cycle_frequency, .first = UINT64_MAX};
    r->header.buffer_size = h.buffer_size;
    take_flags(&r->header, &h);
    r->context.word[WORD_VERSION] = h.version;
    r->trace->next = h.type == XRAY_FDR ? fdr_next : basic_next;
    if (h.type == XRAY_BASIC) {
        basic_learn(r);
        return PFR_OK;
    }
    r->header.low_bits_first = is_hybrid(r, bytes, have);
    r->context.mirrored = r->header.big_endian && !r->header.low_bits_first;
    r->trace->stride = h.version == 1 && h.buffer_size >= FDR_METADATA ? h.buffer_size : 0;
    fdr_learn(r);
    return h.version == 1 ? fdr_settle_stride(r, err) : PFR_OK;
}

static pfr_status read_profile_header(pfr_reader *r, const uint8_t *bytes, pfr_error *err) {
    struct pfr_rec_profile_header h;
    struct cursor in = cursor_on(bytes, XRAY_HEADER, 0, r->context.swap);
    PFR_TRY(layout_read(layout_at(L_profile_header), &r->context, &in, &h, err));
    r->header.format = PFR_XRAY_PROFILE;
    r->header.version = (uint32_t)h.version;
    r->header.profile_time = h.time;
    r->header.profile_pid = h.pid;
    r->trace->next = profile_next;
    if (h.version != PROFILE_VERSION)
        found(r, 8, 8, "profile_header.version", "a profile of version %#" PRIx64 ", read as %#x", h.version,
              PROFILE_VERSION);
    return PFR_OK;
}

static pfr_status make_trace(pfr_reader *r, const uint8_t *bytes, pfr_error *err) {
    r->trace = arena_zeroed(&r->arena, 1, sizeof *r->trace);
    if (!r->trace)
        return mem_fail(&r->memory, err, "trace");
    r->context.trace = true;
    memcpy(r->trace->header, bytes, XRAY_HEADER);
    u64_map_init(&r->trace->bases, &r->memory);
    return PFR_OK;
}

static pfr_status header_cut(size_t have, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_FORMAT, have, XRAY_HEADER - have, "xray_header",
                    "an XRay trace that ends within its header, at %zu of %u bytes", have, XRAY_HEADER);
}

static pfr_status open_log(pfr_reader *r, const uint8_t *bytes, size_t have, pfr_error *err) {
    if (have < XRAY_HEADER)
        return header_cut(have, err);
    PFR_TRY(make_trace(r, bytes, err));
    return read_log_header(r, bytes, have, err);
}

static pfr_status open_profile(pfr_reader *r, const uint8_t *bytes, size_t have, bool big, pfr_error *err) {
    set_order(r, big);
    if (have < XRAY_HEADER)
        return header_cut(have, err);
    PFR_TRY(make_trace(r, bytes, err));
    return read_profile_header(r, bytes, err);
}

static pfr_status unknown_version(const uint8_t *bytes, bool swap, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_FORMAT, 0, 2, "xray_header.version", "possibly an XRay %s of the unknown version %u",
                    load_u16(bytes + 2, swap) == XRAY_FDR ? "flight-recorder trace" : "basic log",
                    load_u16(bytes, swap));
}

pfr_status xray_recognise(pfr_reader *r, const uint8_t *bytes, size_t have, pfr_error *err) {
    for (int big = 0; big < 2; big++) {
        const bool swap = big != host_big;
        if (have >= 8 && load_u64(bytes, swap) == PROFILE_MAGIC)
            return open_profile(r, bytes, have, big, err);
        set_order(r, big);
        if (have >= 4 && is_log(bytes, swap, BASIC_VERSIONS, FDR_VERSIONS) && is_likely(r, bytes, have))
            return open_log(r, bytes, have, err);
    }
    for (int big = 0; big < 2 && have >= XRAY_HEADER; big++)
        if (is_log(bytes, big != host_big, NEAR_VERSIONS, NEAR_VERSIONS) &&
            !is_log(bytes, big != host_big, BASIC_VERSIONS, FDR_VERSIONS))
            return unknown_version(bytes, big != host_big, err);
    return PFR_END;
}

void xray_rewind(pfr_reader *r) {
    struct xray_trace *t = r->trace;
    r->cursor.at = XRAY_HEADER;
    r->cursor.ended = r->damage.broken_reported = false;
    t->point = (pfr_trace_point){.pid = 0};
    t->buffer = (struct fdr_buffer){.inside = false};
    t->call = (struct basic_call){.any = false};
    t->block_end = 0;
    t->reported = false;
    u64_map_free(&t->bases);
    u64_map_init(&t->bases, &r->memory);
}

pfr_status xray_share(pfr_reader *r, const pfr_reader *whole, pfr_error *err) {
    r->trace = NULL;
    if (!whole->trace)
        return PFR_OK;
    r->trace = arena_zeroed(&r->arena, 1, sizeof *r->trace);
    if (!r->trace)
        return mem_fail(&r->memory, err, "trace");
    *r->trace = *whole->trace;
    u64_map_init(&r->trace->bases, &r->memory);
    r->limits.records = UINT64_MAX;
    return PFR_OK;
}

void xray_close(pfr_reader *r) {
    if (r->trace)
        u64_map_free(&r->trace->bases);
}

const pfr_trace_point *pfr_get_trace_point(const pfr_reader *reader) {
    return reader->trace ? &reader->trace->point : NULL;
}
