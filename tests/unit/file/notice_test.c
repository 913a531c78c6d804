/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records about the recording in a wrong place or in an unusual form: inside COMPRESSED records, without an event, in a
 * file instead of a stream, and for a caller without an error pointer.
 */
#include "recording_builder.h"

#include <zstd.h>

enum { COMPRESSED = 81, COMPRESSED2 = 83, EVENT_UPDATE = 78, CPU_MAP = 74, TRACING_DATA = 66, AUXTRACE = 71 };

static void put_update(struct builder *b, uint64_t kind, uint64_t id, const char *text) {
    put_head(b, EVENT_UPDATE, 0, 8 + 16 + 16);
    put_number(b, kind, 8);
    put_number(b, id, 8);
    memcpy(put_room(b, 16), text, strlen(text));
}

TEST(an_update_names_its_event_and_no_other) {
    for (unsigned big = 0; big < 2; big++) {
        struct builder b = {.big = big};
        begin_pipe(&b, 2);
        put_update(&b, 0, FIRST_ID, "msec");
        put_update(&b, 2, FIRST_ID + 1, "my-event");
        put_update(&b, 2, 4711, "nobody's");
        put_update(&b, 9, FIRST_ID, "unknown kind");
        pfr_reader *r = open_built(&b, NULL);
        const struct tally t = read_through(r);
        assert_int_equal(t.records, 6);
        assert_int_equal(t.holes, 0);
        assert_string_equal(pfr_get_event(r, 0)->unit, "msec");
        assert_false(pfr_get_event(r, 0)->named);
        assert_string_equal(pfr_get_event(r, 1)->name, "my-event");
        assert_true(pfr_get_event(r, 1)->named);
        assert_null(pfr_get_event(r, 1)->unit);
        pfr_close(r);
        free(b.bytes);
    }
}

/* Adds a COMPRESSED record of the given type with these contents. */
static void put_packed(struct builder *b, uint32_t type, const struct builder *plain) {
    uint8_t zstd[4096];
    const size_t length = ZSTD_compress(zstd, sizeof zstd, plain->bytes, plain->length, 1);
    assert_false(ZSTD_isError(length));
    const size_t said = type == COMPRESSED2 ? 8 : 0, pad = said ? (8 - length % 8) % 8 : 0;
    put_head(b, type, 0, 8 + said + length + pad);
    if (said)
        put_number(b, length, 8);
    put_bytes(b, zstd, length);
    put_room(b, pad);
}

static void put_auxtrace(struct builder *b, uint64_t size) {
    put_head(b, AUXTRACE, 0, 48);
    put_number(b, size, 8);
    put_room(b, 32);
}

/* A payload follows its record in the input. Records inside COMPRESSED, nested COMPRESSED records included, have no
 * payload. */
static void read_nested(uint32_t type, bool big) {
    struct builder b = {.big = big}, inner = {.big = big}, plain = {.big = big};
    pfr_record rec;
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_sample(&inner, 1, 0);
    put_packed(&plain, type, &inner);
    put_auxtrace(&plain, 64);
    put_head(&plain, TRACING_DATA, 0, 12);
    put_number(&plain, 64, 4);
    put_sample(&plain, 2, 0);
    put_packed(&b, type, &plain);
    put_sample(&b, 3, 0);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    expect_record(r, &rec, type);
    assert_false(rec.inside);
    expect_record(r, &rec, type);
    assert_true(rec.inside);
    expect_record(r, &rec, AUXTRACE);
    assert_int_equal(rec.payload, 0);
    expect_record(r, &rec, TRACING_DATA);
    assert_int_equal(rec.payload, 0);
    expect_record(r, &rec, 9);
    assert_true(rec.inside);
    expect_record(r, &rec, 9);
    assert_false(rec.inside);
    expect_end(r);
    assert_int_equal(pfr_get_quality(r)->holes, 0);
    pfr_close(r);
    free(b.bytes);
    free(inner.bytes);
    free(plain.bytes);
}

TEST(nothing_follows_a_record_inside_another) {
    for (unsigned i = 0; i < 4; i++)
        read_nested(i & 1 ? COMPRESSED2 : COMPRESSED, i & 2);
}

static void put_cpu_map(struct builder *b, unsigned form, unsigned count, unsigned width) {
    put_head(b, CPU_MAP, 0, 8 + 8 + 8);
    put_number(b, form, 2);
    put_number(b, count, 2);
    put_number(b, width, 2);
    put_room(b, 10);
}

/* The problem is reported once, however often it occurs. If it occurs in decompressed bytes, the finding has no range
   in the input. */
static void read_strange_map(unsigned form, unsigned width, const char *where, bool packed) {
    struct builder b = {0}, plain = {0};
    pfr_record rec;
    pfr_error err;
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_cpu_map(packed ? &plain : &b, form, 1, width);
    if (packed)
        put_packed(&b, COMPRESSED, &plain);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    if (packed)
        expect_record(r, &rec, COMPRESSED);
    expect_record(r, &rec, CPU_MAP);
    ASSERT_STATUS(pfr_next(r, &rec, &err), PFR_HOLE, err);
    assert_string_equal(err.where, where);
    assert_int_equal(err.offset, b.data);
    assert_int_equal(err.length, packed ? 0 : 24);
    expect_end(r);
    pfr_close(r);
    free(b.bytes);
    free(plain.bytes);
}

TEST(an_invalid_cpu_map_is_reported_with_its_offset) {
    for (unsigned packed = 0; packed < 2; packed++) {
        read_strange_map(9, 8, "cpu_map_data.type", packed);
        read_strange_map(1, 3, "cpu_map_mask.long_size", packed);
    }
}

/* Findings are reported individually up to a limit; all are counted. */
TEST(only_the_first_findings_are_reported_but_all_are_counted) {
    enum { MAPS = 20, REPORTED = 16 };
    struct builder b = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    for (unsigned i = 0; i < MAPS; i++)
        put_cpu_map(&b, 9, 1, 8);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    const struct tally t = read_through(r);
    assert_int_equal(t.records, MAPS);
    assert_int_equal(t.holes, REPORTED);
    assert_int_equal(pfr_get_quality(r)->bad_header, MAPS);
    pfr_close(r);
    free(b.bytes);
}

static void put_feature(struct builder *b, uint64_t number, const char *text) {
    const size_t room = 16;
    put_head(b, 80, 0, 8 + 8 + 4 + room);
    put_number(b, number, 8);
    put_number(b, room, 4);
    memcpy(put_room(b, room), text, strlen(text));
}

/* A caller without an error pointer gets the same records, holes and names. */
TEST(reading_needs_no_error_to_fill) {
    struct builder b = {0};
    pfr_record rec;
    pfr_status s;
    unsigned records = 0, holes = 0;
    begin_pipe(&b, 1);
    put_sample(&b, 1, 0);
    put_feature(&b, 3, "a host");
    put_cpu_map(&b, 9, 1, 8);
    put_head(&b, 9, 2, 40); /* a sample of 32 bytes with a larger size */
    put_room(&b, 24);
    for (unsigned i = 0; i < 4; i++)
        put_sample(&b, i, 0);
    pfr_reader *r = pfr_open_bytes(b.bytes, b.length, NULL, NULL);
    assert_non_null(r);
    while ((s = pfr_next(r, &rec, NULL)) >= 0 && s != PFR_END)
        s == PFR_HOLE ? holes++ : records++;
    assert_int_equal(s, PFR_END);
    assert_int_equal(records, 8);
    assert_int_equal(holes, 2);
    assert_non_null(pfr_find_feature(r, 3, NULL));
    assert_null(pfr_open_bytes(b.bytes, 7, NULL, NULL));
    pfr_close(r);
    free(b.bytes);
}
