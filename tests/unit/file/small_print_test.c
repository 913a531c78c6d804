/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rare cases of the reader: records about the recording in a rare or wrong form, names from old sections, queries
 * without an answer, options of older callers, folders that contain more than parts.
 */
#include "recording_builder.h"
#include "../base/input_samples.h"
#include "file/read/features.h"
#include "file/read/header_walk.h"

#include <sys/stat.h>

#include <perfray/record.h>

enum { ATTR_AT = 104 + 8, EVENT_TYPES_AT = 56 };

static void begin_one(struct builder *b) {
    begin_file(b, &(struct plan){.header_size = 104, .events = 1});
}

/* --- Records about the recording. */

static void put_numbers(struct builder *b, uint32_t type, uint16_t misc, unsigned count, const uint64_t *numbers) {
    put_head(b, type, misc, 8 + 8 * count + (type < 64 ? 16 : 0));
    for (unsigned i = 0; i < count; i++)
        put_number(b, numbers[i], 8);
    if (type < 64)
        put_room(b, 16); /* its sample_id */
}

TEST(losses_are_counted_by_their_kind) {
    for (unsigned big = 0; big < 2; big++) {
        struct builder b = {.big = big};
        begin_one(&b);
        put_numbers(&b, 2, 0, 2, (const uint64_t[]){FIRST_ID, 5});
        put_numbers(&b, 13, 0, 1, (const uint64_t[]){7});
        put_numbers(&b, 13, 0x8000, 1, (const uint64_t[]){11});
        put_numbers(&b, 5, 0, 3, (const uint64_t[]){1, 2, 3});
        put_numbers(&b, 6, 0, 3, (const uint64_t[]){1, 2, 3});
        put_numbers(&b, 11, 0, 3, (const uint64_t[]){0, 64, 1});
        end_file(&b);
        pfr_reader *r = open_built(&b, NULL);
        assert_int_equal(read_through(r).records, 6);
        const pfr_quality *q = pfr_get_quality(r);
        assert_int_equal(q->lost_records, 5);
        assert_int_equal(q->lost_samples, 7);
        assert_int_equal(q->lost_samples_bpf, 11);
        assert_int_equal(q->throttled + q->unthrottled, 2);
        assert_int_equal(q->aux_truncated, 1);
        pfr_close(r);
        free(b.bytes);
    }
}

static void put_update_of(struct builder *b, uint64_t kind, uint64_t id, uint64_t value) {
    put_head(b, 78, 0, 32);
    put_number(b, kind, 8);
    put_number(b, id, 8);
    put_number(b, value, 8);
}

TEST(an_update_sets_the_scale_and_one_of_unknown_kind_nothing) {
    struct builder b = {0};
    const double half = 0.5;
    uint64_t bits;
    memcpy(&bits, &half, sizeof bits);
    begin_one(&b);
    put_update_of(&b, 1, FIRST_ID, bits);
    put_update_of(&b, 77, FIRST_ID, 0);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    assert_int_equal(read_through(r).records, 2);
    assert_true(pfr_get_event(r, 0)->scale == 0.5);
    assert_null(pfr_get_event(r, 0)->unit);
    pfr_close(r);
    free(b.bytes);
}

static void put_cpu_map(struct builder *b, unsigned form, unsigned words, unsigned width) {
    put_head(b, 74, 0, 8 + 8 + 8);
    put_number(b, form, 2);
    put_number(b, words, 2);
    put_number(b, width, 2);
    put_room(b, 10);
}

TEST(a_cpu_map_of_unknown_type_or_width_is_reported) {
    struct builder b = {0};
    begin_one(&b);
    put_cpu_map(&b, 9, 1, 8);
    put_cpu_map(&b, 1, 1, 3);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    const struct tally t = read_through(r);
    assert_int_equal(t.last, PFR_END);
    assert_true(t.holes >= 2);
    pfr_close(r);
    free(b.bytes);
}

TEST(tracing_data_beyond_a_limit_is_reported) {
    struct builder b = {0};
    const pfr_limits limits = {.size = sizeof limits, .chunk = 16};
    const pfr_open_options options = {.size = sizeof options, .limits = &limits};
    pfr_error err;
    begin_pipe(&b, 1);
    put_head(&b, 66, 0, 12);
    put_number(&b, 40, 4);
    put_room(&b, 40);
    put_sample(&b, 1, 0);
    pfr_reader *r = pfr_open_bytes(b.bytes, b.length, &options, &err);
    assert_non_null(r);
    const struct tally t = read_through(r);
    assert_int_equal(t.last, PFR_END);
    assert_true(t.holes >= 1);
    assert_int_equal(t.samples, 1);
    pfr_close(r);
    free(b.bytes);
}

/* --- Names from old sections. */

static void put_event_type(struct builder *b, uint64_t config, const char *name) {
    put_number(b, config, 8);
    memcpy(put_room(b, 64), name, strlen(name));
}

static void expect_old_name(uint32_t type, uint64_t config, const char *name, bool named) {
    struct builder b = {0};
    begin_one(&b);
    set_number(&b, b.bytes + ATTR_AT, type, 4);
    set_number(&b, b.bytes + ATTR_AT + 8, config, 8);
    put_sample(&b, 1, 0);
    end_file(&b);
    set_number(&b, b.bytes + EVENT_TYPES_AT, b.length, 8);
    set_number(&b, b.bytes + EVENT_TYPES_AT + 8, 2 * 72, 8);
    put_event_type(&b, 5, "");
    put_event_type(&b, 6, "sched:old_name");
    pfr_reader *r = open_built(&b, NULL);
    assert_string_equal(pfr_get_event(r, 0)->name, name);
    assert_int_equal(pfr_get_event(r, 0)->named, named);
    pfr_close(r);
    free(b.bytes);
}

TEST(event_types_name_tracepoints_by_config) {
    expect_old_name(2, 6, "sched:old_name", true);
    expect_old_name(4, 6, "sched:old_name", true);
    expect_old_name(2, 7, "unknown tracepoint", false);
    expect_old_name(2, 5, "unknown tracepoint", false);
    expect_old_name(1, 6, "major-faults:HG", false);
    expect_old_name(3, 7 | 0 << 8, "unknown-ext-hardware-cache-type:HG", false);
    expect_old_name(3, 0 | 3 << 8, "unknown-ext-hardware-cache-op:HG", false);
    expect_old_name(3, 0 | 1 << 8 | 2 << 16, "unknown-ext-hardware-cache-result:HG", false);
    expect_old_name(3, 2 | 1 << 8 | 1 << 16, "LLC-store-misses:HG", false);
    expect_old_name(0, 55, "unknown-hardware:HG", false);
    expect_old_name(1, 55, "unknown-software:HG", false);
}

/* --- Queries without an answer. */

TEST(what_the_reader_does_not_have_is_nothing) {
    struct builder b = {0};
    pfr_error err = {0};
    begin_one(&b);
    put_sample(&b, 1, 0);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    pfr_feature strange = {.bit = 200, .bytes = {b.bytes, 8}};
    uint64_t body[64];
    assert_null(pfr_get_feature(r, 0, &err));
    assert_null(pfr_get_feature(r, 0, NULL));
    assert_null(pfr_find_feature(r, 3, &err));
    assert_int_equal(err.status, PFR_OK);
    assert_null(pfr_get_event(r, 1));
    assert_int_equal(pfr_event_of_id(r, 4711), PFR_NO_EVENT);
    assert_null(pfr_layout_name(0));
    assert_string_equal(pfr_layout_name(L_comm), "comm");
    ASSERT_STATUS(pfr_decode_feature(r, &strange, body, sizeof body, &err), PFR_ERR_USAGE, err);
    ASSERT_OK(pfr_check_feature(r, &strange, &err), err);
    strange.status = PFR_HOLE;
    ASSERT_STATUS(pfr_check_feature(r, &strange, &err), PFR_HOLE, err);
    assert_int_equal(features_unread(r, &err), PFR_OK);
    pfr_close(r);
    pfr_close(NULL);
    free(b.bytes);
}

TEST(parts_are_asked_for_by_their_size) {
    static const uint8_t bytes[48];
    const struct pfr_context c = {.swap = false};
    pfr_items entries = {bytes, 48, 2, &c, L_thread_map_entry};
    struct pfr_rec_thread_map_entry entry;
    pfr_error err;
    pfr_items_iter it = pfr_items_begin(&entries);
    ASSERT_STATUS(pfr_items_next(&it, &entry, 3, &err), PFR_ERR_USAGE, err);
    ASSERT_OK(pfr_items_next(&it, &entry, sizeof entry, &err), err);
    entries.of = L_NONE;
    it = pfr_items_begin(&entries);
    ASSERT_STATUS(pfr_items_next(&it, &entry, sizeof entry, &err), PFR_ERR_USAGE, err);
}

TEST(values_have_the_kind_that_their_field_has) {
    struct builder b = {0};
    pfr_record rec;
    pfr_value value;
    pfr_error err;
    begin_one(&b);
    put_sample(&b, 1, 0);
    put_comm(&b, 7, "seven", 0);
    put_update_of(&b, 1, FIRST_ID, 0);
    end_file(&b);
    set_number(&b, b.bytes + b.data + 8 + 8, (uint32_t)-5, 4); /* the sample's pid */
    pfr_reader *r = open_built(&b, NULL);
    expect_record(r, &rec, 9);
    ASSERT_OK(pfr_get(&rec, "pid", &value, &err), err);
    assert_int_equal(value.kind, PFR_VALUE_SIGNED);
    assert_int_equal(value.as.i, -5);
    ASSERT_OK(pfr_get(&rec, "id.time", &value, &err), err); /* samples have no id */
    assert_int_equal(value.kind, PFR_VALUE_ABSENT);
    expect_record(r, &rec, 3);
    ASSERT_OK(pfr_get(&rec, "comm", &value, &err), err);
    assert_int_equal(value.kind, PFR_VALUE_TEXT);
    expect_record(r, &rec, 78);
    ASSERT_OK(pfr_get(&rec, "data", &value, &err), err);
    assert_int_equal(value.kind, PFR_VALUE_ITEMS);
    pfr_close(r);
    free(b.bytes);
}

/* --- Counting without decoding. */

/* Nine records, the seventh a COMM. The event of the next record is only guessed after one sample was read. */
static void walk_built(unsigned events) {
    struct builder b = {0};
    pfr_record rec;
    const uint64_t id = events > 1 ? FIRST_ID : 0;
    begin_file(&b, &(struct plan){.header_size = 104, .events = events});
    for (unsigned i = 0; i < 9; i++)
        i == 6 ? put_comm(&b, 7, "seven", id) : put_sample(&b, i, id);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    expect_record(r, &rec, 9);
    assert_int_equal(walk_samples(r, 0, NULL), 5);
    assert_int_equal(walk_samples(r, 0, NULL), 0);
    expect_record(r, &rec, 3);
    expect_record(r, &rec, 9);
    if (events > 1)
        assert_int_equal(walk_samples(r, 1, NULL), 0); /* the next one belongs to another event */
    assert_int_equal(walk_samples(r, 0, NULL), 1);
    assert_int_equal(walk_samples(r, 0, NULL), 0);
    expect_end(r);
    assert_int_equal(walk_samples(r, 0, NULL), 0);
    assert_int_equal(pfr_get_quality(r)->samples, 8);
    assert_int_equal(pfr_get_quality(r)->records, 9);
    pfr_close(r);
    free(b.bytes);
}

TEST(walking_stops_at_another_record) {
    walk_built(1);
    walk_built(2);
}

/* --- Options, folders. */

TEST(options_of_an_older_caller_end_earlier) {
    struct builder b = {0};
    pfr_error err;
    begin_one(&b);
    put_sample(&b, 1, 0);
    end_file(&b);
    pfr_open_options options = {.size = offsetof(pfr_open_options, keep_aux), .keep_aux = true, .spool = true};
    for (; options.size <= sizeof options; options.size++) {
        pfr_reader *r = pfr_open_bytes(b.bytes, b.length, &options, &err);
        assert_non_null(r);
        assert_int_equal(read_through(r).samples, 1);
        pfr_close(r);
    }
    free(b.bytes);
}

static void put_file_in(const char *folder, const char *name, const struct builder *b) {
    char path[FOLDER_SIZE + 300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    if (b)
        assert_int_equal(fwrite(b->bytes, 1, b->length, file), b->length);
    fclose(file);
}

TEST(a_folder_has_the_parts_that_are_numbers) {
    static const char *const names[] = {"data.",  "data.x",  "data.1x",         "data.99999999999", "data.-1",
                                        "data.:", "other.1", "data.4294967295", "data.10"};
    char folder[] = "/tmp/perfray-parts-XXXXXX", command[64];
    struct builder b = {0}, samples = {0};
    pfr_error err;
    begin_one(&b);
    end_file(&b);
    put_sample(&samples, 1, 0);
    assert_non_null(mkdtemp(folder));
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        put_file_in(folder, names[i], &samples);
    assert_null(pfr_open(folder, NULL, &err));
    assert_int_equal(err.status, PFR_ERR_FORMAT);
    put_file_in(folder, "data", &b);
    put_file_in(folder, "data.2", &samples);
    pfr_reader *r = pfr_open(folder, NULL, &err);
    assert_non_null(r);
    assert_int_equal(pfr_get_header(r)->parts, 3);
    assert_int_equal(read_through(r).samples, 2);
    pfr_close(r);
    snprintf(command, sizeof command, "%s/data.3", folder);
    assert_int_equal(mkdir(command, 0700), 0); /* a part that cannot be read */
    assert_null(pfr_open(folder, NULL, &err));
    rmdir(command);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        snprintf(command, sizeof command, "%s/%s", folder, names[i]), unlink(command);
    snprintf(command, sizeof command, "%s/data", folder), unlink(command);
    snprintf(command, sizeof command, "%s/data.2", folder), unlink(command);
    assert_int_equal(rmdir(folder), 0);
    free(b.bytes);
    free(samples.bytes);
}

/* A link to itself exists, but is not a file. */
TEST(a_folder_whose_data_is_a_link_is_refused) {
    char folder[] = "/tmp/perfray-parts-XXXXXX", path[64];
    pfr_error err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/data", folder);
    assert_int_equal(symlink("data", path), 0);
    assert_null(pfr_open(folder, NULL, &err));
    assert_int_not_equal(err.status, PFR_ERR_FORMAT); /* PFR_ERR_FORMAT is the status if the file does not exist */
    assert_true(err.status < 0 && err.text[0]);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

TEST(a_type_without_a_table_is_not_decoded) {
    struct builder b = {0};
    pfr_record rec;
    pfr_error err;
    pfr_value value;
    uint64_t body[64];
    begin_one(&b);
    put_numbers(&b, 200, 0, 2, (const uint64_t[]){1, 2});
    put_sample(&b, 1, 0);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    expect_record(r, &rec, 200);
    ASSERT_STATUS(pfr_decode(&rec, body, sizeof body, &err), PFR_ERR_USAGE, err);
    ASSERT_STATUS(pfr_get(&rec, "size", &value, &err), PFR_ERR_USAGE, err);
    pfr_close(r);
    free(b.bytes);
}

/* PERFFILE was obsolete before attrs had more than 96 bytes: this is reported once, whatever the number of events. */
TEST(an_old_magic_with_new_attrs_is_reported_once) {
    enum { NEW_ATTR = 104, EVENTS = 2 };
    for (unsigned big = 0; big < 2; big++) {
        struct builder b = {.big = big};
        pfr_error err;
        pfr_record rec;
        const uint64_t attrs = 104, entry = NEW_ATTR + 16, data = attrs + EVENTS * entry;
        put_bytes(&b, "PERFFILE", 8);
        put_number(&b, 104, 8);
        put_number(&b, entry, 8);
        put_section(&b, attrs, EVENTS * entry);
        put_section(&b, data, 32);
        put_room(&b, 104 - 56);
        for (unsigned i = 0; i < EVENTS; i++) {
            const size_t at = b.length;
            put_attr(&b, false);
            set_number(&b, b.bytes + at + 4, NEW_ATTR, 4);
            put_room(&b, NEW_ATTR - BUILT_ATTR + 16);
        }
        put_sample(&b, 1, 0);
        pfr_reader *r = open_built(&b, NULL);
        ASSERT_STATUS(pfr_next(r, &rec, &err), PFR_HOLE, err);
        assert_string_equal(err.where, "file_header.magic");
        assert_non_null(strstr(err.text, "files with the magic PERFFILE cannot have attrs of 104 bytes"));
        expect_record(r, &rec, 9);
        expect_end(r);
        assert_int_equal(pfr_get_header(r)->version, 1);
        assert_int_equal(pfr_event_count(r), EVENTS);
        pfr_close(r);
        free(b.bytes);
    }
}

/* A second pass reports no new findings. */
TEST(findings_are_reported_after_their_record_in_each_pass) {
    struct builder b = {0};
    pfr_record rec;
    pfr_error err;
    begin_one(&b);
    put_cpu_map(&b, 9, 1, 8);
    put_cpu_map(&b, 1, 1, 3);
    end_file(&b);
    pfr_reader *r = open_built(&b, NULL);
    for (unsigned i = 0; i < 2; i++) {
        expect_record(r, &rec, 74);
        ASSERT_STATUS(pfr_next(r, &rec, &err), PFR_HOLE, err);
        assert_int_equal(err.offset, b.data + 24 * i);
    }
    expect_end(r);
    ASSERT_OK(pfr_rewind(r, &err), err);
    assert_int_equal(read_through(r).holes, 2); /* the same two, not two more */
    pfr_close(r);
    free(b.bytes);
}
