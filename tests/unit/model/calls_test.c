/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that calls_read finds in traces: each rule for pairing, buffers in time order, damage, limits. */
#include "calls_traces.h"

/* Expects the same result with any number of workers; frees the trace. */
static void expect_trace(struct builder *b, const char *expected, unsigned holes) {
    pfr_error err = {.offset = 0};
    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        struct call_log t = {.fail_at = 0};
        pfr_reader *reader = open_trace(b, NULL);
        ASSERT_OK(read_call_log(&t, reader, jobs, &err), err);
        char *text = call_log_text(&t);
        assert_string_equal(text, expected);
        assert_int_equal(t.holes, holes);
        assert_int_equal(t.totals.lossy, holes > 0);
        free(text);
        call_log_free(&t);
        pfr_close(reader);
    }
    free(b->bytes);
}

static void expect_calls_of(const char *text, const char *expected) {
    struct builder b = begin_trace();
    put_buffer(&b, 7, 1000, text);
    expect_trace(&b, expected, 0);
}

/* --- Pairing. */

TEST(a_call_has_its_callees_in_its_latency_and_not_in_its_self_time) {
    expect_calls_of("+1 +2 -2 +3 -3 -1", "7 call 1;2 10 10\n7 call 1;3 10 10\n7 call 1 50 30\n");
}

TEST(each_call_of_a_recursion_is_one) {
    expect_calls_of("+1 +1 +1 -1 -1 -1", "7 call 1;1;1 10 10\n7 call 1;1 30 20\n7 call 1 50 20\n");
}

TEST(an_enter_with_an_argument_is_an_enter) {
    expect_calls_of("*1 -1", "7 call 1 10 10\n");
}

TEST(a_tail_exit_ends_a_call) {
    expect_calls_of("+1 +2 ~2 +3 -3 -1", "7 call 1;2 10 10 tail\n7 call 1;3 10 10\n7 call 1 50 30\n");
}

TEST(calls_above_the_one_that_ends_stay_open) {
    expect_calls_of("+1 +2 +3 -1", "7 open 1;2;3\n7 open 1;2\n7 call 1 30 30\n");
}

TEST(an_open_call_hands_what_it_called_to_its_caller) {
    expect_calls_of("+1 +2 +3 -3 -1", "7 call 1;2;3 10 10\n7 open 1;2\n7 call 1 40 30\n");
}

TEST(the_innermost_open_call_of_the_function_ends) {
    expect_calls_of("+1 +2 +1 +3 -1 -2 -1", "7 open 1;2;1;3\n7 call 1;2;1 20 20\n7 call 1;2 40 20\n7 call 1 60 20\n");
}

/* Reads the calls of one thread with this request; expects the same lines. */
static void expect_requested(const char *text, unsigned reach, bool deduce, const char *expected) {
    struct call_log t = {.reach = reach, .deduce = deduce};
    struct builder b = begin_trace();
    pfr_error err = {.offset = 0};
    put_buffer(&b, 7, 1000, text);
    pfr_reader *reader = open_trace(&b, NULL);
    ASSERT_OK(read_call_log(&t, reader, 1, &err), err);
    char *text_read = call_log_text(&t);
    assert_string_equal(text_read, expected);
    free(text_read);
    call_log_free(&t);
    pfr_close(reader);
    free(b.bytes);
}

TEST(unfinished_calls_end_with_their_caller_on_request) {
    expect_requested("+1 +2 +3 -1", 0, true, "7 call 1;2;3 10 10 deduced\n7 call 1;2 20 10 deduced\n7 call 1 30 10\n");
    expect_requested("+1 +2 ~1 +4", 0, true, "7 call 1;2 10 10 tail deduced\n7 call 1 20 10 tail\n7 open 4\n");
}

TEST(a_batch_of_calls_that_end_at_once_is_as_long_as_it_must_be) {
    char text[6000] = "", expected[100];
    for (unsigned i = 0; i < 1500; i++)
        strcat(text, i == 0 ? "+1" : " +2");
    strcat(text, " -1");
    struct call_log t = {.reach = 1, .deduce = true};
    struct builder b = begin_trace();
    put_buffer(&b, 7, 1000, text);
    pfr_reader *reader = open_trace(&b, NULL);
    assert_int_equal(read_call_log(&t, reader, 1, NULL), PFR_OK);
    assert_int_equal(t.totals.calls, 1500);
    assert_int_equal(t.totals.open, 0);
    snprintf(expected, sizeof expected, "7 call 2 10 10 deduced\n");
    assert_string_equal(t.lines[0].text, expected);
    call_log_free(&t);
    pfr_close(reader);
    free(b.bytes);
}

/* Finished calls are passed on in batches, unmatched exits immediately. */
TEST(paths_reach_as_far_as_is_requested) {
    const char *const text = "+1 +2 +3 -3 -2 +3 -3 -9 -1 +2";
    expect_requested(
        text, 0, false,
        "7 lone 9 at 1\n7 call 1;2;3 10 10\n7 call 1;2 30 20\n7 call 1;3 10 10\n7 call 1 80 40\n7 open 2\n");
    expect_requested(text, 1, false,
                     "7 lone 9 at 1\n7 call 3 10 10\n7 call 2 30 20\n7 call 3 10 10\n7 call 1 80 40\n7 open 2\n");
    expect_requested(text, 2, false,
                     "7 lone 9 at 1\n7 call 2;3 10 10\n7 call 1;2 30 20\n7 call 1;3 10 10\n7 call 1 80 40\n7 open 2\n");
}

TEST(an_unmatched_exit_changes_nothing) {
    expect_calls_of("-9 +1 -9 +2 -9 -2 -1",
                    "7 lone 9 at \n7 lone 9 at 1\n7 lone 9 at 1;2\n7 call 1;2 20 20\n7 call 1 50 30\n");
}

TEST(calls_open_at_the_end_stay_open_innermost_first) {
    expect_calls_of("+1 +2 +3 -3", "7 call 1;2;3 10 10\n7 open 1;2\n7 open 1\n");
}

TEST(a_trace_without_calls_has_none) {
    struct builder b = begin_trace();
    expect_trace(&b, "", 0);
    expect_calls_of("", "");
}

static void put_basic_call(struct builder *b, unsigned action, uint32_t function, uint64_t tsc, uint32_t tid) {
    put_number(b, 0, 2);
    put_number(b, 0, 1);
    put_number(b, action, 1);
    put_number(b, function, 4);
    put_number(b, tsc, 8);
    put_number(b, tid, 4);
    put_number(b, 77, 4);
    put_number(b, 0, 8);
}

static struct builder begin_basic(void) {
    struct builder b = begin_trace();
    set_number(&b, b.bytes, 3, 2);
    set_number(&b, b.bytes + 2, 0, 2);
    return b;
}

TEST(a_latency_below_0_is_0_and_self_time_may_be_less) {
    struct builder b = begin_basic();
    put_basic_call(&b, 0, 1, 100, 7);
    put_basic_call(&b, 0, 2, 200, 7);
    put_basic_call(&b, 1, 2, 150, 7); /* before its enter */
    put_basic_call(&b, 0, 3, 110, 7);
    put_basic_call(&b, 1, 3, 190, 7);
    put_basic_call(&b, 1, 1, 130, 7);
    expect_trace(&b, "7 call 1;2 0 0 back\n7 call 1;3 80 80\n7 call 1 30 -50\n", 0);
}

TEST(threads_of_a_basic_log_come_in_turns) {
    struct builder b = begin_basic();
    put_basic_call(&b, 0, 1, 100, 7);
    put_basic_call(&b, 0, 5, 105, 8);
    put_basic_call(&b, 0, 2, 110, 7);
    put_basic_call(&b, 1, 5, 115, 8);
    put_basic_call(&b, 0, 6, 116, 8);
    put_basic_call(&b, 1, 2, 120, 7);
    put_basic_call(&b, 1, 1, 130, 7);
    put_basic_call(&b, 0, 0xffffffff, 140, 7); /* ids of basic-mode logs have 32 bits */
    expect_trace(&b, "7 call 1;2 10 10\n7 call 1 30 20\n7 open 4294967295\n8 call 5 10 10\n8 open 6\n", 0);
}

/* --- Buffers. */

TEST(calls_go_on_from_buffer_to_buffer_in_the_order_of_time) {
    struct builder b = begin_trace();
    put_buffer(&b, 7, 3000, "-2 -1");
    put_buffer(&b, 7, 1000, "+1 +2");
    put_buffer(&b, 7, 2000, "+3 -3");
    expect_trace(&b, "7 call 1;2;3 10 10\n7 call 1;2 1990 1980\n7 call 1 2010 20\n", 0);
}

TEST(buffers_of_one_time_go_by_their_place) {
    struct builder b = begin_trace();
    put_buffer(&b, 7, 1000, "+1");
    put_buffer(&b, 7, 1000, "-1");
    expect_trace(&b, "7 call 1 0 0\n", 0);
}

TEST(threads_are_paired_each_for_itself) {
    struct builder b = begin_trace();
    put_buffer(&b, 8, 1000, "+1 +2");
    put_buffer(&b, 7, 1000, "+1 -2");
    put_buffer(&b, 8, 2000, "-2");
    put_buffer(&b, 7, 500, "+2");
    expect_trace(&b, "7 open 2;1\n7 call 2 510 510\n8 call 1;2 990 990\n8 open 1\n", 0);
}

TEST(events_are_counted_and_are_no_calls) {
    struct builder b = begin_trace();
    struct call_log t = {.fail_at = 0};
    pfr_error err = {.offset = 0};
    put_extents(&b, 64 + 16 + 20 + 18 + 8 + 8);
    put_preamble(&b, 7, 1000);
    put_metadata(&b, 3, 5000, 8, 0); /* a clock wrap */
    put_call(&b, 0, 1, 5);
    put_metadata(&b, 5, 4, 4, 100);
    put_bytes(&b, "abcd", 4);
    put_metadata(&b, 8, 2, 4, 50);
    put_bytes(&b, "xy", 2);
    put_call(&b, 1, 1, 7);
    pfr_reader *reader = open_trace(&b, NULL);
    ASSERT_OK(read_call_log(&t, reader, 1, &err), err);
    assert_int_equal(t.count, 1);
    assert_string_equal(t.lines[0].text, "7 call 1 157 157\n");
    assert_int_equal(t.totals.custom, 1);
    assert_int_equal(t.totals.typed, 1);
    assert_int_equal(t.totals.buffers, 1);
    assert_int_equal(t.totals.threads, 1);
    assert_int_equal(t.totals.first, 5005);
    assert_int_equal(t.totals.last, 5162);
    assert_int_equal(t.totals.shortest, 157);
    assert_int_equal(t.totals.frequency, 1000000000);
    call_log_free(&t);
    pfr_close(reader);
    free(b.bytes);
}

/* --- Damage. */

TEST(the_calls_before_and_after_a_hole_are_kept) {
    struct builder b = begin_trace();
    put_buffer(&b, 7, 1000, "+1 +2 -2 !3 -1");
    put_buffer(&b, 7, 2000, "+4 -4 -1");
    put_buffer(&b, 8, 2000, "+5 !1 -5");
    expect_trace(&b, "7 call 1;2 10 10\n7 call 1;4 10 10\n7 call 1 1020 1000\n8 open 5\n", 2);
}

TEST(extents_that_reach_over_the_next_buffer_do_not_hide_it) {
    struct builder b = begin_trace();
    const size_t begin = b.length;
    put_buffer(&b, 7, 3000, "+1 -1");
    put_buffer(&b, 7, 2000, "+2 -2");
    set_number(&b, b.bytes + begin + 1, b.length - begin - 16, 8); /* extents that include the next buffer */
    put_buffer(&b, 7, 1000, "+3 -3");
    expect_trace(&b, "7 call 3 10 10\n7 call 2 10 10\n7 call 1 10 10\n", 1);
}

TEST(a_truncated_trace_gives_its_complete_calls) {
    struct builder b = begin_trace();
    put_buffer(&b, 7, 1000, "+1 +2 -2 -1");
    b.length -= 3;
    expect_trace(&b, "7 call 1;2 10 10\n7 open 1\n", 1);
}

TEST(a_buffer_may_change_its_thread) {
    struct builder b = begin_trace();
    put_extents(&b, 64 + 8 + 16 + 16 + 16 + 16);
    put_preamble(&b, 7, 1000);
    put_call(&b, 0, 1, 10);
    put_metadata(&b, 0, 8, 4, 0);
    put_call(&b, 0, 2, 10);
    put_call(&b, 1, 2, 10);
    put_metadata(&b, 0, 7, 4, 0);
    put_call(&b, 1, 1, 10);
    put_call(&b, 0, 3, 10);
    expect_trace(&b, "7 call 1 30 30\n7 open 3\n8 call 2 10 10\n", 4);
}

TEST(enters_without_a_time_count_from_0_and_are_counted) {
    struct builder b = begin_trace();
    struct call_log t = {.fail_at = 0};
    pfr_error err = {.offset = 0};
    put_extents(&b, 48 + 16);
    put_preamble(&b, 7, 1000);
    b.length -= 16; /* no NewCPUId */
    put_steps(&b, "+1 -1");
    pfr_reader *reader = open_trace(&b, NULL);
    ASSERT_OK(read_call_log(&t, reader, 1, &err), err);
    assert_int_equal(t.totals.untimed, 2);
    assert_string_equal(t.lines[0].text, "7 call 1 10 10\n");
    assert_true(t.totals.lossy); /* its position in time is uncertain */
    call_log_free(&t);
    pfr_close(reader);
    free(b.bytes);
}

/* --- Depth. */

static void put_nest(struct builder *b, uint32_t depth, uint32_t functions) {
    for (uint32_t i = 0; i < depth; i++)
        put_call(b, 0, 1 + i % functions, 1);
}

static void end_buffer(struct builder *b, size_t begin) {
    set_number(b, b->bytes + begin + 1, b->length - begin - 16, 8);
}

static struct calls_totals totals_of(const struct builder *b, const pfr_limits *limits) {
    static const struct calls_sink sink = {.begin = log_begin};
    struct call_log t = {.fail_at = 0};
    struct calls_totals totals;
    pfr_error err = {.offset = 0};
    const struct calls_request request = {.sink = &sink, .context = &t};
    pfr_reader *reader = open_trace(b, limits);
    ASSERT_OK(calls_read(reader, &request, &totals, &err), err);
    pfr_close(reader);
    return totals;
}

TEST(distant_and_unmatched_exits_are_distinguished_in_deep_stacks) {
    struct builder b = begin_trace();
    const size_t begin = b.length;
    put_extents(&b, 0);
    put_preamble(&b, 7, 1000);
    put_nest(&b, 1000, 1000);
    for (uint32_t i = 0; i < 1000; i++)
        put_call(&b, 1, 5000 + i, 1); /* exits without an enter */
    put_call(&b, 1, 501, 1);          /* the 499 calls above it stay open */
    put_call(&b, 1, 900, 1);          /* not open any more */
    for (uint32_t i = 500; i > 0; i--)
        put_call(&b, 1, i, 1);
    end_buffer(&b, begin);
    const struct calls_totals totals = totals_of(&b, NULL);
    assert_int_equal(totals.calls, 501);
    assert_int_equal(totals.open, 499);
    assert_int_equal(totals.lone, 1001);
    free(b.bytes);
}

TEST(calls_that_are_too_deep_belong_to_their_caller) {
    struct builder b = begin_trace();
    const size_t begin = b.length;
    put_extents(&b, 0);
    put_preamble(&b, 7, 1000);
    put_nest(&b, CALLS_DEEPEST + 3, 1);
    for (uint32_t i = 0; i < CALLS_DEEPEST + 3; i++)
        put_call(&b, 1, 1, 1);
    end_buffer(&b, begin);
    const struct calls_totals totals = totals_of(&b, NULL);
    assert_int_equal(totals.calls, CALLS_DEEPEST);
    assert_int_equal(totals.too_deep, 3);
    assert_int_equal(totals.open + totals.lone, 0);
    free(b.bytes);
}

TEST(paths_that_memory_has_no_room_for_are_the_limit) {
    struct builder b = begin_trace();
    const size_t begin = b.length;
    const pfr_limits limits = {.size = sizeof limits, .memory = 2 << 20};
    put_extents(&b, 0);
    put_preamble(&b, 7, 1000);
    for (uint32_t i = 1; i <= 100000; i++) {
        put_call(&b, 0, i, 1);
        put_call(&b, 1, i, 1);
    }
    end_buffer(&b, begin);
    const struct calls_totals totals = totals_of(&b, &limits);
    assert_int_equal(totals.calls, 100000);
    assert_in_range(totals.limited, 50000, 99999);
    free(b.bytes);
}

/* --- Profile files. */

static void put_path(struct builder *b, const uint32_t *leaf_first, uint64_t count, uint64_t time) {
    for (; *leaf_first; leaf_first++)
        put_number(b, *leaf_first, 4);
    put_number(b, 0, 4);
    put_number(b, count, 8);
    put_number(b, time, 8);
}

TEST(a_profile_file_gives_sums) {
    struct builder b = {0};
    const uint32_t outer[] = {1, 0}, inner[] = {2, 1, 0};
    put_number(&b, 0x7872617970726f66, 8);
    put_number(&b, 0x20180424, 8);
    put_number(&b, 5, 8);
    put_number(&b, 77, 8);
    put_number(&b, 16 + 24 + 28, 4);
    put_number(&b, 0, 4);
    put_number(&b, 7, 8);
    put_path(&b, outer, 1, 100);
    put_path(&b, inner, 3, 60);
    expect_trace(&b, "7 sum 1 1 100 100\n7 sum 1;2 3 60 60\n7 sum 1 0 0 -60\n", 0);
}

/* --- Ticks. */

TEST(ticks_are_nanoseconds_by_the_frequency) {
    assert_int_equal(calls_ns(7, 0), 7);
    assert_int_equal(calls_ns(7, 1000000000), 7);
    assert_int_equal(calls_ns(26, 2600000000), 10);
    assert_int_equal(calls_ns(25, 2600000000), 9);
    assert_true(calls_ns(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(calls_ns(UINT64_MAX, 2000000000) == UINT64_MAX / 2);
}
