/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: every allocation of opening, reading and closing fails once. Then nothing leaks, and the failure is reported
 * or the result equals that of a run without failure. Exceeding the memory limit is an error, not a crash.
 */
#include "recorded_files.h"
#include "recording_builder.h"
#include "xray_files.h"
#include "../base/failing_alloc.h"
#include "file/read/features.h"

/* Reads everything that the public calls reach: records, names, features. Closes the reader, which may be NULL. */
static pfr_status read_and_close(pfr_reader *r, uint64_t *sum, pfr_error *err) {
    struct tally t = {0};
    if (!r)
        return err->status;
    pfr_record rec;
    while ((t.last = pfr_next(r, &rec, err)) >= 0 && t.last != PFR_END)
        t.sum = t.last == PFR_OK ? mix_bytes(t.sum, rec.bytes, rec.size) : t.sum + 1;
    for (uint32_t i = 0; t.last >= 0 && i < pfr_feature_count(r); i++) {
        const pfr_feature *feature = pfr_get_feature(r, i, err);
        if (feature)
            t.sum = mix_bytes(t.sum, feature->bytes.at, feature->bytes.length);
        else
            t.last = err->status;
    }
    for (uint32_t i = 0; t.last >= 0 && i < pfr_event_count(r); i++) {
        const char *name = pfr_get_event(r, i)->name;
        t.sum = mix_bytes(t.sum, (const uint8_t *)name, strlen(name));
    }
    pfr_close(r);
    *sum = t.sum;
    return t.last;
}

static pfr_status read_everything(const char *path, const pfr_open_options *options, uint64_t *sum, pfr_error *err) {
    return read_and_close(pfr_open(path, options, err), sum, err);
}

static void fail_each(const char *path) {
    struct failing_alloc failing;
    pfr_error err = {0};
    uint64_t expected, sum = 0;
    long n = 1;
    assert_int_equal(read_everything(path, NULL, &expected, &err), PFR_END);
    for (;; n++) {
        failing_alloc_begin(&failing, n);
        const pfr_open_options options = {.size = sizeof options, .alloc = &failing.alloc};
        const pfr_status s = read_everything(path, &options, &sum, &err);
        if (failing.blocks != 0)
            fail_msg("%s: %ld blocks are left when allocation %ld fails", path, failing.blocks, n);
        if (!failing.has_failed)
            break;
        if (s != PFR_ERR_MEMORY && !(s == PFR_END && sum == expected))
            fail_msg("%s: allocation %ld fails, and the result is %s, other bytes: %s", path, n, pfr_status_name(s),
                     err.text);
    }
    assert_true(n > 3);
    assert_int_equal(sum, expected);
}

static void fail_each_of(const char *path, void *context) {
    (void)context;
    fail_each(path);
}

TEST(every_allocation_of_reading_fails_once) {
    each_recorded(fail_each_of, NULL);
}

TEST(every_allocation_of_reading_a_trace_fails_once) {
    each_trace(fail_each_of, NULL);
    assert_int_equal(each_recorder_trace(fail_each_of, NULL), 3);
}

TEST(a_limit_on_memory_is_an_error) {
    char path[RECORDED_PATH];
    recorded_path(path, "pipe-tracepoints.data");
    unsigned refused = 0;
    for (uint64_t memory = 1; memory < (uint64_t)8 << 20; memory = memory * 3 / 2 + 1) {
        struct failing_alloc counted;
        failing_alloc_begin(&counted, 0);
        const pfr_limits limits = {.size = sizeof limits, .memory = memory};
        const pfr_open_options options = {.size = sizeof options, .limits = &limits, .alloc = &counted.alloc};
        pfr_error err = {0};
        uint64_t sum;
        const pfr_status s = read_everything(path, &options, &sum, &err);
        refused += s == PFR_ERR_LIMIT;
        if (s != PFR_ERR_LIMIT && s != PFR_END)
            fail_msg("%ju bytes of memory: %s, %s", (uintmax_t)memory, pfr_status_name(s), err.text);
        assert_int_equal(counted.blocks, 0);
    }
    assert_true(refused > 5);
}

/* --- Every stored item is once the last item that fits into a block of memory. */

enum { CONFIG = 6, BLOCK = 4096 };

static void put_update(struct builder *b, uint64_t kind, const char *text) {
    put_head(b, 78, 0, 8 + 16 + 32);
    put_number(b, kind, 8);
    put_number(b, FIRST_ID, 8);
    memcpy(put_room(b, 32), text, strlen(text));
}

static void put_host(struct builder *b) {
    put_head(b, 80, 0, 8 + 8 + 4 + 64);
    put_number(b, 3, 8);
    put_number(b, 64, 4);
    memcpy(put_room(b, 64), "host", 4);
}

/* A stream with everything that a reader stores; the number of ids shifts everything after them. */
static struct builder keeping_stream(unsigned ids) {
    struct builder b = {0};
    put_bytes(&b, magic_of(&b), 8);
    put_number(&b, 16, 8);
    put_head(&b, 64, 0, 8 + BUILT_ATTR + 8 * ids);
    const size_t attr = b.length;
    put_attr(&b, false);
    set_number(&b, b.bytes + attr, 2, 4); /* a tracepoint */
    set_number(&b, b.bytes + attr + 8, CONFIG, 8);
    for (unsigned i = 0; i < ids; i++)
        put_number(&b, FIRST_ID + i, 8);
    put_head(&b, 64, 0, 8 + BUILT_ATTR);
    put_attr(&b, false);
    put_tracing_data(&b, "sched", "name: switch\nID: 6\n");
    put_update(&b, 0, "a unit of some length");
    put_update(&b, 2, "a name of some length");
    put_host(&b);
    put_sample(&b, 1, 0);
    return b;
}

static void fail_each_of_stream(const struct builder *b, unsigned ids) {
    struct failing_alloc failing = {.has_failed = true};
    pfr_error err = {0};
    uint64_t expected, sum = 0;
    assert_int_equal(read_and_close(open_built(b, NULL), &expected, &err), PFR_END);
    for (long n = 1; failing.has_failed; n++) {
        failing_alloc_begin(&failing, n);
        const pfr_open_options options = {.size = sizeof options, .alloc = &failing.alloc};
        pfr_reader *r = pfr_open_bytes(b->bytes, b->length, &options, &err);
        const pfr_status s = read_and_close(r, &sum, &err);
        assert_int_equal(failing.blocks, 0);
        if (s != PFR_ERR_MEMORY && !(s == PFR_END && sum == expected))
            fail_msg("%u ids: allocation %ld fails, and the result is %s: %s", ids, n, pfr_status_name(s), err.text);
    }
}

TEST(every_allocation_fails_wherever_a_block_of_memory_ends) {
    for (unsigned ids = 1; ids <= BLOCK / 8; ids++) {
        struct builder b = keeping_stream(ids);
        fail_each_of_stream(&b, ids);
        free(b.bytes);
    }
}

/* Features are read when they are requested: the first one without enough memory is remembered. */
TEST(a_feature_that_memory_is_missing_for_is_remembered) {
    enum { LARGE = 1 << 20, HOST = 3, RELEASE = 4 };
    const pfr_limits limits = {.size = sizeof limits, .memory = LARGE / 2};
    const pfr_open_options options = {.size = sizeof options, .limits = &limits};
    struct builder b = {0};
    pfr_error err = {0}, unread = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1, .features = 1u << HOST | 1u << RELEASE});
    put_sample(&b, 1, 0);
    end_file(&b);
    put_section(&b, b.length + 32, LARGE);
    put_section(&b, b.length + 16, LARGE + 8);
    put_room(&b, LARGE + 8);
    pfr_reader *r = pfr_open_bytes(b.bytes, b.length, &options, &err);
    assert_non_null(r);
    assert_int_equal(features_unread(r, NULL), PFR_OK);
    assert_null(pfr_find_feature(r, HOST, &err));
    assert_int_equal(err.status, PFR_ERR_LIMIT);
    assert_null(pfr_find_feature(r, RELEASE, NULL));
    assert_int_equal(features_unread(r, NULL), PFR_ERR_LIMIT);
    assert_int_equal(features_unread(r, &unread), PFR_ERR_LIMIT);
    assert_string_equal(unread.text, err.text);
    assert_int_equal(read_through(r).samples, 1);
    pfr_close(r);
    free(b.bytes);
}
