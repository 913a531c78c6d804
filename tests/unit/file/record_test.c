/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of records: every field of every layout by name, in every recording; dotted paths; invalid requests. */
#include "recorded_files.h"
#include "recording_builder.h"
#include "wire/layout.h"

static uint64_t use_bytes(const uint8_t *at, uint64_t length) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < length; i++)
        sum += at[i];
    return sum;
}

/* Reads all bytes of a value, so that sanitizers detect those outside. */
static uint64_t use_value(const pfr_value *v) {
    uint64_t sum = 0;
    if (v->kind == PFR_VALUE_TEXT)
        sum = use_bytes((const uint8_t *)v->as.text.at, v->as.text.length);
    else if (v->kind == PFR_VALUE_BYTES)
        sum = use_bytes(v->as.bytes.at, v->as.bytes.length);
    else if (v->kind == PFR_VALUE_ITEMS)
        sum = use_bytes(v->as.items.at, v->as.items.length);
    else if (v->kind == PFR_VALUE_U64S)
        for (uint64_t i = 0; i < v->as.u64s.count; i++)
            sum += pfr_u64s_at(&v->as.u64s, i);
    return sum;
}

static unsigned ask_path(const pfr_record *rec, const char *path) {
    pfr_value value;
    pfr_error err;
    const pfr_status s = pfr_get(rec, path, &value, &err);
    if (s == PFR_OK)
        use_value(&value);
    else if (s != PFR_ERR_USAGE && s != PFR_ERR_DAMAGE)
        fail_msg("%s: %s", path, pfr_status_name(s));
    return s == PFR_OK;
}

static unsigned ask_fields(const pfr_record *rec, const struct layout *l, const char *prefix, unsigned depth) {
    unsigned answers = 0;
    char path[256];
    for (const struct field *f = l->fields(); f->name; f++) {
        snprintf(path, sizeof path, "%s%s", prefix, f->name);
        answers += ask_path(rec, path);
        if (f->kind == K_SUB && depth < 3) {
            strcat(path, ".");
            answers += ask_fields(rec, layout_at(f->of), path, depth + 1);
        }
    }
    return answers;
}

/* Fields of the record's layout must be found; requests for those of all other layouts must not crash. One record of
   each type is enough. */
static void ask_recording(const char *path, void *context) {
    pfr_error err;
    pfr_record rec;
    pfr_status s;
    unsigned asked[256] = {0};
    (void)context;
    pfr_reader *r = pfr_open(path, NULL, &err);
    assert_non_null(r);
    while ((s = pfr_next(r, &rec, &err)) == PFR_OK) {
        if (rec.type >= 256 || asked[rec.type]++ > 2)
            continue;
        const struct layout *own = layout_at(layout_find(TABLE_PERF_RECORD, rec.type));
        assert_non_null(own);
        if (ask_fields(&rec, own, "", 0) == 0 && own->fields()->name)
            fail_msg("%s: no field of %s at %#jx is answered", path, own->name, (uintmax_t)rec.offset);
        ask_fields(&rec, layout_at(L_sample_id), "id.", 0);
        for (unsigned number = 1; asked[rec.type] == 1 && number < LAYOUTS; number++)
            ask_fields(&rec, layout_at(number), "", 0);
    }
    assert_int_equal(s, PFR_END);
    pfr_close(r);
}

TEST(every_field_of_every_layout_can_be_asked_for) {
    each_recorded(ask_recording, NULL);
}

TEST(wrong_questions_are_usage_errors) {
    struct builder b = {0};
    pfr_record rec;
    pfr_value value;
    pfr_error err;
    struct pfr_rec_comm comm;
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_comm(&b, 7, "seven", 0);
    put_head(&b, 99, 0, 8);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    expect_record(r, &rec, 3);
    ASSERT_STATUS(pfr_get(&rec, "nothing", &value, &err), PFR_ERR_USAGE, err);
    ASSERT_STATUS(pfr_get(&rec, "", &value, &err), PFR_ERR_USAGE, err);
    ASSERT_STATUS(pfr_get(&rec, "comm.length", &value, &err), PFR_ERR_USAGE, err);
    ASSERT_STATUS(pfr_get(&rec, "com", &value, &err), PFR_ERR_USAGE, err);
    ASSERT_STATUS(pfr_decode(&rec, &comm, sizeof comm - 1, &err), PFR_ERR_USAGE, err);
    ASSERT_OK(pfr_get(&rec, "tid", &value, &err), err);
    assert_int_equal(value.as.u, 7);
    ASSERT_OK(pfr_get(&rec, "id.time", &value, &err), err);
    assert_int_equal(value.as.u, 1007);
    ASSERT_OK(pfr_get(&rec, "id.cpu", &value, &err), err);
    assert_int_equal(value.kind, PFR_VALUE_ABSENT);
    expect_record(r, &rec, 99);
    ASSERT_STATUS(pfr_get(&rec, "tid", &value, &err), PFR_ERR_USAGE, err);
    pfr_close(r);
    free(b.bytes);
}

TEST(a_record_shorter_than_its_layout_is_damage_that_names_the_field) {
    struct builder b = {0};
    pfr_record rec;
    pfr_error err;
    struct pfr_rec_mmap mmap;
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_head(&b, 1, 0, 24);
    put_room(&b, 16);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    ASSERT_STATUS(pfr_next(r, &rec, &err), PFR_HOLE, err);
    assert_non_null(strstr(err.text, "mmap."));
    assert_int_equal(rec.type, 1);
    assert_int_equal(rec.tail, 0);
    ASSERT_STATUS(pfr_decode(&rec, &mmap, sizeof mmap, &err), PFR_ERR_DAMAGE, err);
    assert_non_null(strstr(err.text, "mmap."));
    assert_true(err.offset >= rec.offset && err.offset <= rec.offset + rec.size);
    pfr_close(r);
    free(b.bytes);
}
