/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged XRay traces, generated in memory: only the damaged part is lost, and it is reported. Also times across
 * buffers, and limits. */
#include "xray_files.h"

/* --- One kind of damage at a time. Each trace has a good buffer after the bad one. */

struct expected {
    uint64_t hole, length; /* of the first hole */
    unsigned holes, calls;
};

static void check(struct builder *b, struct expected expected) {
    pfr_error err;
    pfr_record rec;
    pfr_status s;
    unsigned holes = 0, calls = 0;
    pfr_reader *r = open_built(b, &err);
    if (!r)
        fail_msg("%s", err.text);
    for (int pass = 0; pass < 2; pass++, holes = calls = 0) {
        while ((s = pfr_next(r, &rec, &err)) >= 0 && s != PFR_END) {
            if (s == PFR_HOLE && holes++ == 0 && (err.offset != expected.hole || err.length != expected.length))
                fail_msg("a hole of %ju at %ju: %s", (uintmax_t)err.length, (uintmax_t)err.offset, err.text);
            calls += s == PFR_OK && rec.type == PFR_TRACE_FUNCTION;
        }
        assert_int_equal(s, PFR_END);
        assert_int_equal(calls, expected.calls);
        assert_int_equal(holes, expected.holes);
        assert_int_equal(pfr_get_quality(r)->holes, holes);
        ASSERT_OK(pfr_rewind(r, &err), err);
    }
    pfr_close(r);
    free(b->bytes);
}

/* The good buffer: two calls. */
static void put_good(struct builder *b) {
    put_extents(b, 80);
    put_preamble(b, 102, 500);
    put_call(b, PFR_TRACE_ENTER, 1, 0);
    put_call(b, PFR_TRACE_EXIT, 1, 5);
}

/* A buffer with the size `size` in its extents and one call; the damage follows at 128. */
static struct builder begin_bad(uint64_t size) {
    struct builder b = {0};
    put_xray_header(&b, 5, 4096);
    put_extents(&b, size);
    put_preamble(&b, 101, 1000);
    put_call(&b, PFR_TRACE_ENTER, 1, 0);
    return b;
}

TEST(an_unknown_kind_loses_the_rest_of_its_buffer) {
    struct builder b = begin_bad(64 + 8 + 16 + 8);
    put_metadata(&b, 10, 0, 8, 0);
    put_call(&b, PFR_TRACE_EXIT, 1, 5);
    put_good(&b);
    check(&b, (struct expected){120, 24, 1, 3});
}

TEST(an_unknown_action_loses_the_rest_of_its_buffer) {
    struct builder b = begin_bad(64 + 8 + 16);
    put_call(&b, 5, 1, 5);
    put_call(&b, PFR_TRACE_EXIT, 1, 5);
    put_good(&b);
    check(&b, (struct expected){120, 16, 1, 3});
}

TEST(an_event_of_negative_size_loses_the_rest_of_its_buffer) {
    struct builder b = begin_bad(64 + 8 + 24);
    put_metadata(&b, 5, (uint32_t)-5, 4, 0);
    put_call(&b, PFR_TRACE_EXIT, 1, 5);
    put_good(&b);
    check(&b, (struct expected){120, 24, 1, 3});
}

TEST(an_event_that_crosses_its_buffer_is_a_hole) {
    struct builder b = begin_bad(64 + 8 + 16 + 4);
    put_metadata(&b, 5, 5, 4, 0);
    put_number(&b, 0, 4);
    put_good(&b);
    check(&b, (struct expected){120, 20, 1, 3});
}

TEST(extents_that_are_too_large_do_not_lose_the_next_buffer) {
    for (uint64_t more = 1; more < 200; more += 7) {
        struct builder b = begin_bad(64 + 8 + more);
        put_good(&b);
        check(&b, (struct expected){120, 0, 1, 3});
    }
    struct builder huge = begin_bad(UINT64_MAX);
    put_good(&huge);
    check(&huge, (struct expected){120, 0, 1, 3});
}

TEST(damage_in_a_buffer_of_huge_extents_loses_up_to_the_next_buffer) {
    struct builder b = begin_bad(UINT64_MAX - 5);
    put_metadata(&b, 99, 0, 8, 0);
    put_good(&b);
    check(&b, (struct expected){120, 16, 1, 3});
}

TEST(extents_that_are_too_small_lose_the_records_beyond_them) {
    struct builder b = begin_bad(64);
    put_good(&b);
    check(&b, (struct expected){112, 8, 1, 2});
}

TEST(bytes_between_buffers_are_skipped) {
    struct builder b = begin_bad(64 + 8);
    for (int i = 0; i < 300; i++)
        put_number(&b, i % 7 == 3 ? 0x0f : 0x41, 1);
    put_good(&b);
    check(&b, (struct expected){120, 300, 1, 3});
}

TEST(a_misplaced_record_is_reported_and_returned) {
    struct builder b = begin_bad(64 + 8 + 16 + 16 + 8);
    put_metadata(&b, 9, 78, 4, 0);
    put_metadata(&b, 2, 3, 2, 2000);
    put_call(&b, PFR_TRACE_EXIT, 1, 5);
    put_good(&b);
    check(&b, (struct expected){120, 0, 1, 4});
}

TEST(an_empty_event_is_reported_once_per_buffer_and_returned) {
    struct builder b = begin_bad(64 + 8 + 16 + 16 + 8);
    put_metadata(&b, 5, 0, 4, 0);
    put_metadata(&b, 8, 0, 4, 0);
    put_call(&b, PFR_TRACE_EXIT, 1, 5);
    put_good(&b);
    check(&b, (struct expected){120, 0, 1, 4});
}

TEST(an_empty_buffer_and_one_without_a_cpu_are_fine) {
    struct builder b = {0};
    put_xray_header(&b, 5, 4096);
    put_extents(&b, 0);
    put_extents(&b, 48);
    put_preamble(&b, 101, 0);
    b.length -= 16;
    put_good(&b);
    check(&b, (struct expected){0, 0, 0, 2});
}

TEST(version_1_without_a_buffer_size_is_read_up_to_the_end_of_each_buffer) {
    struct builder b = {0};
    put_xray_header(&b, 1, 7);
    for (unsigned i = 0; i < 2; i++) {
        put_metadata(&b, 0, 101, 4, 0);
        put_metadata(&b, 4, 5, 8, 250);
        put_metadata(&b, 2, 3, 2, 1000 + i);
        put_call(&b, PFR_TRACE_ENTER, 1, 0);
        put_metadata(&b, 1, 0, 8, 0);
    }
    check(&b, (struct expected){0, 0, 0, 2});
}

/* --- Times. */

static uint64_t tsc_of_call(struct builder *b, unsigned wanted, bool *timed) {
    pfr_error err;
    pfr_record rec;
    pfr_reader *r = open_built(b, &err);
    uint64_t tsc = 0;
    pfr_status s;
    assert_non_null(r);
    for (unsigned calls = 0; (s = pfr_next(r, &rec, &err)) >= 0 && s != PFR_END;)
        if (s == PFR_OK && rec.type == PFR_TRACE_FUNCTION && calls++ == wanted) {
            tsc = pfr_get_trace_point(r)->tsc;
            *timed = pfr_get_trace_point(r)->timed;
        }
    pfr_close(r);
    free(b->bytes);
    return tsc;
}

TEST(in_version_1_a_buffer_goes_on_from_the_buffer_of_its_thread) {
    struct builder b = {0};
    bool timed = false;
    put_xray_header(&b, 1, 128);
    for (uint32_t i = 0; i < 4; i++) { /* threads 101, 102, 101, 103: the third and the fourth buffer have no time */
        const size_t begin = b.length;
        put_metadata(&b, 0, i == 3 ? 103 : 101 + i % 2, 4, 0);
        put_metadata(&b, 4, 5, 8, 250);
        if (i < 2)
            put_metadata(&b, 2, 3, 2, 1000 * (i + 1));
        put_call(&b, PFR_TRACE_ENTER, 1, 7);
        put_metadata(&b, 1, 0, 8, 0);
        memset(put_room(&b, 128 - (b.length - begin)), 0x0f, 128 - (b.length - begin));
    }
    struct builder again = {.bytes = malloc(b.length), .length = b.length, .room = b.length};
    memcpy(again.bytes, b.bytes, b.length);
    assert_int_equal(tsc_of_call(&b, 2, &timed), 1014);
    assert_true(timed);
    assert_int_equal(tsc_of_call(&again, 3, &timed), 7);
    assert_false(timed);
}

TEST(from_version_2_on_no_time_crosses_a_buffer) {
    struct builder b = begin_bad(64 + 8);
    bool timed = true;
    put_extents(&b, 32 + 8);
    put_metadata(&b, 0, 101, 4, 0);
    put_metadata(&b, 4, 5, 8, 250);
    put_call(&b, PFR_TRACE_EXIT, 1, 9);
    assert_int_equal(tsc_of_call(&b, 1, &timed), 9);
    assert_false(timed);
}

TEST(an_event_of_version_5_moves_the_time_back_too) {
    struct builder b = begin_bad(64 + 8 + 16 + 8);
    bool timed = false;
    put_metadata(&b, 5, 0, 4, (uint32_t)-50);
    put_call(&b, PFR_TRACE_EXIT, 1, UINT32_MAX);
    assert_int_equal(tsc_of_call(&b, 1, &timed), 1000ull - 50 + UINT32_MAX);
    assert_true(timed);
}

/* --- Limits. */

TEST(an_event_above_the_limit_chunk_is_a_hole_and_reading_goes_on) {
    const pfr_limits limits = {.size = sizeof limits, .chunk = 1 << 20};
    const pfr_open_options options = {.size = sizeof options, .limits = &limits};
    const uint32_t size = 2 << 20;
    struct builder b = begin_bad(64 + 8 + 16 + (uint64_t)size);
    pfr_error err;
    pfr_record rec;
    pfr_status s;
    unsigned calls = 0, holes = 0;
    put_metadata(&b, 5, size, 4, 0);
    put_room(&b, size);
    put_good(&b);
    pfr_reader *r = pfr_open_bytes(b.bytes, b.length, &options, &err);
    assert_non_null(r);
    while ((s = pfr_next(r, &rec, &err)) >= 0 && s != PFR_END) {
        holes += s == PFR_HOLE && strstr(err.text, "limit chunk");
        calls += s == PFR_OK && rec.type == PFR_TRACE_FUNCTION;
    }
    assert_int_equal(s, PFR_END);
    assert_int_equal(holes, 1);
    assert_int_equal(calls, 3);
    pfr_close(r);
    free(b.bytes);
}

TEST(the_limit_records_ends_reading) {
    const pfr_limits limits = {.size = sizeof limits, .records = 7};
    const pfr_open_options options = {.size = sizeof options, .limits = &limits};
    struct builder b = begin_bad(64 + 8);
    pfr_error err;
    pfr_record rec;
    pfr_status s;
    put_good(&b);
    pfr_reader *r = pfr_open_bytes(b.bytes, b.length, &options, &err);
    assert_non_null(r);
    while ((s = pfr_next(r, &rec, &err)) == PFR_OK)
        ;
    assert_int_equal(s, PFR_ERR_LIMIT);
    assert_non_null(strstr(err.text, "limit records"));
    pfr_close(r);
    free(b.bytes);
}
