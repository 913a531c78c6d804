/* SPDX-License-Identifier: Apache-2.0 */
/* Traces through the reader: every version and byte order has the same contents, and every prefix gives its complete
   records. */
#include "xray_files.h"
#include "file/xray/xray_calls.h"

#include <unistd.h>

/* --- The contents are the same in every version, byte order and form. */

struct call {
    int32_t tid;
    uint32_t function;
    uint64_t action, tsc;
};

struct trace_calls {
    struct call calls[512];
    size_t count;
};

static void add_call(struct trace_calls *found, const pfr_trace_point *at, uint32_t function, uint32_t action) {
    assert_true(found->count < 512 && at->timed && at->has_tid);
    found->calls[found->count++] = (struct call){at->tid, function, action, at->tsc};
}

static void hear(struct trace_calls *found, const pfr_record *rec, const pfr_trace_point *at) {
    struct pfr_rec_fdr_function fdr;
    struct pfr_rec_basic_function basic;
    pfr_error err;
    if (rec->type == PFR_TRACE_FUNCTION) {
        ASSERT_OK(pfr_decode(rec, &fdr, sizeof fdr, &err), err);
        add_call(found, at, fdr.function, fdr.action);
    } else if (rec->type == PFR_TRACE_BASIC_FUNCTION) {
        ASSERT_OK(pfr_decode(rec, &basic, sizeof basic, &err), err);
        add_call(found, at, basic.function, basic.action);
    }
}

static void read_calls(const char *path, struct trace_calls *found) {
    pfr_error err;
    pfr_record rec;
    pfr_status s;
    pfr_reader *r = pfr_open(path, NULL, &err);
    if (!r)
        fail_msg("%s: %s", path, err.text);
    found->count = 0;
    while ((s = pfr_next(r, &rec, &err)) == PFR_OK) {
        assert_non_null(pfr_record_name(&rec));
        hear(found, &rec, pfr_get_trace_point(r));
    }
    if (s != PFR_END)
        fail_msg("%s: %s", path, err.text);
    assert_int_equal(pfr_get_quality(r)->holes, 0);
    pfr_close(r);
}

static void compare_calls(const char *path, void *context) {
    const struct trace_calls *expected = context;
    const bool no_tails = strstr(path, "basic-v1") != NULL;
    struct trace_calls found;
    read_calls(path, &found);
    if (strstr(path, "profile"))
        return;
    assert_int_equal(found.count, expected->count);
    for (size_t i = 0; i < found.count; i++) {
        const struct call *a = &found.calls[i], *b = &expected->calls[i];
        const uint64_t action = no_tails && b->action == PFR_TRACE_TAIL_EXIT ? PFR_TRACE_EXIT : b->action;
        if (a->tid != b->tid || a->function != b->function || a->action != action || a->tsc != b->tsc)
            fail_msg("%s: call %zu is %ju of #%u in %d at %ju", path, i, (uintmax_t)a->action, a->function, a->tid,
                     (uintmax_t)a->tsc);
    }
}

TEST(every_version_and_byte_order_has_the_same_calls) {
    char path[RECORDED_PATH];
    struct trace_calls found;
    read_calls(recorded_path(path, "../xray/fdr-v5.xray"), &found);
    assert_int_equal(found.count, 17);
    assert_int_equal(found.calls[11].tsc, 5000000007u);
    assert_int_equal(each_trace(compare_calls, &found), 23);
}

/* --- Runs of calls. */

static bool take_runs(pfr_reader *r, struct trace_calls *found, size_t most) {
    struct xray_call calls[64];
    const pfr_trace_point *at = pfr_get_trace_point(r);
    bool any = false;
    for (size_t count; (count = xray_take_calls(r, calls, most)) > 0; any = true)
        for (size_t i = 0; i < count; i++) {
            add_call(found, at, calls[i].function, calls[i].action);
            found->calls[found->count - 1].tsc = calls[i].tsc;
        }
    return any;
}

static void compare_runs(const char *path, void *context) {
    struct trace_calls found, expected;
    pfr_error err;
    pfr_record rec;
    bool *any = context;
    read_calls(path, &expected);
    for (size_t most = 1; most < 5; most++) {
        pfr_reader *r = pfr_open(path, NULL, &err);
        assert_non_null(r);
        for (found.count = 0; pfr_next(r, &rec, &err) == PFR_OK; *any |= take_runs(r, &found, most))
            hear(&found, &rec, pfr_get_trace_point(r));
        assert_int_equal(found.count, expected.count);
        assert_memory_equal(found.calls, expected.calls, found.count * sizeof *found.calls);
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
    bool borders[128]; /* no data is missing if the input ends after this record */
};

/* Whether the input may end after this record: always in basic-mode traces, at the end of a buffer in FDR traces from
 * version 2 on. Buffers of version 1 end with padding, so version 1 may only end at the end of the file. */
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
    uint8_t *copy = malloc(length ? length : 1); /* a separate block, so that sanitizers detect a read beyond the end */
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

TEST(every_prefix_keeps_every_complete_record) {
    each_trace(read_prefixes, NULL);
}

/* --- Inputs that are no trace, or another kind of trace. */

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
    expect_refused(b.bytes, 32, "basic log of the unknown version 4");
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

/* A trace is recognised even if one field of the header is wrong. */
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
