/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of version 1: a correct buffer_size in the header is used; if it is wrong, buffers are found nevertheless.
 * Also the time to which deltas are added after damage. */
#include "xray_files.h"

enum { STRIDE = 256, BUFFERS = 5, CALLS = 4 };

/* `lost`: bit mask of the buffers whose first byte is destroyed. */
static struct builder make(uint64_t buffer_size, unsigned buffers, unsigned lost) {
    struct builder b = {0};
    put_xray_header(&b, 1, buffer_size);
    for (unsigned i = 0; i < buffers; i++) {
        const size_t begin = b.length;
        put_metadata(&b, 0, 101, 4, 0);
        put_metadata(&b, 4, 5, 8, 250);
        put_metadata(&b, 2, 3, 2, 1000 * (i + 1));
        for (unsigned call = 0; call < CALLS; call++)
            put_call(&b, call % 2, 1, 10);
        put_metadata(&b, 1, 0, 8, 0);
        memset(put_room(&b, STRIDE - (b.length - begin)), 0x41, STRIDE - (b.length - begin));
        if (lost >> i & 1)
            b.bytes[begin] = 0xff;
    }
    return b;
}

struct counts {
    unsigned calls, holes;
    uint64_t hole; /* offset of the first buffer */
};

static struct counts count(struct builder *b) {
    struct counts counts = {0};
    pfr_error err;
    pfr_record rec;
    pfr_status st;
    pfr_reader *r = open_built(b, &err);
    assert_non_null(r);
    while ((st = pfr_next(r, &rec, &err)) >= 0 && st != PFR_END) {
        counts.calls += st == PFR_OK && rec.type == PFR_TRACE_FUNCTION;
        if (st == PFR_HOLE && counts.holes++ == 0)
            counts.hole = err.offset;
    }
    assert_int_equal(st, PFR_END);
    pfr_close(r);
    free(b->bytes);
    return counts;
}

TEST(a_right_size_is_kept) {
    for (unsigned buffers = 1; buffers <= BUFFERS; buffers++) {
        struct builder b = make(STRIDE, buffers, 0);
        const struct counts counts = count(&b);
        assert_int_equal(counts.calls, buffers * CALLS);
        assert_int_equal(counts.holes, 0);
    }
}

TEST(a_wrong_size_is_reported_and_corrected) {
    static const uint64_t sizes[] = {0, 1, 16, 100, 128, 255, 257, 512, 768, 1024, 1280, 1 << 20, UINT64_MAX};
    for (unsigned buffers = 3; buffers <= BUFFERS; buffers++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct builder b = make(sizes[i], buffers, 0);
            const struct counts counts = count(&b);
            if (counts.calls != buffers * CALLS || counts.holes != 1 || counts.hole != 16)
                fail_msg("%u buffers, a size of %ju: %u calls, %u holes, the first at %ju", buffers,
                         (uintmax_t)sizes[i], counts.calls, counts.holes, (uintmax_t)counts.hole);
        }
}

TEST(a_size_is_right_though_a_buffer_has_lost_its_begin) {
    for (unsigned lost = 1; lost < BUFFERS; lost++) {
        struct builder b = make(STRIDE, BUFFERS, 1u << lost);
        const struct counts counts = count(&b);
        assert_int_equal(counts.calls, (BUFFERS - 1) * CALLS);
        assert_int_equal(counts.holes, 1);
        assert_int_equal(counts.hole, 32 + lost * STRIDE);
    }
}

/* --- The time to which deltas are added. */

static void put_v1_buffer(struct builder *b, uint64_t cpu_tsc, unsigned action_of_second) {
    const size_t begin = b->length;
    put_metadata(b, 0, 101, 4, 0);
    put_metadata(b, 4, 5, 8, 250);
    if (cpu_tsc)
        put_metadata(b, 2, 3, 2, cpu_tsc);
    put_call(b, 0, 1, 10);
    put_call(b, action_of_second, 1, 10);
    put_metadata(b, 1, 0, 8, 0);
    put_room(b, STRIDE - (b->length - begin));
}

/* The times of the calls; 0 for an unknown time. */
static void expect_times(const struct builder *b, const uint64_t *times, size_t count) {
    pfr_error err;
    pfr_record rec;
    pfr_status st;
    size_t at = 0;
    pfr_reader *r = pfr_open_bytes(b->bytes, b->length, NULL, &err);
    assert_non_null(r);
    const pfr_trace_point *point = pfr_get_trace_point(r);
    for (int pass = 0; pass < 2; pass++, at = 0) {
        while ((st = pfr_next(r, &rec, &err)) >= 0 && st != PFR_END)
            if (st == PFR_OK && rec.type == PFR_TRACE_FUNCTION) {
                assert_true(at < count);
                assert_int_equal(point->timed ? point->tsc : 0, times[at]);
                at++;
            }
        assert_int_equal(at, count);
        ASSERT_OK(pfr_rewind(r, &err), err);
    }
    pfr_close(r);
}

TEST(a_buffer_goes_on_from_the_one_before_unless_that_is_damaged) {
    static const uint64_t good[] = {1010, 1020, 1030, 1040, 1050, 1060}, bad[] = {1010, 0, 0, 0, 0},
                          later[] = {1010, 5010, 5020, 5030, 5040};
    struct builder b = {0};
    put_xray_header(&b, 1, STRIDE);
    put_v1_buffer(&b, 1000, 1);
    put_v1_buffer(&b, 0, 1);
    put_v1_buffer(&b, 0, 1);
    expect_times(&b, good, 6);
    b.length = 32;
    put_v1_buffer(&b, 1000, 7); /* an unknown action */
    put_v1_buffer(&b, 0, 1);
    put_v1_buffer(&b, 0, 1);
    expect_times(&b, bad, 5);
    b.length = 32;
    put_v1_buffer(&b, 1000, 7);
    put_v1_buffer(&b, 5000, 1);
    put_v1_buffer(&b, 0, 1);
    expect_times(&b, later, 5);
    free(b.bytes);
}
