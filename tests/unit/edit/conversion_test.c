/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of recordings: byte order for each bit of sample_type, rounds, sizes of attrs, payloads. */
#include "../wire/same_fields.h"
#include "made_file.h"
#include "wire/any_layout.h"
#include "wire/layout_random.h"
#include "wire/names.h"

#include <fcntl.h>

enum { SAMPLE = 9, ROUND = 68, AUXTRACE = 71, EACH = 12 };

/* --- Each bit of sample_type, in both byte orders. */

struct instances {
    struct memory memory;
    struct arena arena;
    struct pfr_rec_attr attr;
    struct pfr_context context; /* the lists in `samples` point to it */
    struct pfr_rec_sample samples[EACH];
};

static void make_instances(struct instances *i, unsigned bit) {
    struct random_numbers random = {bit + 1};
    pfr_error err;
    memory_init(&i->memory, NULL, UINT64_MAX);
    arena_init(&i->arena, &i->memory);
    i->attr = (struct pfr_rec_attr){.type = 1,
                                    .size = 128,
                                    .sample_type = 1ull << bit,
                                    .read_format = bit == 4 ? 0x0f : 0,
                                    .branch_sample_type = bit == 11 ? 1u << 17 | 1 : 0,
                                    .sample_regs_user = 0x1f,
                                    .sample_regs_intr = 0x105};
    i->context = (struct pfr_context){.word = {[WORD_SAMPLE] = i->attr.sample_type,
                                               [WORD_READ] = i->attr.read_format,
                                               [WORD_BRANCH] = i->attr.branch_sample_type,
                                               [WORD_REGS_USER] = i->attr.sample_regs_user,
                                               [WORD_REGS_INTR] = i->attr.sample_regs_intr,
                                               [WORD_MISC] = 2}};
    for (unsigned n = 0; n < EACH; n++)
        ASSERT_OK(layout_random(&random, layout_at(L_sample), &i->context, &i->arena, &i->samples[n], &err), err);
}

static void write_instances(const struct instances *i, const char *path, pfr_order order) {
    const pfr_write_options how = {.size = sizeof how, .order = order};
    pfr_error err = {.text = ""};
    const uint64_t id = 7;
    pfr_writer *w = pfr_writer_open(path, &how, &err);
    assert_non_null(w);
    ASSERT_OK(pfr_writer_event(w, &i->attr, &id, 1, &err), err);
    for (unsigned n = 0; n < EACH; n++)
        ASSERT_OK(pfr_writer_put(w, 0, SAMPLE, 2, &i->samples[n], sizeof i->samples[n], NULL, &err), err);
    ASSERT_OK(pfr_writer_finish(w, &err), err);
    pfr_writer_close(w);
}

static void compare_instances(const struct instances *i, pfr_reader *r, unsigned bit) {
    pfr_record rec;
    pfr_error err = {.text = ""};
    struct pfr_rec_sample sample;
    for (unsigned n = 0; n < EACH; n++) {
        ASSERT_OK(pfr_next(r, &rec, &err), err);
        ASSERT_OK(pfr_decode(&rec, &sample, sizeof sample, &err), err);
        const char *field = first_difference(layout_at(L_sample), &i->samples[n], &sample);
        if (field)
            fail_msg("bit %u of sample_type: %s is another one", bit, field);
    }
    ASSERT_STATUS(pfr_next(r, &rec, &err), PFR_END, err);
}

static void turn(struct made_file *m, const struct instances *i, unsigned bit, pfr_order from, pfr_order to) {
    char source[48];
    pfr_error err = {.text = ""};
    snprintf(source, sizeof source, "%s/source", m->folder);
    unlink(source);
    write_instances(i, source, from);
    pfr_reader *r = pfr_open(source, NULL, &err);
    assert_non_null(r);
    pfr_reader *made = made_from(m, r, false, (pfr_edit_options){.order = to}, PFR_OK);
    assert_non_null(made);
    assert_int_equal(pfr_get_header(made)->big_endian, to == PFR_ORDER_BIG);
    compare_instances(i, made, bit);
    pfr_close(made);
    pfr_close(r);
    unlink(source);
}

TEST(every_bit_of_sample_type_is_right_in_the_other_byte_order) {
    static struct instances i;
    struct made_file m;
    unsigned bits = 0;
    made_open(&m);
    for (unsigned bit = 0; bit < 64; bit++) {
        if (!(names_bits(SHOW_SAMPLE_TYPE) >> bit & 1))
            continue;
        make_instances(&i, bit);
        turn(&m, &i, bit, PFR_ORDER_BIG, PFR_ORDER_LITTLE);
        turn(&m, &i, bit, PFR_ORDER_LITTLE, PFR_ORDER_BIG);
        arena_free(&i.arena);
        bits++;
    }
    assert_true(bits >= 25);
    made_close(&m);
}

/* --- Rounds. */

static void put_timed(struct builder *b, uint64_t time) {
    put_sample(b, 0x1000, 0);
    set_number(b, b->bytes + b->length - 8, time, 8);
}

static void put_round(struct builder *b) {
    put_head(b, ROUND, 0, 8);
}

/* Writes rounds of ten samples each; the time of the last sample is `last`. */
static struct builder in_rounds(unsigned rounds, uint64_t last) {
    struct builder b = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    for (unsigned n = 0; n < rounds; n++) {
        for (unsigned i = 0; i < 10; i++)
            put_timed(&b, 1000 * (n + 1) + i);
        put_round(&b);
    }
    put_timed(&b, last);
    put_round(&b);
    end_file(&b);
    return b;
}

/* Counts late records: at the end of a round, a reader may emit all records up to the latest one of the previous round,
 * and a late record is older than that. */
static uint64_t late_records(pfr_reader *r) {
    pfr_record rec;
    pfr_error err;
    uint64_t limit = 0, next = 0, latest = 0, late = 0;
    while (pfr_next(r, &rec, &err) == PFR_OK) {
        struct pfr_rec_sample sample;
        if (rec.type == ROUND) {
            limit = next;
            next = latest;
        } else if (rec.type == SAMPLE && pfr_decode(&rec, &sample, sizeof sample, NULL) == PFR_OK) {
            late += sample.time < limit;
            latest = sample.time > latest ? sample.time : latest;
        }
    }
    return late;
}

static void check_rounds(unsigned rounds, uint64_t last, bool kept, pfr_edit_options how) {
    struct builder b = in_rounds(rounds, last);
    struct made_file m;
    made_open(&m);
    for (unsigned recover = 0; recover < 2; recover++) {
        pfr_reader *r = open_built(&b, NULL), *made = made_from(&m, r, recover, how, PFR_OK);
        assert_int_equal(late_records(made), 0);
        assert_int_equal(count_type(made, ROUND), kept ? rounds + 1 : 0);
        assert_int_equal(pfr_get_quality(made)->samples, 10 * rounds + 1);
        assert_int_equal(m.counts.samples, 10 * rounds + 1);
        pfr_close(made);
        pfr_close(r);
    }
    made_close(&m);
    free(b.bytes);
}

TEST(rounds_are_kept_where_nothing_is_late) {
    check_rounds(3, 5000, true, (pfr_edit_options){.level = 0});
    check_rounds(3, 3005, true, (pfr_edit_options){.to_form = true, .container = PFR_PIPE});
}

/* Only the last of many records shows that no rounds may be written: the conversion starts again without rounds. */
TEST(no_round_is_written_where_the_last_record_is_late) {
    check_rounds(3, 5, false, (pfr_edit_options){.level = 0});
    check_rounds(2000, 1500, false, (pfr_edit_options){.level = 0});
    check_rounds(2000, 1500, false, (pfr_edit_options){.to_form = true, .container = PFR_PIPE});
    check_rounds(2000, 1500, false, (pfr_edit_options){.compression = PFR_EDIT_COMPRESS});
    check_rounds(2000, 1500, false, (pfr_edit_options){.order = PFR_ORDER_BIG});
}

/* --- Invalid options. */

TEST(unwritable_output_is_refused_and_leaves_nothing) {
    static const pfr_edit_options refused[] = {
        {.attr_size = 63}, {.attr_size = 4104}, {.attr_size = 100}, {.trace = PFR_EDIT_TRACE_FDR_5}};
    struct builder b = in_rounds(1, 9000);
    struct made_file m;
    made_open(&m);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        pfr_reader *r = open_built(&b, NULL);
        assert_null(made_from(&m, r, false, refused[i], PFR_ERR_USAGE));
        assert_int_not_equal(access(m.path, F_OK), 0);
        pfr_close(r);
    }
    made_close(&m);
    free(b.bytes);
}

/* --- Payloads. */

static void put_auxtrace(struct builder *b, uint64_t size) {
    put_head(b, AUXTRACE, 0, 48);
    put_number(b, size, 8);
    put_room(b, 32);
}

static void check_payload(const struct builder *b, pfr_status expected, uint64_t kept, uint64_t samples) {
    struct made_file m;
    made_open(&m);
    pfr_reader *r = open_built(b, NULL), *made = made_from(&m, r, true, (pfr_edit_options){.level = 0}, expected);
    assert_int_equal(count_type(made, AUXTRACE), kept);
    assert_int_equal(pfr_get_quality(made)->samples, samples);
    pfr_close(made);
    pfr_close(r);
    made_close(&m);
}

TEST(payloads_after_a_record_are_copied_if_records_follow) {
    struct builder b = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_auxtrace(&b, 64);
    put_room(&b, 64);
    put_timed(&b, 5);
    put_auxtrace(&b, 24);
    put_room(&b, 24);
    end_file(&b);
    check_payload(&b, PFR_OK, 2, 1);
    free(b.bytes);
}

/* The record claims that all bytes after it are its data, which is not true. */
TEST(payloads_that_contain_records_are_not_copied) {
    struct builder b = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_timed(&b, 4);
    put_auxtrace(&b, 320);
    for (unsigned i = 0; i < 10; i++)
        put_timed(&b, 5 + i);
    put_room(&b, 64);
    end_file(&b);
    check_payload(&b, PFR_HOLE, 0, 11);
    free(b.bytes);
}
