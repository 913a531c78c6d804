/* SPDX-License-Identifier: Apache-2.0 */
/*
 * COMPRESSED and COMPRESSED2: one zstd stream through all such records of a file, records that cross their boundaries,
 * and damage. Each recording here has the same plain records, split into pieces at any place.
 */
#include "recording_builder.h"

#include <zstd.h>

enum { PLAIN_SAMPLES = 40, COMPRESSED = 81, COMPRESSED2 = 83, LIMIT = 1 << 16 };

struct form {
    uint32_t type;
    size_t piece; /* plain bytes per COMPRESSED record */
    bool frames;  /* each record is a frame; otherwise one flushed stream */
    unsigned bad; /* number of the record with damaged bytes, from 1; 0: all are intact */
    bool big, pipe;
};

static struct builder plain_records(bool big) {
    struct builder b = {.big = big};
    for (unsigned i = 0; i < PLAIN_SAMPLES; i++)
        i % 5 ? put_sample(&b, 0x1000 + i, 0) : put_comm(&b, i + 1, "a name of some length", 0);
    return b;
}

static void put_compressed(struct builder *b, const struct form *form, const uint8_t *zstd, size_t length) {
    const size_t said = form->type == COMPRESSED2 ? 8 : 0, pad = said ? (8 - length % 8) % 8 : 0;
    put_head(b, form->type, 0, 8 + said + length + pad);
    if (said)
        put_number(b, length, 8);
    put_bytes(b, zstd, length);
    put_room(b, pad);
}

static struct builder compress_records(const struct form *form) {
    struct builder b = {.big = form->big}, plain = plain_records(form->big);
    uint8_t out[4096];
    ZSTD_CCtx *z = ZSTD_createCCtx();
    unsigned number = 0;
    form->pipe ? begin_pipe(&b, 1) : begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    for (size_t at = 0; at < plain.length; at += form->piece) {
        const size_t left = plain.length - at, take = left < form->piece ? left : form->piece;
        ZSTD_inBuffer from = {plain.bytes + at, take, 0};
        ZSTD_outBuffer to = {out, sizeof out, 0};
        assert_int_equal(ZSTD_compressStream2(z, &to, &from, form->frames ? ZSTD_e_end : ZSTD_e_flush), 0);
        if (++number == form->bad)
            memset(out, 0x5a, to.pos);
        put_compressed(&b, form, out, to.pos);
    }
    if (!form->pipe)
        end_file(&b);
    ZSTD_freeCCtx(z);
    free(plain.bytes);
    return b;
}

/* An outer record is returned before the records inside it. An inner record has two offsets: that of the outer record,
   and its own in the decompressed output. */
static struct tally read_form(const struct form *form, uint64_t *sum_inside) {
    struct builder b = compress_records(form);
    pfr_reader *r = open_built(&b, NULL);
    struct tally t = {0};
    pfr_record rec;
    pfr_error err;
    uint64_t outer = 0, place = 0;
    *sum_inside = 0;
    while ((t.last = pfr_next(r, &rec, &err)) >= 0 && t.last != PFR_END) {
        if (t.last == PFR_HOLE) {
            t.holes++;
            continue;
        }
        if (rec.type == form->type)
            outer = rec.offset;
        if (!rec.inside)
            continue;
        if (form->bad == 0)
            assert_int_equal(rec.inner, place);
        assert_int_equal(rec.offset, outer);
        place += rec.size;
        t.inside++;
        *sum_inside = mix_bytes(*sum_inside, rec.bytes, rec.size);
    }
    pfr_close(r);
    free(b.bytes);
    return t;
}

static uint64_t sum_of_plain(bool big) {
    struct builder plain = plain_records(big);
    const uint64_t sum = mix_bytes(0, plain.bytes, plain.length);
    free(plain.bytes);
    return sum;
}

TEST(records_cross_compressed_records_at_any_byte) {
    for (size_t piece = 1; piece < 200; piece = piece < 48 ? piece + 1 : piece + 13)
        for (unsigned variant = 0; variant < 16; variant++) {
            const struct form form = {.type = variant & 1 ? COMPRESSED2 : COMPRESSED,
                                      .piece = piece,
                                      .frames = variant & 2,
                                      .big = variant & 4,
                                      .pipe = variant & 8};
            uint64_t sum;
            const struct tally t = read_form(&form, &sum);
            assert_int_equal(t.last, PFR_END);
            assert_int_equal(t.holes, 0);
            assert_int_equal(t.inside, PLAIN_SAMPLES);
            assert_int_equal(sum, sum_of_plain(form.big));
        }
}

TEST(a_broken_frame_loses_only_its_records) {
    const struct form form = {.type = COMPRESSED, .piece = 40 * 16, .frames = true, .bad = 2};
    uint64_t sum;
    const struct tally t = read_form(&form, &sum);
    assert_int_equal(t.last, PFR_END);
    assert_true(t.holes >= 1);
    assert_true(t.inside > 0 && t.inside < PLAIN_SAMPLES);
}

TEST(a_damaged_stream_is_reported_and_earlier_data_is_returned) {
    const struct form form = {.type = COMPRESSED, .piece = 320, .bad = 3};
    uint64_t sum;
    const struct tally t = read_form(&form, &sum);
    assert_int_equal(t.last, PFR_END);
    assert_true(t.holes >= 1);
    assert_true(t.inside >= 10 && t.inside < PLAIN_SAMPLES);
}

/* One record with two stored blocks, the second of which has a type that no zstd version knows. */
TEST(a_broken_block_loses_nothing_of_the_previous_block) {
    struct builder plain = plain_records(false), b = {0};
    uint8_t zstd[4096] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38};
    const uint32_t stored = (uint32_t)plain.length << 3, unknown = 3u << 1 | 64u << 3;
    struct tally t = {0};
    pfr_record rec;
    pfr_error err;
    for (unsigned i = 0; i < 3; i++) {
        zstd[6 + i] = (uint8_t)(stored >> 8 * i);
        zstd[9 + plain.length + i] = (uint8_t)(unknown >> 8 * i);
    }
    memcpy(zstd + 9, plain.bytes, plain.length);
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_compressed(&b, &(struct form){.type = COMPRESSED}, zstd, 9 + plain.length + 3 + 64);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    while ((t.last = pfr_next(r, &rec, &err)) >= 0 && t.last != PFR_END) {
        t.holes += t.last == PFR_HOLE;
        t.inside += t.last == PFR_OK && rec.inside;
    }
    assert_int_equal(t.inside, PLAIN_SAMPLES);
    assert_int_equal(t.holes, 1);
    pfr_close(r);
    free(b.bytes);
    free(plain.bytes);
}

static uint8_t *zeros_compressed(size_t plain, size_t *length) {
    uint8_t *zeros = calloc(plain, 1), *out = malloc(LIMIT);
    *length = ZSTD_compress(out, LIMIT, zeros, plain, 3);
    assert_false(ZSTD_isError(*length));
    free(zeros);
    return out;
}

/* 128 MB of zeros in a few kB: the message names the limit, and the memory is not filled. */
TEST(a_bomb_meets_its_limit) {
    struct builder b = {0};
    const struct form form = {.type = COMPRESSED};
    size_t length;
    uint8_t *zstd = zeros_compressed((size_t)128 << 20, &length);
    pfr_limits limits = {.size = sizeof limits, .zstd_output_per_record = 1 << 20};
    const pfr_open_options options = {.size = sizeof options, .limits = &limits};
    pfr_record rec;
    pfr_error err;
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_compressed(&b, &form, zstd, length);
    end_file(&b);
    pfr_reader *r = pfr_open_bytes(b.bytes, b.length, &options, &err);
    assert_non_null(r);
    expect_record(r, &rec, COMPRESSED);
    const pfr_status s = pfr_next(r, &rec, &err);
    assert_true(s == PFR_ERR_LIMIT || s == PFR_HOLE);
    assert_string_equal(err.where, "zstd_output_per_record");
    pfr_close(r);
    free(zstd);
    free(b.bytes);
}

/* As many FINISHED_ROUND records as fit into this size. */
static uint8_t *rounds_compressed(size_t plain, size_t *length) {
    uint8_t *rounds = malloc(plain), *out = malloc(LIMIT);
    for (size_t i = 0; i < plain; i += 8)
        memcpy(rounds + i, (const uint8_t[8]){68, [6] = 8}, 8);
    *length = ZSTD_compress(out, LIMIT, rounds, plain, 3);
    assert_false(ZSTD_isError(*length));
    free(rounds);
    return out;
}

enum { BOMB_PLAIN = 20 << 20, BOMBS = 5 };

/* Each record is below zstd_output_per_record; the ratio limits their sum. Records unpacked before that are
 * returned. */
TEST(bombs_that_are_small_each_meet_the_ratio) {
    struct builder b = {0};
    const struct form form = {.type = COMPRESSED};
    size_t length;
    uint8_t *zstd = rounds_compressed(BOMB_PLAIN, &length);
    pfr_limits limits = {.size = sizeof limits, .ratio = 10};
    const pfr_open_options options = {.size = sizeof options, .limits = &limits};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    for (unsigned i = 0; i < BOMBS; i++)
        put_compressed(&b, &form, zstd, length);
    end_file(&b);
    pfr_error err;
    pfr_reader *r = pfr_open_bytes(b.bytes, b.length, &options, &err);
    assert_non_null(r);
    for (unsigned pass = 0; pass < 2; pass++) {
        uint64_t inside = 0, holes = 0;
        pfr_record rec;
        pfr_status s;
        while ((s = pfr_next(r, &rec, &err)) == PFR_OK || s == PFR_HOLE) {
            inside += s == PFR_OK && rec.inside;
            holes += s == PFR_HOLE;
            if (s == PFR_HOLE)
                assert_string_equal(err.where, "ratio");
        }
        assert_int_equal(s, PFR_END);
        assert_int_equal(holes, 1);
        assert_int_equal(inside, 4 * (BOMB_PLAIN / 8));
        assert_int_equal(pfr_rewind(r, &err), PFR_OK);
    }
    pfr_close(r);
    free(zstd);
    free(b.bytes);
}

/* Zeros are no records: they give one hole, not one for each eight bytes. */
TEST(decompressed_bytes_that_are_no_records_are_one_hole) {
    struct builder b = {0};
    const struct form form = {.type = COMPRESSED};
    size_t length;
    uint8_t *zstd = zeros_compressed(1 << 20, &length);
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_compressed(&b, &form, zstd, length);
    put_sample(&b, 1, 0);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    const struct tally t = read_through(r);
    assert_int_equal(t.holes, 1);
    assert_int_equal(t.samples, 1);
    pfr_close(r);
    free(zstd);
    free(b.bytes);
}

/* Windows smaller or larger than zstd allows are set to the minimum or maximum. */
TEST(any_limit_of_the_window_is_one_of_zstd) {
    static const uint64_t windows[] = {1, 512, 1024, 1 << 22, 1ull << 31, 1ull << 40, UINT64_MAX};
    const struct form form = {COMPRESSED, 400, false, 0, false, false};
    struct builder b = compress_records(&form);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        const pfr_limits limits = {.size = sizeof limits, .window = windows[i]};
        const pfr_open_options options = {.size = sizeof options, .limits = &limits};
        pfr_error err;
        pfr_reader *r = pfr_open_bytes(b.bytes, b.length, &options, &err);
        assert_non_null(r);
        const struct tally t = read_through(r);
        assert_int_equal(t.last, PFR_END);
        if (windows[i] < 1 << 22)
            assert_true(t.holes > 0); /* the stream asks for more history */
        else
            assert_int_equal(t.inside, PLAIN_SAMPLES);
        pfr_close(r);
    }
    free(b.bytes);
}

/* Bytes that fill the buffer completely, leave one byte of it, or need one byte more. */
TEST(output_of_the_size_of_its_room_is_whole) {
    enum { ROOM = 256 << 10, SIZE = 32, PACKED_MOST = 60000 };
    for (unsigned samples = ROOM / SIZE - 1; samples <= ROOM / SIZE + 1; samples++) {
        struct builder b = {0}, plain = {0};
        static uint8_t packed[PACKED_MOST];
        begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
        for (unsigned i = 0; i < samples; i++)
            put_sample(&plain, i, 0);
        const size_t length = ZSTD_compress(packed, sizeof packed, plain.bytes, plain.length, 3);
        assert_false(ZSTD_isError(length));
        put_head(&b, COMPRESSED, 0, 8 + length);
        put_bytes(&b, packed, length);
        end_file(&b);
        pfr_reader *r = open_built(&b, NULL);
        const struct tally t = read_through(r);
        assert_int_equal(t.last, PFR_END);
        assert_int_equal(t.holes, 0);
        assert_int_equal(t.inside, samples);
        pfr_close(r);
        free(b.bytes);
        free(plain.bytes);
    }
}

/* Records inside count like any other: the limit can be reached within a COMPRESSED record, too. */
TEST(a_limit_of_records_is_met_among_those_inside) {
    const struct form form = {COMPRESSED, 400, false, 0, false, false};
    struct builder b = compress_records(&form);
    const pfr_limits limits = {.size = sizeof limits, .records = 5};
    const pfr_open_options options = {.size = sizeof options, .limits = &limits};
    pfr_record rec;
    pfr_error err;
    pfr_reader *r = pfr_open_bytes(b.bytes, b.length, &options, &err);
    assert_non_null(r);
    for (unsigned i = 0; i < 5; i++) {
        ASSERT_OK(pfr_next(r, &rec, &err), err);
        assert_int_equal(rec.inside, i > 0);
    }
    for (unsigned i = 0; i < 2; i++) { /* and stays reached */
        ASSERT_STATUS(pfr_next(r, &rec, &err), PFR_ERR_LIMIT, err);
        assert_non_null(strstr(err.text, "limit records"));
    }
    pfr_close(r);
    free(b.bytes);
}
