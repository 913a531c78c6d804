/* SPDX-License-Identifier: Apache-2.0 */
/* Records in file order: tests which records are returned, skipped, or part of a hole. Also a second pass. */
#include "recorded_files.h"
#include "recording_builder.h"
#include "../base/input_samples.h"

#include <perfray/record.h>

static void put_auxtrace(struct builder *b, uint64_t size) {
    put_head(b, 71, 0, 48);
    put_number(b, size, 8);
    put_room(b, 32);
}

TEST(unknown_types_are_kept_and_counted) {
    static const uint32_t types[] = {23, 63, 99, 200, 0x7fffffff, 0xffffffff};
    for (unsigned big = 0; big < 2; big++) {
        struct builder b = {.big = big};
        pfr_record rec;
        begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
        for (unsigned i = 0; i < 6; i++) {
            put_head(&b, types[i], (uint16_t)(0x1000 + i), 24);
            put_bytes(&b, "some unknown yet", 16);
        }
        end_file(&b);
        pfr_reader *r = open_built(&b, NULL);
        for (unsigned i = 0; i < 6; i++) {
            expect_record(r, &rec, types[i]);
            assert_int_equal(rec.misc, 0x1000 + i);
            assert_int_equal(rec.size, 24);
            assert_memory_equal(rec.bytes + 8, "some unknown yet", 16);
            assert_null(pfr_record_name(&rec));
        }
        expect_end(r);
        assert_int_equal(pfr_get_quality(r)->unknown_records, 6);
        pfr_close(r);
        free(b.bytes);
    }
}

TEST(records_at_odd_places_are_read) {
    struct builder b = {0};
    pfr_record rec;
    begin_pipe(&b, 1);
    put_head(&b, 80, 0, 8 + 8 + 5);
    put_number(&b, 3, 8);
    put_bytes(&b, "\1\0\0\0x", 5);
    put_sample(&b, 0xabc, 0);
    pfr_reader *r = open_built(&b, NULL);
    expect_record(r, &rec, 64);
    expect_record(r, &rec, 80);
    expect_record(r, &rec, 9);
    struct pfr_rec_sample sample;
    assert_int_equal(pfr_decode(&rec, &sample, sizeof sample, NULL), PFR_OK);
    assert_int_equal(sample.ip, 0xabc);
    expect_end(r);
    pfr_close(r);
    free(b.bytes);
}

static void take_payload(bool pipe) {
    struct builder b = {0};
    pfr_record rec;
    pfr_error err;
    char got[16];
    size_t length;
    pipe ? begin_pipe(&b, 1) : begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_auxtrace(&b, 11);
    put_bytes(&b, "hello trace", 11);
    put_sample(&b, 5, 0);
    if (!pipe)
        end_file(&b);
    const pfr_open_options keep = {.size = sizeof keep, .keep_aux = true};
    pfr_reader *r = pfr_open_bytes(b.bytes, b.length, &keep, &err);
    assert_non_null(r);
    if (pipe)
        expect_record(r, &rec, 64);
    expect_record(r, &rec, 71);
    assert_int_equal(rec.payload, 11);
    ASSERT_OK(pfr_payload(r, 0, got, sizeof got, &length, &err), err);
    assert_int_equal(length, 11);
    assert_memory_equal(got, "hello trace", 11);
    ASSERT_OK(pfr_payload(r, 6, got, 3, &length, &err), err);
    assert_int_equal(length, 3);
    assert_memory_equal(got, "tra", 3);
    ASSERT_OK(pfr_payload(r, 11, got, 3, &length, &err), err);
    assert_int_equal(length, 0);
    expect_record(r, &rec, 9);
    expect_end(r);
    pfr_close(r);
    free(b.bytes);
}

TEST(the_payload_of_auxtrace_is_returned_and_skipped) {
    take_payload(false);
    take_payload(true);
}

/* Whatever the size of a payload is, the reader ends and reports the missing bytes. */
TEST(payloads_past_the_end_are_reported) {
    static const uint64_t sizes[] = {33, 1000, 1ull << 40, UINT64_MAX, UINT64_MAX - 47, UINT64_MAX - 200};
    for (unsigned i = 0; i < 12; i++) {
        struct builder b = {0};
        i % 2 ? begin_pipe(&b, 1) : begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
        put_auxtrace(&b, sizes[i / 2]);
        put_sample(&b, 5, 0);
        if (i % 2 == 0)
            end_file(&b);
        pfr_reader *r = open_built(&b, NULL);
        pfr_record rec;
        pfr_error err;
        unsigned steps = 0;
        pfr_status s;
        while ((s = pfr_next(r, &rec, &err)) >= 0 && s != PFR_END && steps < 50)
            steps++;
        if (steps == 50)
            fail_msg("a payload of %#jx bytes does not end (%s)", (uintmax_t)sizes[i / 2], i % 2 ? "stream" : "file");
        if (!pfr_get_quality(r)->truncated_bytes && !pfr_get_quality(r)->holes)
            fail_msg("a payload of %#jx bytes is not missed (%s)", (uintmax_t)sizes[i / 2], i % 2 ? "stream" : "file");
        pfr_close(r);
        free(b.bytes);
    }
}

/* A complete record follows the bad record, and may be found or be part of the hole; but no other record may be
 * invented. */
static void read_bad_size(unsigned size, bool pipe) {
    struct builder b = {0};
    pipe ? begin_pipe(&b, 1) : begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_sample(&b, 1, 0);
    const size_t bad = b.length;
    put_head(&b, 9, 0, size);
    put_room(&b, 24);
    if (!pipe)
        end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    const struct tally t = read_through(r);
    assert_int_equal(t.last, PFR_END);
    assert_int_equal(t.samples, 1);
    assert_int_equal(t.holes, 1);
    assert_int_equal(t.hole_at, bad);
    assert_int_equal(pfr_get_quality(r)->holes, 1);
    pfr_close(r);
    free(b.bytes);
}

TEST(a_size_that_no_record_has_is_a_hole_at_its_place) {
    static const unsigned sizes[] = {0, 1, 7, 40, 65535};
    for (unsigned i = 0; i < 5; i++) {
        read_bad_size(sizes[i], false);
        read_bad_size(sizes[i], true);
    }
}

TEST(a_sample_goes_to_the_event_of_its_id) {
    for (unsigned big = 0; big < 2; big++) {
        struct builder b = {.big = big};
        pfr_record rec;
        begin_file(&b, &(struct plan){.header_size = 104, .events = 3});
        put_sample(&b, 1, FIRST_ID + 2);
        put_sample(&b, 1, FIRST_ID);
        put_comm(&b, 7, "seven", FIRST_ID + 1);
        put_sample(&b, 1, 999);
        end_file(&b);
        pfr_reader *r = open_built(&b, NULL);
        expect_record(r, &rec, 9);
        assert_int_equal(rec.event, 2);
        expect_record(r, &rec, 9);
        assert_int_equal(rec.event, 0);
        expect_record(r, &rec, 3);
        assert_int_equal(rec.event, 1);
        expect_record(r, &rec, 9);
        assert_int_equal(rec.event, PFR_NO_EVENT);
        assert_int_equal(pfr_get_quality(r)->unknown_ids, 1);
        assert_int_equal(pfr_event_of_id(r, FIRST_ID + 1), 1);
        assert_int_equal(pfr_event_of_id(r, 5), PFR_NO_EVENT);
        pfr_close(r);
        free(b.bytes);
    }
}

static void read_twice(const char *path, void *context) {
    pfr_error err;
    (void)context;
    pfr_reader *r = pfr_open(path, NULL, &err);
    assert_non_null(r);
    const struct tally first = read_through(r);
    const uint32_t events = pfr_event_count(r), features = pfr_feature_count(r);
    const pfr_quality quality = *pfr_get_quality(r);
    ASSERT_OK(pfr_rewind(r, &err), err);
    const struct tally second = read_through(r);
    if (first.records != second.records || first.sum != second.sum)
        fail_msg("%s: %ju records, then %ju", path, (uintmax_t)first.records, (uintmax_t)second.records);
    if (events != pfr_event_count(r) || features != pfr_feature_count(r))
        fail_msg("%s: %u events, then %u", path, events, pfr_event_count(r));
    assert_memory_equal(&quality, pfr_get_quality(r), sizeof quality);
    pfr_close(r);
}

/* The first event samples no time and the second does, so their records have sample_ids of different lengths. */
TEST(the_tail_of_a_record_is_that_of_its_own_event) {
    for (unsigned big = 0; big < 2; big++) {
        struct builder b = {.big = big};
        pfr_record rec;
        pfr_error err;
        pfr_value value;
        begin_file(&b, &(struct plan){.header_size = 104, .events = 2});
        set_number(&b, b.bytes + 104 + 16 + 24, (SAMPLE_BITS & ~4u) | IDENTIFIER_BIT, 8);
        put_comm(&b, 7, "seven", FIRST_ID + 1);
        put_head(&b, 3, 0, 16 + 8 + 16);
        put_number(&b, 9, 4);
        put_number(&b, 9, 4);
        memcpy(put_room(&b, 8), "nine", 4);
        put_number(&b, 9, 4);
        put_number(&b, 9, 4);
        put_number(&b, FIRST_ID, 8);
        end_file(&b);
        pfr_reader *r = open_built(&b, NULL);
        ASSERT_OK(pfr_next(r, &rec, &err), err);
        assert_int_equal(rec.event, 1);
        assert_int_equal(rec.tail, 24);
        ASSERT_OK(pfr_get(&rec, "id.time", &value, &err), err);
        assert_int_equal(value.as.u, 1007);
        ASSERT_OK(pfr_next(r, &rec, &err), err);
        assert_int_equal(rec.event, 0);
        assert_int_equal(rec.tail, 16);
        ASSERT_OK(pfr_get(&rec, "id.time", &value, &err), err);
        assert_int_equal(value.kind, PFR_VALUE_ABSENT);
        assert_int_equal(pfr_next(r, &rec, &err), PFR_END);
        pfr_close(r);
        free(b.bytes);
    }
}

TEST(rewinding_gives_the_same_records_events_and_counts) {
    each_recorded(read_twice, NULL);
}

TEST(rewinding_keeps_what_opening_found_wrong) {
    struct builder b = {0};
    pfr_error err;
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_sample(&b, 1, 0);
    end_file(&b);
    set_number(&b, b.bytes + 48, 1000, 8);
    set_number(&b, b.bytes + 112 + BUILT_ATTR, UINT64_MAX - 7, 8); /* ids */
    pfr_reader *r = open_built(&b, NULL);
    read_through(r);
    const pfr_quality quality = *pfr_get_quality(r);
    ASSERT_OK(pfr_rewind(r, &err), err);
    read_through(r);
    assert_memory_equal(&quality, pfr_get_quality(r), sizeof quality);
    pfr_close(r);
    free(b.bytes);
}

TEST(a_reader_at_its_end_stays_there) {
    char path[RECORDED_PATH];
    pfr_error err;
    pfr_reader *r = pfr_open(recorded_path(path, "threads.data"), NULL, &err);
    assert_non_null(r);
    const struct tally t = read_through(r);
    assert_true(t.records > 0);
    pfr_record rec;
    ASSERT_STATUS(pfr_next(r, &rec, &err), PFR_END, err); /* and remains at the end */
    ASSERT_STATUS(pfr_next(r, &rec, &err), PFR_END, err);
    pfr_close(r);
}

/* --- A compressed stream cannot be read twice: the data after a record is passed on piece by piece. */

enum { PIECE = 1 << 18, LARGE = 2 * PIECE };

/* A stream with LARGE bytes of AUX area data, `lost` of which are missing, in a gzip file. */
static pfr_reader *open_packed_payload(const char *folder, size_t lost) {
    struct builder b = {0};
    pfr_error err = {0};
    begin_pipe(&b, 1);
    put_auxtrace(&b, LARGE);
    for (unsigned i = 0; i < LARGE; i++)
        put_number(&b, i % 251, 1);
    put_sample(&b, 5, 0);
    struct blob packed = pack_gzip((struct blob){b.bytes, b.length});
    const pfr_open_options keep = {.size = sizeof keep, .keep_aux = true};
    pfr_reader *r = pfr_open(write_file(folder, packed.bytes, packed.length - lost), &keep, &err);
    assert_non_null(r);
    free(packed.bytes);
    free(b.bytes);
    return r;
}

TEST(the_payload_of_a_stream_is_given_in_pieces) {
    static uint8_t got[LARGE];
    char folder[FOLDER_SIZE];
    pfr_record rec;
    pfr_error err;
    size_t length;
    make_folder(folder);
    pfr_reader *r = open_packed_payload(folder, 0);
    expect_record(r, &rec, 64);
    expect_record(r, &rec, 71);
    ASSERT_OK(pfr_payload(r, 0, got, LARGE, &length, &err), err);
    assert_int_equal(length, PIECE);
    for (unsigned i = 0; i < length; i++)
        assert_int_equal(got[i], i % 251);
    ASSERT_OK(pfr_payload(r, LARGE - 100, got, LARGE, &length, &err), err);
    assert_int_equal(length, 100);
    assert_int_equal(got[99], (LARGE - 1) % 251);
    ASSERT_STATUS(pfr_payload(r, 0, got, 1, &length, &err), PFR_ERR_USAGE, err); /* already passed */
    expect_record(r, &rec, 9);
    expect_end(r);
    pfr_close(r);
    remove_folder(folder);
}

/* The length of the stream is unknown, and a payload claims more bytes than can be counted. */
TEST(the_payload_of_a_stream_is_missed_where_it_ends) {
    static const uint64_t sizes[] = {100, 1 << 20, UINT64_MAX};
    for (unsigned i = 0; i < 3; i++) {
        char folder[FOLDER_SIZE];
        struct builder b = {0};
        pfr_error err = {0};
        make_folder(folder);
        begin_pipe(&b, 1);
        put_auxtrace(&b, sizes[i]);
        put_room(&b, 64);
        struct blob packed = pack_gzip((struct blob){b.bytes, b.length});
        pfr_reader *r = pfr_open(write_file(folder, packed.bytes, packed.length), NULL, &err);
        assert_non_null(r);
        const struct tally t = read_through(r);
        assert_int_equal(t.last, PFR_END);
        assert_int_equal(t.records, 2);
        assert_int_equal(t.holes, 1);
        assert_int_equal(t.hole_at, b.length - 64);
        pfr_close(r);
        remove_folder(folder);
        free(packed.bytes);
        free(b.bytes);
    }
}

/* The parts of a folder have no header: their first byte can already be wrong. */
TEST(a_part_that_begins_with_garbage_loses_only_the_garbage) {
    char folder[FOLDER_SIZE], path[FOLDER_SIZE + 16];
    struct builder b = {0}, part = {0};
    pfr_error err;
    pfr_record rec;
    make_folder(folder);
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_sample(&b, 1, 0);
    end_file(&b);
    put_room(&part, 24);
    for (unsigned i = 0; i < 4; i++)
        put_sample(&part, i, 0);
    const char *names[] = {"data", "data.0"};
    const struct builder *files[] = {&b, &part};
    for (unsigned i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        rename(write_file(folder, files[i]->bytes, files[i]->length), path);
    }
    pfr_reader *r = pfr_open(folder, NULL, &err);
    assert_non_null(r);
    expect_record(r, &rec, 9);
    ASSERT_STATUS(pfr_next(r, &rec, &err), PFR_HOLE, err);
    assert_int_equal(err.offset, 0);
    assert_int_equal(err.length, 24);
    for (unsigned i = 0; i < 4; i++)
        expect_record(r, &rec, 9);
    expect_end(r);
    pfr_close(r);
    for (unsigned i = 0; i < 2; i++)
        snprintf(path, sizeof path, "%s/%s", folder, names[i]), unlink(path);
    remove_folder(folder);
    free(b.bytes);
    free(part.bytes);
}
