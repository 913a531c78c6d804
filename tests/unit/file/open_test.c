/* SPDX-License-Identifier: Apache-2.0 */
/* Opening: every kind of container is recognised by its contents, from every kind of input; and inputs that are no
   recordings are rejected. */
#include "recorded_files.h"
#include "recording_builder.h"
#include "../base/input_samples.h"

#include <pthread.h>
#include <sys/wait.h>

static struct tally read_path(const char *path, pfr_container container) {
    pfr_error err;
    pfr_reader *r = pfr_open(path, NULL, &err);
    if (!r)
        fail_msg("%s: %s", path, err.text);
    assert_int_equal(pfr_get_header(r)->container, container);
    const struct tally t = read_through(r);
    assert_int_equal(t.last, PFR_END);
    assert_int_equal(t.records, pfr_get_quality(r)->records);
    assert_int_equal(t.samples, pfr_get_quality(r)->samples);
    pfr_close(r);
    return t;
}

static void read_recorded(const char *path, void *context) {
    pfr_error err;
    pfr_reader *r = pfr_open(path, NULL, &err);
    (void)context;
    if (!r)
        fail_msg("%s: %s", path, err.text);
    const struct tally t = read_through(r);
    const pfr_quality *quality = pfr_get_quality(r);
    if (t.last != PFR_END || t.holes || t.records == 0 || quality->unknown_records || quality->truncated_bytes)
        fail_msg("%s: %ju records, %ju holes, %s", path, (uintmax_t)t.records, (uintmax_t)t.holes,
                 pfr_status_name(t.last));
    assert_int_equal(quality->not_finalised, strstr(path, "killed.data") != NULL);
    assert_true(pfr_event_count(r) > 0);
    pfr_close(r);
}

TEST(every_recording_opens_and_has_no_holes) {
    assert_true(each_recorded(read_recorded, NULL) >= 40);
}

/* Counts of perf report --stats of perf 6.1. */
TEST(recordings_have_the_samples_that_perf_counts) {
    static const struct {
        const char *name;
        pfr_container container;
        unsigned samples;
    } known[] = {{"demo.data", PFR_FILE, 301},
                 {"pipe.data", PFR_PIPE, 100},
                 {"zstd.data", PFR_FILE, 201},
                 {"threads.data", PFR_DIRECTORY, 23},
                 {"threads-zstd.data", PFR_DIRECTORY, 23}};
    char path[RECORDED_PATH];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(read_path(recorded_path(path, known[i].name), known[i].container).samples, known[i].samples);
}

static void read_packed(const char *name, pfr_container container, bool same_offsets) {
    char path[RECORDED_PATH], folder[FOLDER_SIZE];
    struct blob plain;
    const struct tally expected = read_path(recorded_path(path, name), container);
    plain.bytes = load_whole(path, &plain.length);
    make_folder(folder);
    for (size_t i = 0; i < sizeof packers / sizeof *packers; i++) {
        struct blob packed = packers[i](plain);
        const struct tally t = read_path(write_file(folder, packed.bytes, packed.length), container);
        assert_int_equal(t.holes, 0);
        assert_int_equal(t.records, expected.records);
        if (same_offsets)
            assert_int_equal(t.sum, expected.sum);
        free(packed.bytes);
    }
    remove_folder(folder);
    free(plain.bytes);
}

TEST(files_and_streams_open_inside_gzip_xz_and_zstd) {
    read_packed("cpu-clock.data", PFR_FILE, true);
    read_packed("zstd.data", PFR_FILE, true);
    read_packed("pipe.data", PFR_PIPE, true);
    read_packed("pipe-tracepoints.data", PFR_PIPE, true);
    read_packed("pipe-zstd.data", PFR_PIPE, true);
}

struct feed {
    const char *path;
    struct blob bytes;
};

/* A writer that writes odd sizes, so that no read ends at the end of a record. */
static void *feed_fifo(void *context) {
    const struct feed *feed = context;
    const int fd = open(feed->path, O_WRONLY);
    for (size_t at = 0; fd >= 0 && at < feed->bytes.length;) {
        const size_t left = feed->bytes.length - at, piece = left < 997 ? left : 997;
        const ssize_t wrote = write(fd, feed->bytes.bytes + at, piece);
        if (wrote <= 0)
            break;
        at += (size_t)wrote;
    }
    close(fd);
    return NULL;
}

static void read_fifo(const char *name, pfr_container container) {
    char path[RECORDED_PATH], folder[FOLDER_SIZE], fifo[FOLDER_SIZE + 16];
    pthread_t writer;
    struct feed feed = {fifo, {NULL, 0}};
    const struct tally expected = read_path(recorded_path(path, name), container);
    feed.bytes.bytes = load_whole(path, &feed.bytes.length);
    make_folder(folder);
    snprintf(fifo, sizeof fifo, "%s/file", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(pthread_create(&writer, NULL, feed_fifo, &feed), 0);
    const struct tally t = read_path(fifo, container);
    pthread_join(writer, NULL);
    assert_int_equal(t.records, expected.records);
    assert_int_equal(t.sum, expected.sum);
    remove_folder(folder);
    free(feed.bytes.bytes);
}

TEST(files_and_streams_are_read_from_a_fifo) {
    read_fifo("pipe.data", PFR_PIPE);
    read_fifo("pipe-tracepoints.data", PFR_PIPE);
    read_fifo("demo.data", PFR_FILE);
}

TEST(a_dash_is_standard_input) {
    char path[RECORDED_PATH];
    const struct tally expected = read_path(recorded_path(path, "pipe.data"), PFR_PIPE);
    const int saved = dup(0), fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && dup2(fd, 0) == 0);
    const struct tally t = read_path("-", PFR_PIPE);
    dup2(saved, 0);
    close(saved);
    close(fd);
    assert_int_equal(t.sum, expected.sum);
}

TEST(the_parts_of_a_directory_come_in_order_of_number) {
    char path[RECORDED_PATH];
    pfr_record rec;
    pfr_error err;
    pfr_status s;
    uint32_t part = 0;
    pfr_reader *r = pfr_open(recorded_path(path, "threads.data"), NULL, &err);
    assert_non_null(r);
    assert_true(pfr_get_header(r)->parts > 1);
    while ((s = pfr_next(r, &rec, &err)) == PFR_OK) {
        assert_true(rec.part >= part && rec.part <= pfr_get_header(r)->parts);
        part = rec.part;
    }
    assert_int_equal(s, PFR_END);
    assert_true(part >= 1);
    pfr_close(r);
}

static void refuse(const void *bytes, size_t length, pfr_status status) {
    pfr_error err;
    pfr_reader *r = pfr_open_bytes(bytes, length, NULL, &err);
    assert_null(r);
    assert_int_equal(err.status, status);
    assert_true(err.text[0] != 0);
    assert_null(pfr_open_bytes(bytes, length, NULL, NULL));
}

TEST(other_than_recordings_are_refused) {
    refuse("", 0, PFR_ERR_FORMAT);
    refuse("PERF", 4, PFR_ERR_FORMAT);
    refuse("PERFILE2", 8, PFR_ERR_FORMAT);
    refuse("\177ELF and what follows it, at length", 34, PFR_ERR_FORMAT);
    refuse("PERFILE2\x11\0\0\0\0\0\0\0", 16, PFR_ERR_FORMAT);
    refuse("PERFFILE\x11\0\0\0\0\0\0\0\x99\0\0\0\0\0\0\0", 24, PFR_ERR_FORMAT);
}

TEST(files_that_cannot_be_opened_are_reported) {
    char folder[FOLDER_SIZE];
    pfr_error err;
    assert_null(pfr_open("/nonexistent/perf.data", NULL, &err));
    assert_int_equal(err.status, PFR_ERR_IO);
    make_folder(folder);
    assert_null(pfr_open(folder, NULL, &err)); /* a directory without `data` */
    assert_true(err.status < 0);
    assert_null(pfr_open(write_file(folder, "", 0), NULL, &err));
    assert_int_equal(err.status, PFR_ERR_FORMAT);
    remove_folder(folder);
    pfr_close(NULL);
}

TEST(both_byte_orders_and_both_header_sizes_give_the_same) {
    for (unsigned variant = 0; variant < 4; variant++) {
        struct builder b = {.big = variant & 1};
        pfr_record rec;
        struct pfr_rec_comm comm;
        struct pfr_rec_sample sample;
        begin_file(&b, &(struct plan){.header_size = variant & 2 ? 72 : 104, .events = 1});
        put_comm(&b, 7, "seven", 0);
        put_sample(&b, 0x123456789abc, 0);
        end_file(&b);
        pfr_reader *r = open_built(&b, NULL);
        assert_int_equal(pfr_get_header(r)->big_endian, b.big);
        assert_int_equal(pfr_get_header(r)->header_size, variant & 2 ? 72 : 104);
        expect_record(r, &rec, 3);
        assert_int_equal(pfr_decode(&rec, &comm, sizeof comm, NULL), PFR_OK);
        assert_int_equal(comm.tid, 7);
        assert_int_equal(comm.comm.length, 5);
        expect_record(r, &rec, 9);
        assert_int_equal(pfr_decode(&rec, &sample, sizeof sample, NULL), PFR_OK);
        assert_int_equal(sample.ip, 0x123456789abc);
        assert_int_equal(sample.tid, 12);
        expect_end(r);
        pfr_close(r);
        free(b.bytes);
    }
}

TEST(the_byte_order_of_the_old_magic_follows_from_the_attr_size) {
    for (unsigned big = 0; big < 2; big++) {
        struct builder b = {.big = big};
        begin_file(&b, &(struct plan){.header_size = 104, .events = 1, .magic = "PERFFILE"});
        put_comm(&b, 7, "seven", 0);
        end_file(&b);
        pfr_reader *r = open_built(&b, NULL);
        assert_int_equal(pfr_get_header(r)->version, 1);
        assert_int_equal(pfr_get_header(r)->big_endian, big);
        assert_int_equal(read_through(r).records, 1);
        pfr_close(r);
        free(b.bytes);
    }
}

TEST(data_of_size_0_go_to_the_end_of_the_file) {
    struct builder b = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1, .features = 0xffffffff});
    put_sample(&b, 1, 0);
    put_sample(&b, 2, 0);
    pfr_reader *r = open_built(&b, NULL);
    assert_true(pfr_get_header(r)->not_finalised);
    assert_int_equal(pfr_feature_count(r), 0);
    const struct tally t = read_through(r);
    assert_int_equal(t.samples, 2);
    assert_int_equal(t.holes, 0);
    assert_true(pfr_get_quality(r)->not_finalised);
    pfr_close(r);
    free(b.bytes);
}

TEST(data_sizes_beyond_the_file_are_counted_as_missing) {
    struct builder b = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_sample(&b, 1, 0);
    put_sample(&b, 2, 0);
    end_file(&b);
    b.length -= 32;
    pfr_reader *r = open_built(&b, NULL);
    assert_int_equal(read_through(r).samples, 1);
    assert_int_equal(pfr_get_quality(r)->truncated_bytes, 32);
    pfr_close(r);
    free(b.bytes);
}

TEST(sections_outside_of_the_file_are_ignored) {
    struct builder b = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1, .features = 1 << 3});
    put_sample(&b, 1, 0);
    end_file(&b);
    put_section(&b, UINT64_MAX - 4, 8);                            /* HOSTNAME */
    set_number(&b, b.bytes + 112 + BUILT_ATTR, UINT64_MAX - 7, 8); /* ids */
    pfr_reader *r = open_built(&b, NULL);
    const pfr_feature *feature = pfr_get_feature(r, 0, NULL);
    assert_non_null(feature);
    assert_int_equal(feature->status, PFR_HOLE);
    assert_int_equal(feature->bytes.length, 0);
    assert_int_equal(pfr_get_event(r, 0)->nr_ids, 1); /* found where recorders write them */
    assert_true(pfr_get_quality(r)->holes > 0);
    const struct tally seen = read_through(r);
    assert_int_equal(seen.samples, 1);
    assert_int_equal(seen.holes, 1);
    pfr_close(r);
    free(b.bytes);
}
