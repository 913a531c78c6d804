/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that recover reconstructs, and those that it leaves out. */
#include "made_file.h"
#include "wire/any_layout.h"
#include "wire/feature_bits.h"

#include <string.h>

enum { SAMPLE = 9, UNKNOWN = 60 };

static struct builder two_events(void) {
    struct builder b = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 2});
    put_comm(&b, 12, "twelve", FIRST_ID);
    for (unsigned i = 0; i < 10; i++) {
        put_sample(&b, 0x1000, FIRST_ID + i % 2);
        set_number(&b, b.bytes + b.length - 8, 7000 + i, 8);
    }
    return b;
}

static const pfr_edit_options same = {.level = 0};

TEST(names_ids_and_the_time_span_of_samples_are_rebuilt) {
    struct builder b = two_events();
    struct made_file m;
    struct pfr_rec_feature_sample_time span;
    pfr_error err = {.text = ""};
    end_file(&b);
    made_open(&m);
    pfr_reader *r = open_built(&b, NULL), *made = made_from(&m, r, true, same, PFR_OK);
    const pfr_feature *f = pfr_find_feature(made, BIT_SAMPLE_TIME, &err);
    assert_non_null(f);
    ASSERT_OK(pfr_decode_feature(made, f, &span, sizeof span, &err), err);
    assert_int_equal(span.first, 7000);
    assert_int_equal(span.last, 7009);
    assert_non_null(pfr_find_feature(made, BIT_EVENT_DESC, &err));
    assert_int_equal(pfr_event_count(made), 2);
    assert_int_equal(pfr_get_event(made, 1)->nr_ids, 1);
    assert_int_equal(pfr_get_event(made, 1)->ids[0], FIRST_ID + 1);
    assert_true(pfr_get_event(made, 1)->named);
    pfr_close(made);
    pfr_close(r);
    made_close(&m);
    free(b.bytes);
}

static void expect_left_out(struct builder *b, const char *text) {
    struct made_file m;
    end_file(b);
    made_open(&m);
    pfr_reader *r = open_built(b, NULL), *made = made_from(&m, r, true, same, PFR_HOLE);
    if (!strstr(m.first, text))
        fail_msg("reported \"%s\", not \"%s\"", m.first, text);
    assert_int_equal(count_type(made, SAMPLE), 10);
    assert_int_equal(pfr_get_quality(made)->unknown_records, 0);
    assert_int_equal(pfr_get_quality(made)->unknown_ids, 0);
    pfr_close(made);
    pfr_close(r);
    made_close(&m);
    free(b->bytes);
}

TEST(a_sample_of_no_event_is_left_out) {
    struct builder b = two_events();
    put_sample(&b, 0x1000, 999);
    expect_left_out(&b, "a sample that belongs to no event");
}

TEST(a_record_of_an_unknown_type_is_left_out) {
    struct builder b = two_events();
    put_head(&b, UNKNOWN, 0, 16);
    put_number(&b, 1, 8);
    put_comm(&b, 13, "thirteen", FIRST_ID);
    expect_left_out(&b, "unknown type 60");
}

TEST(a_cpu_map_of_an_unknown_form_is_left_out) {
    struct builder b = two_events();
    put_head(&b, 74, 0, 16);
    put_number(&b, 77, 2);
    put_room(&b, 6);
    put_comm(&b, 13, "thirteen", FIRST_ID);
    expect_left_out(&b, "unknown type 77");
}

TEST(the_id_of_no_event_in_other_records_becomes_0) {
    struct builder b = two_events();
    put_comm(&b, 13, "thirteen", 999);
    expect_left_out(&b, "set to 0");
}

/* --- Events missing in the header. */

static void put_described(struct builder *b, unsigned events) {
    const size_t slot = b->length, begin = slot + 16;
    put_section(b, begin, 0);
    put_number(b, events, 4);
    put_number(b, BUILT_ATTR, 4);
    for (unsigned i = 0; i < events; i++) {
        put_attr(b, true);
        put_number(b, 1, 4);
        put_number(b, 8, 4);
        put_bytes(b, i ? "second\0" : "first\0\0", 8);
        put_number(b, FIRST_ID + i, 8);
    }
    set_number(b, b->bytes + slot + 8, b->length - begin, 8);
    set_number(b, b->bytes + 72, 1u << BIT_EVENT_DESC, 8);
}

static void expect_events(const struct builder *b, pfr_status expected, unsigned events, uint64_t samples) {
    struct made_file m;
    made_open(&m);
    pfr_reader *r = open_built(b, NULL), *made = made_from(&m, r, true, same, expected);
    assert_int_equal(pfr_event_count(made), events);
    assert_int_equal(m.counts.samples, samples);
    for (unsigned i = 0; i < events && samples; i++)
        assert_string_equal(pfr_get_event(made, i)->name, i ? "second" : "first");
    pfr_close(made);
    pfr_close(r);
    made_close(&m);
}

static struct builder with_description(void) {
    struct builder b = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 2});
    for (unsigned i = 0; i < 10; i++)
        put_sample(&b, 0x1000, FIRST_ID + i % 2);
    end_file(&b);
    put_described(&b, 2);
    return b;
}

TEST(attrs_that_are_lost_come_out_of_event_desc) {
    enum { ATTRS = 104 + 16, ENTRY = BUILT_ATTR + 16 };
    struct builder b = with_description();
    expect_events(&b, PFR_OK, 2, 10);
    memset(b.bytes + ATTRS, 0, ENTRY); /* one of the events */
    expect_events(&b, PFR_HOLE, 2, 10);
    memset(b.bytes + ATTRS, 0, 2 * ENTRY);
    expect_events(&b, PFR_HOLE, 2, 10);
    free(b.bytes);
}

TEST(ids_that_are_lost_come_out_of_event_desc) {
    enum { ATTRS = 104 + 16, ENTRY = BUILT_ATTR + 16 };
    struct builder b = with_description();
    memset(b.bytes + ATTRS + BUILT_ATTR, 0, 16);
    memset(b.bytes + ATTRS + ENTRY + BUILT_ATTR, 0, 16);
    expect_events(&b, PFR_HOLE, 2, 10);
    set_number(&b, b.bytes + b.length - 12 - 12, 1u << 30, 4); /* a name longer than the section is not used */
    expect_events(&b, PFR_HOLE, 2, 0);
    free(b.bytes);
}

/* A file without EVENT_DESC, whose ids are lost, with ID_INDEX after `garbage` bytes. */
static struct builder with_index(unsigned garbage) {
    enum { ATTRS = 104 + 16, ENTRY = BUILT_ATTR + 16, INDEX = 69, INDEX_SIZE = 16 + 2 * 32 };
    struct builder b = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 2});
    put_room(&b, garbage);
    put_head(&b, INDEX, 0, INDEX_SIZE);
    put_number(&b, 2, 8);
    for (unsigned i = 0; i < 2; i++) {
        put_number(&b, FIRST_ID + i, 8);
        put_room(&b, 24);
    }
    for (unsigned i = 0; i < 10; i++)
        put_sample(&b, 0x1000, FIRST_ID + i % 2);
    end_file(&b);
    for (unsigned i = 0; i < 2; i++)
        memset(b.bytes + ATTRS + i * ENTRY + BUILT_ATTR, 0, 16);
    return b;
}

/* The recovered recording has all samples, and the header has their ids: otherwise, reading it would report a hole. */
static void expect_recovered_ids(const struct builder *b) {
    struct made_file m;
    made_open(&m);
    pfr_reader *r = open_built(b, NULL), *made = made_from(&m, r, true, same, PFR_HOLE);
    assert_int_equal(m.counts.samples, 10);
    assert_int_equal(count_type(made, 9), 10);
    pfr_close(made);
    pfr_close(r);
    made_close(&m);
}

TEST(ids_that_are_lost_come_out_of_id_index) {
    static const unsigned garbage[] = {0, 20, 4096};
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        struct builder b = with_index(garbage[i]);
        expect_recovered_ids(&b);
        set_number(&b, b.bytes + 104 + 16 + 4, 0, 4); /* the size that attrs of the first version may have */
        expect_recovered_ids(&b);
        free(b.bytes);
    }
}

/* In a stream the second event may come after records of the first, whose ids are not looked at until then. */
TEST(ids_of_no_event_are_found_before_a_late_event_too) {
    static const pfr_container forms[] = {PFR_FILE, PFR_PIPE};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct builder b = {0};
        struct made_file m, again;
        begin_pipe(&b, 2);
        struct builder moved = {0};
        const size_t entry = 8 + BUILT_ATTR + 8;
        put_bytes(&moved, b.bytes, b.length - entry);
        put_comm(&moved, 7, "seven", 12345);
        for (unsigned k = 0; k < 6; k++)
            put_sample(&moved, 0x1000, k < 3 ? FIRST_ID : 12345);
        put_bytes(&moved, b.bytes + b.length - entry, entry);
        put_sample(&moved, 0x1000, FIRST_ID + 1);
        made_open(&m), made_open(&again);
        pfr_reader *r = open_built(&moved, NULL);
        pfr_reader *made = made_from(&m, r, true, (pfr_edit_options){.to_form = true, .container = forms[i]}, PFR_HOLE);
        assert_int_equal(m.counts.samples, 4);
        assert_int_equal(m.counts.lost, 4);
        pfr_close(made_from(&again, made, true, same, PFR_OK));
        pfr_close(made), pfr_close(r);
        made_close(&m), made_close(&again);
        free(b.bytes), free(moved.bytes);
    }
}
