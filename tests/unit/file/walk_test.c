/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting without decoding: the walk skips only samples, and leaves everything pending or wrong to pfr_next. So
 * walking wherever possible gives the same counts as reading.
 */
#include "recording_builder.h"
#include "../base/input_samples.h"
#include "file/read/header_walk.h"

#include <zstd.h>

/* Walks before each record. */
static uint64_t walk_through(pfr_reader *r, struct tally *t) {
    uint64_t walked = 0;
    pfr_record rec;
    pfr_error err;
    *t = (struct tally){0};
    for (;;) {
        const uint64_t count = pfr_event_count(r) ? walk_samples(r, 0, NULL) : 0;
        walked += count;
        t->last = pfr_next(r, &rec, &err);
        if (t->last < 0 || t->last == PFR_END)
            return walked;
        t->holes += t->last == PFR_HOLE;
    }
}

/* Walking and reading count the same; returns how many samples were walked over. */
static uint64_t compare_with_reading(const struct builder *b) {
    pfr_reader *reading = open_built(b, NULL), *walking = open_built(b, NULL);
    struct tally t;
    const struct tally expected = read_through(reading);
    const uint64_t walked = walk_through(walking, &t);
    assert_int_equal(t.last, expected.last);
    assert_int_equal(t.holes, expected.holes);
    assert_memory_equal(pfr_get_quality(walking), pfr_get_quality(reading), sizeof(pfr_quality));
    assert_int_equal(walk_samples(walking, 0, NULL), 0); /* nothing is left at the end */
    pfr_close(reading);
    pfr_close(walking);
    return walked;
}

static struct builder begin_walk(bool big, unsigned events) {
    struct builder b = {.big = big};
    begin_file(&b, &(struct plan){.header_size = 104, .events = events});
    return b;
}

static void put_samples(struct builder *b, unsigned count, uint64_t id) {
    for (unsigned i = 0; i < count; i++)
        put_sample(b, i, id);
}

static void put_sized(struct builder *b, unsigned size) {
    put_head(b, 9, 2, size);
    put_room(b, 24);
}

TEST(walking_stops_at_a_size_that_no_sample_has) {
    static const unsigned sizes[] = {0, 7, 8, 24, 40, 65528};
    for (unsigned i = 0; i < 12; i++) {
        struct builder b = begin_walk(i & 1, 1);
        put_samples(&b, 5, 0);
        put_sized(&b, sizes[i / 2]);
        put_samples(&b, 5, 0);
        end_file(&b);
        assert_true(compare_with_reading(&b) >= 8);
        free(b.bytes);
    }
}

/* Walking also stops at a sample that ends before the id. */
TEST(walking_stops_at_samples_of_another_event) {
    for (unsigned i = 0; i < 4; i++) {
        struct builder b = begin_walk(i & 1, 2);
        put_samples(&b, 5, FIRST_ID);
        if (i & 2) {
            put_head(&b, 9, 2, 8);
        } else {
            put_samples(&b, 5, FIRST_ID + 1);
        }
        put_samples(&b, 5, FIRST_ID);
        end_file(&b);
        assert_int_equal(compare_with_reading(&b), i & 2 ? 4 + 5 : 4 + 4);
        free(b.bytes);
    }
}

/* Events that do not say where their ids are: pfr_next determines the event of a sample. */
TEST(without_ids_the_samples_of_several_events_are_not_walked_over) {
    struct builder b = {0};
    begin_pipe(&b, 1);
    put_head(&b, 64, 0, 8 + BUILT_ATTR + 8);
    put_attr(&b, false);
    put_number(&b, FIRST_ID + 1, 8);
    put_samples(&b, 5, 0);
    assert_int_equal(compare_with_reading(&b), 0);
    free(b.bytes);
}

static void put_packed_samples(struct builder *b, unsigned count) {
    struct builder plain = {.big = b->big};
    uint8_t zstd[4096];
    put_samples(&plain, count, 0);
    const size_t length = ZSTD_compress(zstd, sizeof zstd, plain.bytes, plain.length, 1);
    assert_false(ZSTD_isError(length));
    put_head(b, 81, 0, 8 + length);
    put_bytes(b, zstd, length);
    free(plain.bytes);
}

TEST(records_in_a_compressed_record_precede_the_following_records) {
    for (unsigned big = 0; big < 2; big++) {
        struct builder b = begin_walk(big, 1);
        put_samples(&b, 2, 0);
        put_packed_samples(&b, 3);
        put_samples(&b, 4, 0);
        end_file(&b);
        assert_int_equal(compare_with_reading(&b), 2 + 4);
        free(b.bytes);
    }
}

static void put_payload(struct builder *b, size_t length) {
    put_head(b, 71, 0, 48);
    put_number(b, length, 8);
    put_room(b, 32);
    for (size_t i = 0; i < length / 32; i++)
        put_sample(b, i, 0); /* these are not samples, but bytes of the payload */
}

/* The second payload ends the input, and is larger than a single read. */
TEST(payloads_are_not_walked_into) {
    struct builder b = begin_walk(false, 1);
    put_samples(&b, 2, 0);
    put_payload(&b, 96);
    put_samples(&b, 4, 0);
    put_payload(&b, 1 << 20);
    end_file(&b);
    assert_int_equal(compare_with_reading(&b), 2 + 3);
    free(b.bytes);
}

/* The payload was skipped without being read, so the end is after everything that was read. */
TEST(walking_ends_after_an_unread_payload) {
    char folder[FOLDER_SIZE];
    pfr_error err = {0};
    struct builder b = begin_walk(false, 1);
    make_folder(folder);
    put_samples(&b, 2, 0);
    put_payload(&b, 1 << 20);
    end_file(&b);
    pfr_reader *r = pfr_open(write_file(folder, b.bytes, b.length), NULL, &err);
    assert_non_null(r);
    assert_int_equal(read_through(r).records, 3);
    assert_int_equal(walk_samples(r, 0, NULL), 0);
    expect_end(r);
    pfr_close(r);
    remove_folder(folder);
    free(b.bytes);
}

/* Adds a HEADER_FEATURE with tracepoint formats, after which the names of events are made again. */
static void put_no_formats(struct builder *b) {
    put_head(b, 80, 0, 8 + 8 + 8);
    put_number(b, 1, 8);
    put_bytes(b, "nothing", 8);
}

TEST(walking_waits_for_names) {
    struct builder b = {0};
    begin_pipe(&b, 1);
    put_samples(&b, 3, 0);
    put_no_formats(&b);
    put_samples(&b, 3, 0);
    assert_int_equal(compare_with_reading(&b), 2 + 2);
    free(b.bytes);
}

TEST(walking_ends_where_a_recording_is_cut) {
    struct builder b = begin_walk(false, 1);
    put_samples(&b, 3, 0);
    put_sample(&b, 9, 0);
    b.length -= 5;
    end_file(&b);
    assert_int_equal(compare_with_reading(&b), 3);
    free(b.bytes);
}

/* Records that were only peeked at remain. If times are requested, a sample without a time ends the run. */
TEST(peeking_at_walkable_samples_consumes_nothing) {
    struct builder b = begin_walk(false, 1);
    struct sample_run run, timed;
    pfr_record rec;
    put_samples(&b, 3, 0);
    put_head(&b, 9, 2, 32);
    put_room(&b, 24); /* time 0 */
    put_samples(&b, 2, 0);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    expect_record(r, &rec, 9);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(walk_run(r, 0, false, UINT64_MAX, &run));
        assert_int_equal(run.count, 5);
        assert_int_equal(run.length, 5 * 32);
        assert_true(walk_run(r, 0, true, UINT64_MAX, &timed));
        assert_int_equal(timed.count, 2);
        assert_ptr_equal(timed.bytes, run.bytes);
        assert_int_equal(timed.time_at, 24);
        assert_true(walk_run(r, 0, false, 4, &run));
        assert_int_equal(run.count, 4);
        assert_int_equal(run.length, 4 * 32);
    }
    walk_past(r, 2 * 32, 2);
    assert_false(walk_run(r, 0, true, UINT64_MAX, &timed));
    assert_true(walk_run(r, 0, false, UINT64_MAX, &run));
    assert_int_equal(run.count, 3);
    assert_int_equal(pfr_get_quality(r)->samples, 3);
    pfr_close(r);
    free(b.bytes);
}
