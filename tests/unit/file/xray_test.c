/* SPDX-License-Identifier: Apache-2.0 */
/* Traces through the reader: every version and byte order says the same; what is broken costs itself and is said. */
#include "xray_files.h"
#include "file/xray/xray_calls.h"

#include <unistd.h>

/* --- What is said is the same in every version, byte order and form. */

struct call {
    int32_t tid;
    uint32_t function;
    uint64_t action, tsc;
};

struct story {
    struct call calls[512];
    size_t count;
};

static void add_call(struct story *story, const pfr_trace_point *at, uint32_t function, uint32_t action) {
    assert_true(story->count < 512 && at->timed && at->has_tid);
    story->calls[story->count++] = (struct call){at->tid, function, action, at->tsc};
}

static void hear(struct story *story, const pfr_record *rec, const pfr_trace_point *at) {
    struct pfr_rec_fdr_function fdr;
    struct pfr_rec_basic_function basic;
    pfr_error err;
    if (rec->type == PFR_TRACE_FUNCTION) {
        ASSERT_OK(pfr_decode(rec, &fdr, sizeof fdr, &err), err);
        add_call(story, at, fdr.function, fdr.action);
    } else if (rec->type == PFR_TRACE_BASIC_FUNCTION) {
        ASSERT_OK(pfr_decode(rec, &basic, sizeof basic, &err), err);
        add_call(story, at, basic.function, basic.action);
    }
}

static void read_story(const char *path, struct story *story) {
    pfr_error err;
    pfr_record rec;
    pfr_status s;
    pfr_reader *r = pfr_open(path, NULL, &err);
    if (!r)
        fail_msg("%s: %s", path, err.text);
    story->count = 0;
    while ((s = pfr_next(r, &rec, &err)) == PFR_OK) {
        assert_non_null(pfr_record_name(&rec));
        hear(story, &rec, pfr_get_trace_point(r));
    }
    if (s != PFR_END)
        fail_msg("%s: %s", path, err.text);
    assert_int_equal(pfr_get_quality(r)->holes, 0);
    pfr_close(r);
}

static void compare_story(const char *path, void *context) {
    const struct story *expected = context;
    const bool no_tails = strstr(path, "basic-v1") != NULL;
    struct story story;
    read_story(path, &story);
    if (strstr(path, "profile"))
        return;
    assert_int_equal(story.count, expected->count);
    for (size_t i = 0; i < story.count; i++) {
        const struct call *a = &story.calls[i], *b = &expected->calls[i];
        const uint64_t action = no_tails && b->action == PFR_TRACE_TAIL_EXIT ? PFR_TRACE_EXIT : b->action;
        if (a->tid != b->tid || a->function != b->function || a->action != action || a->tsc != b->tsc)
            fail_msg("%s: call %zu is %ju of #%u in %d at %ju", path, i, (uintmax_t)a->action, a->function, a->tid,
                     (uintmax_t)a->tsc);
    }
}

TEST(every_version_and_order_tells_the_same_calls) {
    char path[RECORDED_PATH];
    struct story story;
    read_story(recorded_path(path, "../xray/fdr-v5.xray"), &story);
    assert_int_equal(story.count, 17);
    assert_int_equal(story.calls[11].tsc, 5000000007u);
    assert_int_equal(each_trace(compare_story, &story), 23);
}

/* --- Runs of calls. */

static bool take_runs(pfr_reader *r, struct story *story, size_t most) {
    struct trace_call calls[64];
    const pfr_trace_point *at = pfr_get_trace_point(r);
    bool any = false;
    for (size_t count; (count = trace_take_calls(r, calls, most)) > 0; any = true)
        for (size_t i = 0; i < count; i++) {
            add_call(story, at, calls[i].function, calls[i].action);
            story->calls[story->count - 1].tsc = calls[i].tsc;
        }
    return any;
}

static void compare_runs(const char *path, void *context) {
    struct story story, expected;
    pfr_error err;
    pfr_record rec;
    bool *any = context;
    read_story(path, &expected);
    for (size_t most = 1; most < 5; most++) {
        pfr_reader *r = pfr_open(path, NULL, &err);
        assert_non_null(r);
        for (story.count = 0; pfr_next(r, &rec, &err) == PFR_OK; *any |= take_runs(r, &story, most))
            hear(&story, &rec, pfr_get_trace_point(r));
        assert_int_equal(story.count, expected.count);
        assert_memory_equal(story.calls, expected.calls, story.count * sizeof *story.calls);
        pfr_close(r);
    }
}

TEST(runs_of_calls_are_the_same_calls) {
    bool any = false;
    each_trace(compare_runs, &any);
    each_recorder_trace(compare_runs, &any);
    assert_true(any);
}

/* --- Every prefix. */

struct whole {
    uint8_t *bytes;
    size_t length, count;
    uint64_t begins[128], ends[128], sums[128];
    bool borders[128]; /* nothing is missing where the input ends behind this record */
};

/* A buffer's last record is behind its extents; where version 1 keeps filler, the end of the file is. */
static bool ends_something(const pfr_reader *r, const pfr_record *rec, uint64_t buffer_end) {
    const pfr_header *h = pfr_get_header(r);
    if (h->format == PFR_XRAY_BASIC)
        return true;
    return h->format == PFR_XRAY_FDR && h->version > 1 && rec->offset + rec->size == buffer_end;
}

static void learn_whole(struct whole *w) {
    pfr_error err;
    pfr_record rec;
    struct pfr_rec_fdr_buffer_extents extents;
    uint64_t sum = 0, buffer_end = 0;
    pfr_reader *r = pfr_open_bytes(w->bytes, w->length, NULL, &err);
    assert_non_null(r);
    for (w->count = 0; pfr_next(r, &rec, &err) == PFR_OK; w->count++) {
        assert_true(w->count < 128);
        if (rec.type == PFR_TRACE_BUFFER_EXTENTS && pfr_decode(&rec, &extents, sizeof extents, &err) == PFR_OK)
            buffer_end = rec.offset + rec.size + extents.size;
        w->begins[w->count] = rec.offset;
        w->ends[w->count] = rec.offset + rec.size;
        w->sums[w->count] = sum = mix_bytes(sum + rec.type, rec.bytes, rec.size);
        w->borders[w->count] = ends_something(r, &rec, buffer_end);
    }
    pfr_close(r);
}

static size_t whole_records(const struct whole *w, size_t length) {
    size_t count = 0;
    while (count < w->count && w->ends[count] <= length)
        count++;
    return count;
}

static void check_prefix(const struct whole *w, const char *path, size_t length, size_t count, uint64_t sum,
                         uint64_t holes) {
    const size_t expected = whole_records(w, length);
    if (count != expected || (count && sum != w->sums[count - 1]))
        fail_msg("%s: %zu bytes give %zu records of %zu", path, length, count, expected);
    const bool is_border = length == 32 || length == w->length ||
                           (expected && w->borders[expected - 1] && w->ends[expected - 1] == length);
    if (!holes && !is_border && !strstr(path, "profile") && !strstr(path, "fdr-v1"))
        fail_msg("%s: of %zu bytes nothing is said to be missing", path, length);
}

static void read_prefix(const struct whole *w, const char *path, size_t length) {
    pfr_error err = {0};
    pfr_record rec;
    pfr_status s;
    uint64_t sum = 0, holes = 0;
    size_t count = 0;
    uint8_t *copy = malloc(length ? length : 1); /* of its own, so that the sanitizer sees a read past the end */
    assert_non_null(copy);
    memcpy(copy, w->bytes, length);
    pfr_reader *r = pfr_open_bytes(copy, length, NULL, &err);
    if (!r && (length >= 32 || err.text[0] == 0))
        fail_msg("%s: %zu bytes are refused: %s", path, length, err.text);
    while (r && (s = pfr_next(r, &rec, &err)) >= 0 && s != PFR_END) {
        if (s == PFR_HOLE) {
            holes++;
            if (err.offset > length || err.length > length - err.offset)
                fail_msg("%s: %zu bytes have a hole at %ju", path, length, (uintmax_t)err.offset);
            continue;
        }
        sum = mix_bytes(sum + rec.type, rec.bytes, rec.size);
        count++;
    }
    if (r)
        check_prefix(w, path, length, count, sum, holes);
    pfr_close(r);
    free(copy);
}

static void read_prefixes(const char *path, void *context) {
    struct whole w;
    (void)context;
    w.bytes = load_whole(path, &w.length);
    learn_whole(&w);
    for (size_t length = 0; length <= w.length; length++)
        read_prefix(&w, path, length);
    free(w.bytes);
}

TEST(every_prefix_keeps_every_whole_record) {
    each_trace(read_prefixes, NULL);
}

/* --- Damage, one kind at a time. Each trace has a good buffer behind the bad one. */

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

/* A buffer whose extents say `size`, with one call; what is bad follows at 128. */
static struct builder begin_bad(uint64_t size) {
    struct builder b = {0};
    put_xray_header(&b, 5, 4096);
    put_extents(&b, size);
    put_preamble(&b, 101, 1000);
    put_call(&b, PFR_TRACE_ENTER, 1, 0);
    return b;
}

TEST(an_unknown_kind_costs_the_rest_of_its_buffer) {
    struct builder b = begin_bad(64 + 8 + 16 + 8);
    put_metadata(&b, 10, 0, 8, 0);
    put_call(&b, PFR_TRACE_EXIT, 1, 5);
    put_good(&b);
    check(&b, (struct expected){120, 24, 1, 3});
}

TEST(an_unknown_action_costs_the_rest_of_its_buffer) {
    struct builder b = begin_bad(64 + 8 + 16);
    put_call(&b, 5, 1, 5);
    put_call(&b, PFR_TRACE_EXIT, 1, 5);
    put_good(&b);
    check(&b, (struct expected){120, 16, 1, 3});
}

TEST(an_event_of_negative_size_costs_the_rest_of_its_buffer) {
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

TEST(extents_that_are_too_large_do_not_cost_the_next_buffer) {
    for (uint64_t more = 1; more < 200; more += 7) {
        struct builder b = begin_bad(64 + 8 + more);
        put_good(&b);
        check(&b, (struct expected){120, 0, 1, 3});
    }
    struct builder huge = begin_bad(UINT64_MAX);
    put_good(&huge);
    check(&huge, (struct expected){120, 0, 1, 3});
}

TEST(damage_in_a_buffer_of_huge_extents_costs_up_to_the_next_buffer) {
    struct builder b = begin_bad(UINT64_MAX - 5);
    put_metadata(&b, 99, 0, 8, 0);
    put_good(&b);
    check(&b, (struct expected){120, 16, 1, 3});
}

TEST(extents_that_are_too_small_cost_what_is_behind_them) {
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

TEST(a_record_out_of_place_is_said_and_given) {
    struct builder b = begin_bad(64 + 8 + 16 + 16 + 8);
    put_metadata(&b, 9, 78, 4, 0);
    put_metadata(&b, 2, 3, 2, 2000);
    put_call(&b, PFR_TRACE_EXIT, 1, 5);
    put_good(&b);
    check(&b, (struct expected){120, 0, 1, 4});
}

TEST(an_event_of_no_bytes_is_said_once_for_a_buffer_and_given) {
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
    for (uint32_t i = 0; i < 4;
         i++) { /* threads 101, 102, 101, 103: the third has no time of its own, nor the fourth */
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

/* --- What is no trace, and what is another. */

static void expect_refused(const void *bytes, size_t length, const char *words) {
    pfr_error err;
    assert_null(pfr_open_bytes(bytes, length, NULL, &err));
    assert_int_equal(err.status, PFR_ERR_FORMAT);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

TEST(versions_that_are_not_known_are_refused) {
    struct builder b = {0};
    put_xray_header(&b, 6, 4096);
    expect_refused(b.bytes, 32, "version 6");
    b.bytes[0] = 0;
    expect_refused(b.bytes, 32, "not a recording");
    b.bytes[0] = 4;
    b.bytes[2] = 0;
    expect_refused(b.bytes, 32, "basic log of version 4");
    b.bytes[0] = 5;
    b.bytes[2] = 1;
    expect_refused(b.bytes, 31, "within its header");
    free(b.bytes);
}

TEST(a_small_number_at_the_begin_makes_no_trace) {
    uint8_t bytes[128];
    memset(bytes, 0x41, sizeof bytes);
    for (uint8_t version = 1; version <= 3; version++) {
        const uint8_t begin[] = {version, 0, 0, 0, 0x40, 0, 0, 0};
        memcpy(bytes, begin, sizeof begin);
        expect_refused(bytes, sizeof bytes, "not a recording");
    }
}

/* One thing that is wrong in the header does not hide a trace. */
static void break_header(const char *path, void *context) {
    static const struct { size_t at, length; } places[] = {{4, 4}, {16, 8}, {24, 8}, {32, 1}};
    const bool is_profile = strstr(path, "profile") != NULL;
    (void)context;
    for (size_t i = 0; !is_profile && i < sizeof places / sizeof *places; i++) {
        pfr_error err;
        size_t length;
        uint8_t *bytes = load_whole(path, &length);
        memset(bytes + places[i].at, 0xfe, places[i].length);
        pfr_reader *r = pfr_open_bytes(bytes, length, NULL, &err);
        if (!r)
            fail_msg("%s: with a broken byte %zu it is refused: %s", path, places[i].at, err.text);
        pfr_close(r);
        free(bytes);
    }
}

TEST(one_broken_member_of_the_header_does_not_hide_a_trace) {
    each_trace(break_header, NULL);
    each_recorder_trace(break_header, NULL);
}

TEST(a_reader_of_perf_data_has_no_trace_point) {
    char path[RECORDED_PATH];
    pfr_error err;
    pfr_reader *r = pfr_open(recorded_path(path, "cpu-clock.data"), NULL, &err);
    assert_non_null(r);
    assert_null(pfr_get_trace_point(r));
    assert_int_equal(pfr_get_header(r)->format, PFR_PERF_DATA);
    pfr_close(r);
}
