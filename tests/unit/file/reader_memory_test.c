/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: every allocation of opening, reading and closing fails once. Then nothing is left over, the failure is said,
 * or what was read is the same as without it. And a limit on memory is an error, not a crash.
 */
#include "recorded_files.h"
#include "recording_builder.h"
#include "../base/failing_alloc.h"

/* Everything the public calls reach: records, names, features. */
static pfr_status read_everything(const char *path, const pfr_open_options *options, uint64_t *sum, pfr_error *err) {
    pfr_reader *r = pfr_open(path, options, err);
    if (!r)
        return err->status;
    struct tally t = {0};
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
