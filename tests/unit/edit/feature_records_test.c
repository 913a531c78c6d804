/* SPDX-License-Identifier: Apache-2.0 */
/* FEATURE records between the records of a file: recorders write them only in streams, but readers accept them. */
#include "../file/recorded_files.h"
#include "made_file.h"

#define FEATURE 80u

static pfr_reader *open_whole(const char *path) {
    pfr_error err;
    pfr_record rec;
    pfr_reader *r = pfr_open(path, NULL, &err);
    assert_non_null(r);
    while (pfr_next(r, &rec, &err) == PFR_OK)
        continue;
    return r;
}

static pfr_reader *open_converted(const char *from, const char *to, pfr_edit_options how) {
    pfr_error err;
    pfr_reader *r = pfr_open(from, NULL, &err);
    how.size = sizeof how;
    how.path = to;
    assert_non_null(r);
    ASSERT_OK(pfr_convert(r, &how, NULL, &err), err);
    pfr_close(r);
    return open_whole(to);
}

static void put_feature(pfr_writer *w, uint32_t bit, pfr_bytes payload) {
    pfr_error err;
    const struct pfr_rec_header_feature body = {.feat_id = bit, .payload = payload};
    ASSERT_OK(pfr_writer_put(w, 0, FEATURE, 0, &body, sizeof body, NULL, &err), err);
}

/* Writes a file with one FEATURE record for each feature of `from`, or only one with these bytes. */
static void write_file(const char *path, pfr_reader *from, uint32_t bit, pfr_bytes payload) {
    const struct pfr_rec_attr attr = {.type = 1, .size = 112, .sample_type = 7};
    pfr_error err;
    pfr_writer *w = pfr_writer_open(path, NULL, &err);
    assert_non_null(w);
    ASSERT_OK(pfr_writer_event(w, &attr, NULL, 0, &err), err);
    for (uint32_t i = 0; from && i < pfr_feature_count(from); i++) {
        const pfr_feature *f = pfr_get_feature(from, i, &err);
        assert_non_null(f);
        if (f->bit != PFR_FEATURE_TRACING_DATA && f->bit != PFR_FEATURE_BUILD_ID)
            put_feature(w, f->bit, f->bytes);
    }
    if (!from)
        put_feature(w, bit, payload);
    ASSERT_OK(pfr_writer_finish(w, &err), err);
    pfr_writer_close(w);
}

/* Each FEATURE record of the file has the payload of that feature in `same`. */
static unsigned expect_payloads(pfr_reader *file, pfr_reader *same) {
    pfr_error err;
    pfr_record rec;
    unsigned count = 0;
    ASSERT_OK(pfr_rewind(file, &err), err);
    while (pfr_next(file, &rec, &err) == PFR_OK) {
        struct pfr_rec_header_feature body;
        if (rec.type != FEATURE)
            continue;
        ASSERT_OK(pfr_decode(&rec, &body, sizeof body, &err), err);
        const pfr_feature *f = pfr_find_feature(same, (uint32_t)body.feat_id, &err);
        assert_non_null(f);
        if (f->bytes.length != body.payload.length ||
            memcmp(f->bytes.at, body.payload.at, (size_t)f->bytes.length) != 0)
            fail_msg("%s has other bytes", f->name);
        count++;
    }
    return count;
}

TEST(features_in_records_of_a_file_are_converted_to_the_other_byte_order) {
    static const char *const names[] = {"pipe.data", "pipe-group.data", "pipe-zstd.data"};
    char path[RECORDED_PATH];
    struct made_file m, stream, other;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        made_open(&m), made_open(&stream), made_open(&other);
        pfr_reader *recorded = open_whole(recorded_path(path, names[i]));
        pfr_reader *same = open_converted(
            path, stream.path, (pfr_edit_options){.order = PFR_ORDER_BIG, .to_form = true, .container = PFR_PIPE});
        write_file(m.path, recorded, 0, (pfr_bytes){0});
        pfr_reader *file = open_converted(m.path, other.path, (pfr_edit_options){.order = PFR_ORDER_BIG});
        assert_true(expect_payloads(file, same) > 10);
        pfr_close(file), pfr_close(same), pfr_close(recorded);
        made_close(&m), made_close(&stream), made_close(&other);
    }
}

/* A payload without a layout, or one that ends too early, has no form in the other byte order. */
TEST(features_that_cannot_be_converted_are_reported) {
    static const uint8_t bytes[24] = {1, [8] = 8, [16] = 200};
    static const uint32_t bits[] = {77, PFR_FEATURE_MEM_TOPOLOGY};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        struct made_file source, m;
        pfr_error err;
        made_open(&source), made_open(&m);
        write_file(source.path, NULL, bits[i], (pfr_bytes){bytes, sizeof bytes});
        pfr_reader *r = pfr_open(source.path, NULL, &err);
        pfr_reader *made = made_from(&m, r, false, (pfr_edit_options){.order = PFR_ORDER_BIG}, PFR_HOLE);
        assert_int_equal(m.holes, 1);
        assert_int_equal(count_type(made, FEATURE), 0);
        pfr_close(made), pfr_close(r);
        made_close(&source), made_close(&m);
    }
}

TEST(damaged_features_in_records_of_a_file_are_not_recovered) {
    static const uint8_t bytes[24] = {1, [8] = 8, [16] = 200};
    struct made_file source, m;
    pfr_error err;
    made_open(&source), made_open(&m);
    write_file(source.path, NULL, PFR_FEATURE_MEM_TOPOLOGY, (pfr_bytes){bytes, sizeof bytes});
    pfr_reader *r = pfr_open(source.path, NULL, &err);
    pfr_reader *made = made_from(&m, r, true, (pfr_edit_options){0}, PFR_HOLE);
    assert_int_equal(m.holes, 1);
    assert_int_equal(count_type(made, FEATURE), 0);
    pfr_close(made), pfr_close(r);
    made_close(&source), made_close(&m);
}
