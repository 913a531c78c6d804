/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dump of a generated stream, byte by byte: an attr, a COMM with its sample_id, a record of an unknown type, AUX
 * data, a sample, and a truncated record. Every format is compared completely.
 */
#include "test.h"

#include <perfray/dump.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM 4096u

struct stream {
    uint8_t bytes[ROOM];
    size_t length;
};

static void put(struct stream *s, const void *bytes, size_t length) {
    assert_true(s->length + length <= ROOM);
    memcpy(s->bytes + s->length, bytes, length);
    s->length += length;
}

/* Little-endian on every machine. */
static void put_u32(struct stream *s, uint32_t v) {
    v = SWAP_OF_LITTLE ? __builtin_bswap32(v) : v;
    put(s, &v, sizeof v);
}

static void put_u64(struct stream *s, uint64_t v) {
    v = SWAP_OF_LITTLE ? __builtin_bswap64(v) : v;
    put(s, &v, sizeof v);
}

static void put_head(struct stream *s, uint32_t type, uint16_t misc, uint16_t size) {
    put_u32(s, type);
    put_u32(s, (uint32_t)size << 16 | misc);
}

/* HEADER_ATTR: software clock, sample_type IP|TID|TIME|PERIOD, sample_id_all; 64 bytes and no ids. */
static void put_attr(struct stream *s) {
    put_head(s, 64, 0, 8 + 64);
    put_u32(s, 1);
    put_u32(s, 64);
    put_u64(s, 0);
    put_u64(s, 1000);
    put_u64(s, 0x107);
    put_u64(s, 0);
    put_u64(s, 1u << 18);
    put_u64(s, 0);
    put_u64(s, 0);
}

static void begin_stream(struct stream *s) {
    s->length = 0;
    put(s, "PERFILE2", 8);
    put_u64(s, 16);
    put_attr(s);
}

static void put_comm(struct stream *s) {
    put_head(s, 3, 0x2000, 8 + 8 + 8 + 16);
    put_u32(s, 7);
    put_u32(s, 8);
    put(s, "a\033b\"\0\0\0", 8);
    put_u32(s, 7);
    put_u32(s, 8);
    put_u64(s, 1500000000);
}

static void put_unknown(struct stream *s) {
    put_head(s, 120, 0, 8 + 4);
    put(s, "\1\2\3\4", 4);
}

static void put_sample(struct stream *s) {
    put_head(s, 9, 2, 8 + 32);
    put_u64(s, 0xffffffff81000000u);
    put_u32(s, 7);
    put_u32(s, UINT32_MAX);
    put_u64(s, 2500000000);
    put_u64(s, 99);
}

static void put_auxtrace(struct stream *s, uint32_t idx, const char *data) {
    put_head(s, 71, 0, 48);
    put_u64(s, 8);
    put_u64(s, 0);
    put_u64(s, 0);
    put_u32(s, idx);
    put_u32(s, UINT32_MAX);
    put_u32(s, 1);
    put_u32(s, 0);
    put(s, data, 8);
}

static void fill_stream(struct stream *s) {
    begin_stream(s);
    put_comm(s);
    put_unknown(s);
    put_sample(s);
}

struct holes {
    unsigned holes;
    uint64_t offset;
};

static void count_hole(void *context, const pfr_error *hole) {
    struct holes *seen = context;
    seen->holes++;
    seen->offset = hole->offset;
}

/* Returns the output of the dump, NUL-terminated; the caller frees it. */
static char *dump_text_of(const struct stream *s, const pfr_dump_options *options, pfr_status *status, pfr_error *err) {
    const pfr_open_options how = {.size = sizeof how, .keep_aux = true};
    const int fd = memfd_create("dump", MFD_CLOEXEC);
    assert_true(fd >= 0);
    pfr_reader *reader = pfr_open_bytes(s->bytes, s->length, &how, err);
    pfr_output *out = pfr_output_open(fd, false, err);
    assert_non_null(reader);
    assert_non_null(out);
    *status = pfr_dump(reader, options, out, err);
    assert_int_equal(pfr_output_close(out, err), PFR_OK);
    pfr_close(reader);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    assert_true(pread(fd, text, (1 << 16) - 1, 0) >= 0);
    close(fd);
    return text;
}

static void assert_dump(const struct stream *s, const pfr_dump_options *options, pfr_status expected,
                        const char *expected_text) {
    pfr_error err = {0};
    pfr_status status;
    char *text = dump_text_of(s, options, &status, &err);
    if (status != expected)
        fail_msg("the dump is %s: %s", pfr_status_name(status), err.text);
    assert_string_equal(text, expected_text);
    free(text);
}

TEST(dump_as_json_lines_has_every_field_and_unknown_bytes) {
    struct stream s;
    fill_stream(&s);
    const pfr_dump_options options = {
        .size = sizeof options, .format = PFR_DUMP_JSON_LINES, .only = "pipe_header,comm,120,SAMPLE"};
    assert_dump(&s, &options, PFR_OK,
                "{\"offset\":0,\"size\":16,\"name\":\"pipe_header\",\"fields\":{\"magic\":\"50455246494c4532\","
                "\"size\":16}}\n"
                "{\"offset\":88,\"size\":40,\"type\":3,\"name\":\"comm\",\"misc\":8192,\"event\":0,\"fields\":{"
                "\"pid\":7,\"tid\":8,\"comm\":\"a\\\\x1bb\\\"\"},\"id\":{\"pid\":7,\"tid\":8,\"time\":1500000000}}\n"
                "{\"offset\":128,\"size\":12,\"type\":120,\"name\":\"unknown\",\"misc\":0,\"bytes\":\"01020304\"}\n"
                "{\"offset\":140,\"size\":40,\"type\":9,\"name\":\"sample\",\"misc\":2,\"event\":0,\"fields\":{"
                "\"ip\":18446744071578845184,\"pid\":7,\"tid\":-1,\"time\":2500000000,\"period\":99}}\n");
}

TEST(dump_as_text_indents_fields_and_shows_bytes) {
    struct stream s;
    fill_stream(&s);
    pfr_dump_options options = {.size = sizeof options, .only = "comm"};
    assert_dump(&s, &options, PFR_OK,
                "0x58 40 comm misc 0x2000 event 0\n  pid 7\n  tid 8\n  comm \"a\\x1bb\"\"\n"
                "  id\n    pid 7\n    tid 8\n    time 1.500000000\n");
    options.only = "120";
    assert_dump(&s, &options, PFR_OK, "0x80 12 unknown misc 0x0 type 120\n  bytes 01020304\n");
    options.only = "sample";
    options.hex = true;
    assert_dump(&s, &options, PFR_OK,
                "0x8c 40 sample misc 0x2 event 0\n  ip 0xffffffff81000000  [00000081ffffffff]\n  pid 7  [07000000]\n"
                "  tid -1  [ffffffff]\n  time 2.500000000  [00f9029500000000]\n  period 99  [6300000000000000]\n");
}

TEST(dump_as_perf_prints_its_lines_with_stream_offsets) {
    struct stream s;
    fill_stream(&s);
    const pfr_dump_options options = {.size = sizeof options, .format = PFR_DUMP_PERF, .only = "64,9"};
    assert_dump(&s, &options, PFR_OK,
                "\n0@pipe [0x48]: event: 64\n\n-1 -1 0 [0x48]: PERF_RECORD_ATTR\n"
                "\n0x7c@pipe [0x28]: event: 9\n\n2500000000 0x7c [0x28]: PERF_RECORD_SAMPLE(IP, 0x2): 7/-1: "
                "0xffffffff81000000 period: 99 addr: 0\n");
}

TEST(dump_ranges_omit_records_outside) {
    struct stream s;
    fill_stream(&s);
    pfr_dump_options options = {.size = sizeof options, .format = PFR_DUMP_JSON_LINES, .time_from = 1600000000};
    pfr_dump_counts counts = {.size = sizeof counts};
    pfr_error err = {0};
    pfr_status status;
    options.counts = &counts;
    free(dump_text_of(&s, &options, &status, &err));
    assert_int_equal(counts.records, 1);
    options.time_from = 0;
    options.offset_from = 88;
    options.offset_to = 140;
    free(dump_text_of(&s, &options, &status, &err));
    assert_int_equal(counts.records, 2);
    assert_int_equal(counts.unknown, 1);
}

TEST(dump_reports_truncated_records) {
    struct stream s;
    struct holes seen = {0};
    fill_stream(&s);
    s.length -= 4;
    const pfr_dump_options options = {.size = sizeof options, .only = "65", .hole = count_hole, .hole_context = &seen};
    assert_dump(&s, &options, PFR_HOLE, "");
    assert_int_equal(seen.holes, 1);
    assert_int_equal(seen.offset, 140);
}

TEST(dump_shows_records_that_do_not_fit_as_bytes) {
    struct stream s;
    struct holes seen = {0};
    begin_stream(&s);
    put_head(&s, 76, 0, 12); /* STAT has 40 bytes of fields */
    put_u32(&s, 5);
    const pfr_dump_options options = {.size = sizeof options,
                                      .format = PFR_DUMP_JSON_LINES,
                                      .only = "stat",
                                      .hole = count_hole,
                                      .hole_context = &seen};
    assert_dump(&s, &options, PFR_HOLE,
                "{\"offset\":88,\"size\":12,\"type\":76,\"name\":\"stat\",\"misc\":0,"
                "\"damaged\":\"stat.id needs 8 bytes where 4 remain\",\"bytes\":\"05000000\"}\n");
    assert_int_equal(seen.holes, 1);
    assert_int_equal(seen.offset, 88);
}

TEST(dump_keeps_bytes_after_the_last_field) {
    struct stream s;
    pfr_dump_counts counts = {.size = sizeof counts};
    begin_stream(&s);
    put_head(&s, 68, 0, 10);
    put(&s, "\xaa\xbb", 2);
    const pfr_dump_options options = {
        .size = sizeof options, .format = PFR_DUMP_JSON_LINES, .only = "finished_round", .counts = &counts};
    assert_dump(&s, &options, PFR_OK,
                "{\"offset\":88,\"size\":10,\"type\":68,\"name\":\"finished_round\",\"misc\":0,\"fields\":{},"
                "\"trailing\":\"aabb\"}\n");
    assert_int_equal(counts.trailing_bytes, 2);
}

TEST(dump_refuses_types_that_nobody_knows) {
    struct stream s;
    fill_stream(&s);
    const pfr_dump_options options = {.size = sizeof options, .only = "comm,nonsense"};
    assert_dump(&s, &options, PFR_ERR_USAGE, "");
}

static void assert_file(const char *folder, const char *name, const char *expected) {
    char path[128], bytes[64] = {0};
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(read(fd, bytes, sizeof bytes - 1), (ssize_t)strlen(expected));
    assert_string_equal(bytes, expected);
    close(fd);
    unlink(path);
}

TEST(dump_writes_aux_data_in_order_and_never_onto_a_file) {
    struct stream s;
    char folder[] = "/tmp/perfray-dump-XXXXXX";
    assert_non_null(mkdtemp(folder));
    begin_stream(&s);
    put_auxtrace(&s, 0, "first---");
    put_auxtrace(&s, 5, "other---");
    put_auxtrace(&s, 0, "second--");
    const pfr_dump_options options = {.size = sizeof options, .aux_folder = folder};
    assert_dump(&s, &options, PFR_OK,
                "   records         bytes  name\n         2            16  aux-0--1-1.bin\n"
                "         1             8  aux-5--1-1.bin\n");
    pfr_error err = {0};
    pfr_status status;
    free(dump_text_of(&s, &options, &status, &err));
    assert_int_equal(status, PFR_ERR_IO);
    assert_file(folder, "aux-0--1-1.bin", "first---second--");
    assert_file(folder, "aux-5--1-1.bin", "other---");
    assert_int_equal(rmdir(folder), 0);
}
