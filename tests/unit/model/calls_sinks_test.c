/* SPDX-License-Identifier: Apache-2.0 */
/* calls_read ends early: sinks that stop it, failing allocations, and damage that restarts the reading. */
#include "calls_traces.h"

#include "../base/failing_alloc.h"

TEST(an_error_of_the_sink_ends_the_reading) {
    struct builder b = begin_trace();
    put_buffer(&b, 7, 1000, "+1 -1 -9 +2 +3");
    put_buffer(&b, 8, 1000, "+1 -1");
    for (uint64_t n = 1; n <= 4; n++) {
        struct call_log t = {.fail_at = n};
        pfr_error err = {.offset = 0};
        pfr_reader *reader = open_trace(&b, NULL);
        assert_int_equal(read_call_log(&t, reader, 1, &err), PFR_ERR_IO);
        assert_string_equal(err.text, "the sink's own");
        call_log_free(&t);
        pfr_close(reader);
    }
    free(b.bytes);
}

TEST(samples_are_no_calls) {
    char path[RECORDED_PATH];
    struct call_log t = {.fail_at = 0};
    pfr_error err = {.offset = 0};
    pfr_reader *reader = pfr_open(recorded_path(path, "cpu-clock.data"), NULL, &err);
    assert_non_null(reader);
    assert_int_equal(read_call_log(&t, reader, 1, &err), PFR_ERR_USAGE);
    pfr_close(reader);
}

static pfr_status read_with(struct failing_alloc *failing, const struct builder *b) {
    const pfr_open_options how = {.size = sizeof how, .alloc = &failing->alloc};
    struct call_log t = {.fail_at = 0};
    pfr_error err = {.offset = 0};
    pfr_reader *reader = pfr_open_bytes(b->bytes, b->length, &how, &err);
    const pfr_status st = reader ? read_call_log(&t, reader, 2, &err) : err.status;
    call_log_free(&t);
    pfr_close(reader);
    return st;
}

TEST(every_allocation_fails_once) {
    struct builder b = begin_trace();
    struct failing_alloc failing;
    put_buffer(&b, 7, 1000, "+1 +2 +3 +4 +5 +6 +7 +8 +9 -9 +10 -10 +11 -11 +12 !1");
    put_buffer(&b, 8, 1000, "+1 +2 -2");
    for (long n = 1; failing_alloc_begin(&failing, n), read_with(&failing, &b), failing.has_failed; n++)
        assert_int_equal(failing.blocks, 0);
    assert_true(failing.requests > 10);
    failing_alloc_begin(&failing, 5);
    assert_int_equal(read_with(&failing, &b), PFR_ERR_MEMORY);
    free(b.bytes);
}

/* One long thread, whose calls other workers decode ahead: 20 buffers; the last buffer may be damaged. */
static struct builder long_thread(bool damaged) {
    struct builder b = begin_trace();
    for (unsigned i = 0; i < 20; i++) {
        const size_t begin = b.length;
        put_extents(&b, 0);
        put_preamble(&b, 7, 1000 + 100000 * i);
        for (uint32_t n = 0; n < 1000; n++) {
            put_call(&b, 0, 1 + n % 50, 1);
            put_call(&b, 1, 1 + n % 50, 1);
        }
        if (damaged && i == 15)
            put_steps(&b, "!1");
        set_number(&b, b.bytes + begin + 1, b.length - begin - 16, 8);
    }
    return b;
}

TEST(late_damage_restarts_also_with_prefetching_workers) {
    struct builder b = long_thread(true);
    for (unsigned jobs = 1; jobs <= 3; jobs++) {
        struct call_log t = {.fail_at = 0};
        pfr_error err = {.offset = 0};
        pfr_reader *reader = open_trace(&b, NULL);
        ASSERT_OK(read_call_log(&t, reader, jobs, &err), err);
        assert_int_equal(t.begins, 2);
        assert_int_equal(t.holes, 1);
        assert_int_equal(t.count, 20000);
        call_log_free(&t);
        pfr_close(reader);
    }
    free(b.bytes);
}

TEST(a_sink_may_stop_the_reading_with_prefetching_workers) {
    struct builder b = long_thread(false);
    struct call_log t = {.fail_at = 3000};
    pfr_error err = {.offset = 0};
    pfr_reader *reader = open_trace(&b, NULL);
    assert_int_equal(read_call_log(&t, reader, 2, &err), PFR_ERR_IO);
    call_log_free(&t);
    pfr_close(reader);
    free(b.bytes);
}

TEST(every_allocation_fails_once_with_prefetching_workers) {
    struct builder b = long_thread(false);
    struct failing_alloc failing;
    for (long n = 1; failing_alloc_begin(&failing, n), read_with(&failing, &b), failing.has_failed; n++)
        assert_int_equal(failing.blocks, 0);
    assert_true(failing.requests > 15);
    free(b.bytes);
}
