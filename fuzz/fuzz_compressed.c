/* SPDX-License-Identifier: Apache-2.0 */
/*
 * COMPRESSED and COMPRESSED2 in a stream with one event. A piece of the zstd stream may end anywhere, so its division
 * into records must not matter: if the stream is valid, it always yields the same records.
 */
#include "fuzz.h"

#include <stdlib.h>

#define HEADER 16u
#define ATTR 128u
#define ATTR_RECORD (8u + ATTR + 8u) /* header, attr, one id */
#define PIECES_MOST 16u

/* A stream that is being written; everything is little-endian. */
struct stream {
    uint8_t *bytes;
    size_t length;
};

static void put(struct stream *to, unsigned width, uint64_t v) {
    for (unsigned i = 0; i < width; i++)
        to->bytes[to->length++] = (uint8_t)(v >> 8 * i);
}

static void put_header(struct stream *to, unsigned type, size_t body) {
    put(to, 4, type);
    put(to, 2, 0);
    put(to, 2, 8 + body);
}

static void put_start(struct stream *to) {
    memcpy(to->bytes, "PERFILE2", 8);
    to->length = 8;
    put(to, 8, HEADER);
    put_header(to, PFR_RECORD_ATTR, ATTR_RECORD - 8);
    const size_t attr = to->length;
    put(to, 8, (uint64_t)ATTR << 32 | 1);
    to->length = attr + 24;
    put(to, 8, 0x107);
    to->length = attr + 40;
    put(to, 8, 1u << 18); /* sample_id_all */
    to->length = attr + ATTR;
    put(to, 8, 7);
}

static void put_piece(struct stream *to, bool padded, const uint8_t *at, size_t length) {
    const size_t pad = padded ? -length % 8 : 0;
    put_header(to, padded ? PFR_RECORD_COMPRESSED2 : PFR_RECORD_COMPRESSED, (padded ? 8 : 0) + length + pad);
    if (padded)
        put(to, 8, length);
    if (length)
        memcpy(to->bytes + to->length, at, length);
    to->length += length + pad;
}

static struct stream make_stream(const uint8_t *bytes, size_t length, size_t piece, bool padded) {
    const size_t pieces = length / piece + 1;
    struct stream s = {calloc(HEADER + ATTR_RECORD + length + pieces * 24, 1), 0};
    LAW(s.bytes, "no memory");
    put_start(&s);
    for (size_t at = 0; at < length; at += piece)
        put_piece(&s, padded, bytes + at, length - at < piece ? length - at : piece);
    return s;
}

static struct walked walk(const uint8_t *bytes, size_t length, size_t piece, bool padded) {
    static const pfr_open_options options = {.size = sizeof options, .limits = &fuzz_limits};
    struct stream s = make_stream(bytes, length, piece, padded);
    pfr_error err;
    pfr_reader *reader = pfr_open_bytes(s.bytes, s.length, &options, &err);
    LAW(reader, "the stream does not open: %s", err.text);
    const struct walked walked = fuzz_walk(reader, s.length);
    pfr_close(reader);
    free(s.bytes);
    return walked;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const bool padded = fuzz_last(bytes, &length) & 1;
    const size_t pieces = 1 + fuzz_last(bytes, &length) % PIECES_MOST;
    if (length == 0)
        return 0;
    const struct walked whole = walk(bytes, length, length, padded);
    const struct walked cut = walk(bytes, length, length / pieces + 1, !padded);
    if (whole.holes == 0 && whole.status == PFR_END)
        LAW(cut.holes == 0 && cut.status == PFR_END && cut.inside == whole.inside && cut.inside_sum == whole.inside_sum,
            "%ju records inside, cut into pieces %ju, and %ju holes", (uintmax_t)whole.inside, (uintmax_t)cut.inside,
            (uintmax_t)cut.holes);
    return 0;
}
