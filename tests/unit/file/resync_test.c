/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One bad record among many loses only that record: every kind of damage is tested at every place of a small recording,
 * in both byte orders, as file and as stream. No records are invented.
 */
#include "recording_builder.h"

enum { SAMPLES = 24, SAMPLE_SIZE = 32, FIRST_IP = 0x400000 };

struct bad {
    struct builder *b;
    uint8_t *at;   /* the record */
    unsigned size; /* of the record */
};

typedef void make_bad(const struct bad *bad);

static void set_size(const struct bad *bad, unsigned size) {
    set_number(bad->b, bad->at + 6, size, 2);
}

static void set_type(const struct bad *bad, uint32_t type) {
    set_number(bad->b, bad->at, type, 4);
}

static void size_zero(const struct bad *bad) {
    set_size(bad, 0);
}
static void size_of_a_header(const struct bad *bad) {
    set_size(bad, 8);
}
static void size_below_a_header(const struct bad *bad) {
    set_size(bad, 7);
}
static void size_odd(const struct bad *bad) {
    set_size(bad, bad->size + 3);
}
static void size_a_word_more(const struct bad *bad) {
    set_size(bad, bad->size + 8);
}
static void size_a_word_less(const struct bad *bad) {
    set_size(bad, bad->size - 8);
}
static void size_of_two(const struct bad *bad) {
    set_size(bad, 2 * bad->size);
}
static void size_the_most(const struct bad *bad) {
    set_size(bad, 65528);
}
static void type_of_nothing(const struct bad *bad) {
    set_type(bad, 0);
    size_zero(bad);
}
static void type_and_size_wrong(const struct bad *bad) {
    set_type(bad, 0xdeadbeef);
    size_a_word_more(bad);
}
static void header_of_ones(const struct bad *bad) {
    memset(bad->at, 0xff, 8);
}
static void all_zeros(const struct bad *bad) {
    memset(bad->at, 0, bad->size);
}

static void all_random(const struct bad *bad) {
    uint64_t state = 0x9e3779b97f4a7c15u + (uintptr_t)bad->size;
    for (unsigned i = 0; i < bad->size; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bad->at[i] = (uint8_t)(state >> 56);
    }
}

static const struct {
    const char *name;
    make_bad *make;
} kinds[] = {
#define KIND(name)                                                                                                     \
    { #name, name }
    KIND(size_zero),        KIND(size_of_a_header),    KIND(size_below_a_header), KIND(size_odd),
    KIND(size_a_word_more), KIND(size_a_word_less),    KIND(size_of_two),         KIND(size_the_most),
    KIND(type_of_nothing),  KIND(type_and_size_wrong), KIND(header_of_ones),      KIND(all_zeros),
    KIND(all_random),
#undef KIND
};

/* Adds samples whose ip is their number; returns the offset of the first one. */
static size_t build(struct builder *b, bool pipe) {
    if (pipe)
        begin_pipe(b, 1);
    else
        begin_file(b, &(struct plan){.header_size = 104, .events = 1});
    const size_t first = b->length;
    for (unsigned i = 0; i < SAMPLES; i++)
        put_sample(b, FIRST_IP + i, 0);
    if (!pipe)
        end_file(b);
    return first;
}

/* The returned samples: bit n for the sample with ip FIRST_IP + n. */
static uint64_t samples_given(pfr_reader *r, size_t first, uint64_t *holes) {
    uint64_t given = 0;
    pfr_record rec;
    pfr_error err;
    pfr_status s;
    *holes = 0;
    while ((s = pfr_next(r, &rec, &err)) >= 0 && s != PFR_END) {
        pfr_value ip;
        *holes += s == PFR_HOLE;
        if (s == PFR_HOLE || rec.type != PFR_RECORD_SAMPLE)
            continue;
        assert_int_equal((rec.offset - first) % SAMPLE_SIZE, 0); /* no sample is invented */
        ASSERT_OK(pfr_get(&rec, "ip", &ip, &err), err);
        const unsigned number = (unsigned)((rec.offset - first) / SAMPLE_SIZE);
        if (ip.as.u == FIRST_IP + number)
            given |= 1ull << number;
    }
    assert_int_equal(s, PFR_END);
    return given;
}

static void expect_all_but_one(const char *kind, make_bad *make, unsigned number, bool big, bool pipe) {
    struct builder b = {.big = big};
    const size_t first = build(&b, pipe);
    const struct bad bad = {&b, b.bytes + first + number * SAMPLE_SIZE, SAMPLE_SIZE};
    uint64_t holes;
    make(&bad);
    pfr_reader *r = open_built(&b, NULL);
    const uint64_t all = (1ull << SAMPLES) - 1, given = samples_given(r, first, &holes);
    if ((given | 1ull << number) != all)
        fail_msg("%s at sample %u of a %s %s: given %llx", kind, number, big ? "big-endian" : "little-endian",
                 pipe ? "stream" : "file", (unsigned long long)given);
    if (holes == 0)
        fail_msg("%s at sample %u is not said", kind, number);
    const pfr_quality *q = pfr_get_quality(r);
    assert_int_equal(q->bad_records + q->garbage + q->cut + q->bad_compressed + q->bad_header, q->holes);
    pfr_close(r);
    free(b.bytes);
}

static void try_all(bool big, bool pipe) {
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (unsigned number = 0; number < SAMPLES; number++)
            expect_all_but_one(kinds[kind].name, kinds[kind].make, number, big, pipe);
}

TEST(one_bad_record_of_a_file_loses_only_itself) {
    try_all(false, false);
}

TEST(one_bad_record_of_a_big_endian_file_loses_only_itself) {
    try_all(true, false);
}

TEST(one_bad_record_of_a_stream_loses_only_itself) {
    try_all(false, true);
}

/* Random bytes between records give one hole of their length. */
TEST(garbage_between_records_is_one_hole) {
    for (unsigned length = 1; length <= 64; length++) {
        struct builder b = {0};
        pfr_record rec;
        pfr_error err;
        begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
        put_sample(&b, 1, 0);
        const size_t at = b.length;
        all_random(&(struct bad){&b, put_room(&b, length), length});
        for (unsigned i = 0; i < 4; i++)
            put_sample(&b, 2, 0);
        end_file(&b);
        pfr_reader *r = open_built(&b, NULL);
        expect_record(r, &rec, 9);
        ASSERT_STATUS(pfr_next(r, &rec, &err), PFR_HOLE, err);
        assert_int_equal(err.offset, at);
        assert_int_equal(err.length, length);
        for (unsigned i = 0; i < 4; i++)
            expect_record(r, &rec, 9);
        expect_end(r);
        assert_int_equal(pfr_get_quality(r)->hole_bytes, length);
        pfr_close(r);
        free(b.bytes);
    }
}

/* Repeated headers with 65535 bytes and type 2^32 - 1, further than the reader looks ahead: garbage, not records of an
   unknown type. */
TEST(resync_ones_are_no_records) {
    enum { ONES = 400000 };
    struct builder b = {0};
    pfr_record rec;
    pfr_error err;
    pfr_status st;
    uint64_t given = 0, holes = 0;
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    for (unsigned i = 0; i < 20; i++)
        put_sample(&b, i, 0);
    memset(put_room(&b, ONES), 0xff, ONES);
    for (unsigned i = 0; i < 20; i++)
        put_sample(&b, i, 0);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    while ((st = pfr_next(r, &rec, &err)) >= 0 && st != PFR_END) {
        holes += st == PFR_HOLE;
        given += st == PFR_OK;
        if (st == PFR_HOLE)
            assert_int_equal(err.length, ONES);
    }
    assert_int_equal(given, 40);
    assert_int_equal(holes, 1);
    pfr_close(r);
    free(b.bytes);
}
