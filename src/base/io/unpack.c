/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A common interface to three libraries. Each has a step function, which consumes raw bytes, produces decoded bytes and
 * reports whether a member (gzip), stream (xz) or frame (zstd) ended. The loop around it reads more raw bytes and
 * starts the next member. If the raw bytes end between two members the input is complete; if they end inside one it is
 * truncated.
 */
#include <assert.h>
#include <inttypes.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>
#include "base/memory/fail.h"
#include "base/memory/library_memory.h"
#include "base/memory/sizes.h"
#include "base/io/unpack.h"

#define ZSTD_FIRST_BYTES ((size_t)5) /* bytes needed to recognise a frame */
#define ZSTD_BLOCK_HEADER ((size_t)3)
#define XZ_EXTRA_MEMORY ((uint64_t)1 << 20) /* memory that xz needs besides its dictionary */

enum step { STEP_MORE, STEP_MEMBER_END, STEP_BROKEN, STEP_WINDOW, STEP_NO_MEMORY };

struct codec;

struct unpacker {
    const struct codec *codec;
    struct memory *memory;
    struct unpack_source source;
    uint64_t window, ratio;
    uint64_t raw, out;  /* bytes consumed, bytes produced */
    uint64_t charged;   /* bytes of the zstd context, counted in `memory` */
    size_t at, have;    /* bytes used, bytes present in `input` */
    bool ended;         /* the source has no more bytes */
    bool inside;        /* a member has begun and not ended */
    enum step failed;   /* result of the step that failed; unpack_read reports it once it has returned the bytes decoded
                           before the failure. STEP_MORE: no failure */
    size_t hint;        /* zstd: bytes that libzstd asks for next */
    const char *reason; /* the library's message, static text */
    union {
        z_stream gzip;
        lzma_stream xz;
        ZSTD_DStream *zstd;
    } state;
    lzma_allocator xz_allocator;
    uint8_t input[UNPACK_INPUT];
};

struct codec {
    const char *name, *where;
    bool zero_padded; /* zeros are allowed between and after members */
    bool (*open)(struct unpacker *u);
    void (*close)(struct unpacker *u);
    enum step (*step)(struct unpacker *u, uint8_t *to, size_t room, size_t *got);
};

static void *gzip_allocate(void *memory, unsigned count, unsigned size) {
    return library_allocate(memory, count, size);
}

static void gzip_free(void *memory, void *at) {
    library_free(memory, at);
}

static bool gzip_open(struct unpacker *u) {
    u->state.gzip = (z_stream){.zalloc = gzip_allocate, .zfree = gzip_free, .opaque = u->memory};
    return inflateInit2(&u->state.gzip, 15 + 16) == Z_OK; /* largest window, gzip header and trailer */
}

static void gzip_close(struct unpacker *u) {
    inflateEnd(&u->state.gzip);
}

static enum step gzip_step(struct unpacker *u, uint8_t *to, size_t room, size_t *got) {
    z_stream *z = &u->state.gzip;
    z->next_in = u->input + u->at;
    z->avail_in = (unsigned)(u->have - u->at);
    z->next_out = to;
    z->avail_out = room < UINT32_MAX ? (unsigned)room : UINT32_MAX;
    const int result = inflate(z, Z_NO_FLUSH);
    u->at = u->have - z->avail_in;
    *got = (size_t)(z->next_out - to);
    if (result == Z_STREAM_END)
        return inflateReset(z) == Z_OK ? STEP_MEMBER_END : STEP_BROKEN;
    if (result == Z_OK || result == Z_BUF_ERROR)
        return STEP_MORE;
    u->reason = z->msg ? z->msg : "it needs a dictionary";
    return result == Z_MEM_ERROR ? STEP_NO_MEMORY : STEP_BROKEN;
}

static void *xz_allocate(void *memory, size_t count, size_t size) {
    return library_allocate(memory, count, size);
}

static void xz_free(void *memory, void *at) {
    library_free(memory, at);
}

static bool xz_begin(struct unpacker *u) {
    return lzma_stream_decoder(&u->state.xz, u->window + XZ_EXTRA_MEMORY, LZMA_TELL_UNSUPPORTED_CHECK) == LZMA_OK;
}

static bool xz_open(struct unpacker *u) {
    u->xz_allocator = (lzma_allocator){xz_allocate, xz_free, u->memory};
    u->state.xz = (lzma_stream)LZMA_STREAM_INIT;
    u->state.xz.allocator = &u->xz_allocator;
    return xz_begin(u);
}

static void xz_close(struct unpacker *u) {
    lzma_end(&u->state.xz);
}

static enum step xz_outcome(struct unpacker *u, lzma_ret result) {
    switch (result) {
    case LZMA_OK:
    case LZMA_BUF_ERROR:
        return STEP_MORE;
    case LZMA_STREAM_END:
        return xz_begin(u) ? STEP_MEMBER_END : STEP_NO_MEMORY;
    case LZMA_MEM_ERROR:
        return STEP_NO_MEMORY;
    case LZMA_MEMLIMIT_ERROR:
        return STEP_WINDOW;
    case LZMA_UNSUPPORTED_CHECK:
        u->reason = "its type of checksum is not supported";
        return STEP_BROKEN;
    case LZMA_OPTIONS_ERROR:
        u->reason = "it uses a filter that is not supported";
        return STEP_BROKEN;
    default:
        u->reason = "the data is corrupt";
        return STEP_BROKEN;
    }
}

static enum step xz_step(struct unpacker *u, uint8_t *to, size_t room, size_t *got) {
    lzma_stream *xz = &u->state.xz;
    xz->next_in = u->input + u->at;
    xz->avail_in = u->have - u->at;
    xz->next_out = to;
    xz->avail_out = room;
    const lzma_ret result = lzma_code(xz, LZMA_RUN);
    u->at = u->have - xz->avail_in;
    *got = room - xz->avail_out;
    return xz_outcome(u, result);
}

static int floor_log2(uint64_t value) {
    return 63 - __builtin_clzll(value | 1);
}

static bool zstd_open(struct unpacker *u) {
    u->state.zstd = ZSTD_createDStream();
    if (!u->state.zstd) {
        u->memory->failed = PFR_ERR_MEMORY;
        u->memory->wanted = 0;
        return false;
    }
    const ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    int log = floor_log2(u->window);
    log = log < bounds.lowerBound ? bounds.lowerBound : log > bounds.upperBound ? bounds.upperBound : log;
    ZSTD_DCtx_setParameter(u->state.zstd, ZSTD_d_windowLogMax, log);
    return true;
}

static void zstd_close(struct unpacker *u) {
    ZSTD_freeDStream(u->state.zstd);
    mem_discharge(u->memory, u->charged);
}

/* libzstd allocates its context with malloc; the size of the context is charged here after each step. */
static bool zstd_count_memory(struct unpacker *u) {
    const uint64_t held = ZSTD_sizeof_DStream(u->state.zstd);
    if (held > u->charged && !mem_charge(u->memory, held - u->charged))
        return false;
    if (held < u->charged)
        mem_discharge(u->memory, u->charged - held);
    u->charged = held;
    return true;
}

static enum step zstd_failure(struct unpacker *u, size_t result) {
    u->reason = ZSTD_getErrorName(result);
    if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
        return STEP_WINDOW;
    if (ZSTD_getErrorCode(result) != ZSTD_error_memory_allocation)
        return STEP_BROKEN;
    u->memory->failed = PFR_ERR_MEMORY;
    u->memory->wanted = 0;
    return STEP_NO_MEMORY;
}

size_t unpack_zstd_piece(const uint8_t *bytes, size_t length, size_t hint) {
    static const uint8_t rest[] = {0xb5, 0x2f, 0xfd};
    const bool is_old = length > sizeof rest && bytes[0] != 0x28 && memcmp(bytes + 1, rest, sizeof rest) == 0;
    const size_t wanted = hint > ZSTD_BLOCK_HEADER ? hint - ZSTD_BLOCK_HEADER : hint ? hint : ZSTD_FIRST_BYTES;
    return is_old ? 1 : length < wanted ? length : wanted;
}

/* After a failure libzstd's output position is not valid, so *got is set only on success. */
static enum step zstd_step(struct unpacker *u, uint8_t *to, size_t room, size_t *got) {
    const uint8_t *at = u->input + u->at;
    ZSTD_inBuffer in = {at, unpack_zstd_piece(at, u->have - u->at, u->hint), 0};
    ZSTD_outBuffer out = {to, room, 0};
    const size_t result = ZSTD_decompressStream(u->state.zstd, &out, &in);
    u->at += in.pos;
    if (ZSTD_isError(result))
        return zstd_failure(u, result);
    *got = out.pos;
    u->hint = result;
    if (!zstd_count_memory(u))
        return STEP_NO_MEMORY;
    return result == 0 ? STEP_MEMBER_END : STEP_MORE;
}

static const struct codec codecs[] = {
    [UNPACK_GZIP] = {"gzip", "input.gz", true, gzip_open, gzip_close, gzip_step},
    [UNPACK_XZ] = {"xz", "input.xz", true, xz_open, xz_close, xz_step},
    [UNPACK_ZSTD] = {"zstd", "input.zst", false, zstd_open, zstd_close, zstd_step},
};

enum unpack_kind unpack_recognise(const uint8_t *bytes, size_t length) {
    static const uint8_t gzip[] = {0x1f, 0x8b}, xz[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd}, skippable[] = {0x2a, 0x4d, 0x18};
    if (length >= sizeof gzip && memcmp(bytes, gzip, sizeof gzip) == 0)
        return UNPACK_GZIP;
    if (length >= sizeof xz && memcmp(bytes, xz, sizeof xz) == 0)
        return UNPACK_XZ;
    if (length >= sizeof zstd && memcmp(bytes, zstd, sizeof zstd) == 0)
        return UNPACK_ZSTD;
    if (length >= 4 && bytes[0] >> 4 == 5 && memcmp(bytes + 1, skippable, sizeof skippable) == 0)
        return UNPACK_ZSTD;
    return UNPACK_NONE;
}

struct unpacker *unpack_open(enum unpack_kind kind, struct memory *memory, const pfr_limits *limits,
                             struct unpack_source source, pfr_error *err) {
    struct unpacker *u = mem_alloc(memory, 1, sizeof *u);
    if (!u) {
        mem_fail(memory, err, "input");
        return NULL;
    }
    memset(u, 0, offsetof(struct unpacker, input));
    u->codec = &codecs[kind];
    u->memory = memory;
    u->source = source;
    u->window = limits->window;
    u->ratio = limits->ratio;
    if (u->codec->open(u))
        return u;
    mem_fail(memory, err, u->codec->where);
    mem_free(memory, u, 1, sizeof *u);
    return NULL;
}

void unpack_close(struct unpacker *u) {
    if (!u)
        return;
    u->codec->close(u);
    mem_free(u->memory, u, 1, sizeof *u);
}

void unpack_prime(struct unpacker *u, const uint8_t *bytes, size_t length) {
    assert(length <= UNPACK_INPUT && u->have == 0);
    memcpy(u->input, bytes, length);
    u->have = length;
}

static pfr_status read_raw(struct unpacker *u, pfr_error *err) {
    u->at = u->have = 0;
    PFR_TRY(u->source.read(u->source.context, u->input, sizes.unpack_input, &u->have, err));
    u->ended = u->have == 0;
    return PFR_OK;
}

/* Between members: finds the next one, skipping padding. PFR_END at the end of the input. */
static pfr_status find_member(struct unpacker *u, pfr_error *err) {
    for (;;) {
        while (u->codec->zero_padded && u->raw && u->at < u->have && u->input[u->at] == 0) {
            u->at++;
            u->raw++;
        }
        if (u->at < u->have)
            return PFR_OK;
        if (u->ended)
            return PFR_END;
        PFR_TRY(read_raw(u, err));
    }
}

static pfr_status report_broken(const struct unpacker *u, pfr_error *err) {
    const char *name = u->codec->name, *where = u->codec->where;
    if (u->failed == STEP_NO_MEMORY)
        return mem_fail(u->memory, err, where);
    if (u->failed == STEP_WINDOW)
        return pfr_fail(err, PFR_ERR_LIMIT, u->out, 0, where,
                        "the %s stream requires more history than the limit window allows (%" PRIu64 " bytes)", name,
                        u->window);
    return pfr_fail(err, PFR_HOLE, u->out, 0, where, "the %s stream is broken at byte %" PRIu64 " of the file: %s",
                    name, u->raw, u->reason ? u->reason : "unexpected data");
}

static pfr_status report_cut(const struct unpacker *u, pfr_error *err) {
    return pfr_fail(err, PFR_HOLE, u->out, 0, u->codec->where, "the %s stream is truncated after %" PRIu64 " bytes",
                    u->codec->name, u->raw);
}

static pfr_status check_ratio(const struct unpacker *u, pfr_error *err) {
    if (u->out <= UNPACK_FREE_OUTPUT || u->out / u->ratio <= u->raw)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_LIMIT, u->out, 0, u->codec->where,
                    "%" PRIu64 " bytes expanded to %" PRIu64 ": more than the limit ratio (%" PRIu64 ") allows", u->raw,
                    u->out, u->ratio);
}

pfr_status unpack_read(struct unpacker *u, uint8_t *to, size_t room, size_t *got, pfr_error *err) {
    *got = 0;
    while (u->failed == STEP_MORE) {
        if (!u->inside) {
            const pfr_status found = find_member(u, err);
            if (found != PFR_OK)
                return found;
        } else if (u->at == u->have && !u->ended) {
            PFR_TRY(read_raw(u, err));
        }
        const size_t before = u->at;
        const enum step step = u->codec->step(u, to, room, got);
        u->raw += u->at - before;
        u->out += *got;
        u->inside = step != STEP_MEMBER_END;
        if (step > STEP_MEMBER_END)
            u->failed = step;
        if (*got)
            return check_ratio(u, err);
        if (step == STEP_MORE && u->ended && u->at == u->have)
            return report_cut(u, err);
    }
    return report_broken(u, err);
}
