/* SPDX-License-Identifier: Apache-2.0 */
/* Writing recordings: the records that were read are written unchanged, in either byte order; and any call may fail. */
#include "base/memory/cursor.h"
#include "base/failing_alloc.h"
#include "recorded_files.h"
#include "test.h"

#include <fcntl.h>
#include <perfray/perfray.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct pfr_rec_attr clock_attr = {
    .type = 1, .sample_type = 7, .sample_period = 1, .flags = {.sample_id_all = 1}};

/* --- A recording written from another one, whose bytes are overwritten as soon as they were passed to the writer. */

static pfr_status copy_events(pfr_writer *w, pfr_reader *r, pfr_error *err) {
    for (uint32_t i = 0; i < pfr_event_count(r); i++) {
        const pfr_event *e = pfr_get_event(r, i);
        const pfr_status s = pfr_writer_event(w, &e->attr, e->ids, (size_t)e->nr_ids, err);
        if (s < 0)
            return s;
    }
    for (uint32_t i = 0; i < pfr_feature_count(r); i++) {
        const pfr_feature *f = pfr_get_feature(r, i, err);
        const pfr_status s = f ? pfr_writer_copy_feature(w, r, f, err) : PFR_ERR_IO;
        if (s < 0)
            return s;
    }
    return PFR_OK;
}

static pfr_status copy_records(pfr_writer *w, pfr_reader *r, uint8_t *bytes, pfr_error *err) {
    pfr_record rec;
    pfr_status s;
    while ((s = pfr_next(r, &rec, err)) == PFR_OK) {
        if ((s = pfr_writer_copy(w, &rec, err)) != PFR_OK)
            return s;
        memset(bytes + rec.offset, 0xa5, rec.size);
    }
    return s == PFR_END ? PFR_OK : s;
}

/* Returns the descriptor of the written file; `bytes` are overwritten. */
static int rewritten(uint8_t *bytes, size_t length, pfr_order order, pfr_error *err) {
    const int fd = memfd_create("written", MFD_CLOEXEC);
    const pfr_write_options how = {.size = sizeof how, .order = order};
    pfr_reader *r = pfr_open_bytes(bytes, length, NULL, err);
    assert_non_null(r);
    pfr_writer *w = pfr_writer_open_fd(fd, false, "memory", &how, err);
    assert_non_null(w);
    ASSERT_OK(copy_events(w, r, err), *err);
    ASSERT_OK(copy_records(w, r, bytes, err), *err);
    ASSERT_OK(pfr_writer_finish(w, err), *err);
    pfr_writer_close(w);
    pfr_close(r);
    return fd;
}

static uint8_t *read_back(int fd, size_t *length) {
    *length = (size_t)lseek(fd, 0, SEEK_END);
    uint8_t *bytes = malloc(*length + 1);
    assert_non_null(bytes);
    assert_int_equal(pread(fd, bytes, *length, 0), *length);
    close(fd);
    return bytes;
}

/* To the other byte order and back, if order is PFR_ORDER_BIG. */
static void is_same_again(const char *name, pfr_order order) {
    char path[RECORDED_PATH];
    pfr_error err;
    size_t length, written;
    uint8_t *original = load_whole(recorded_path(path, name), &length), *input = malloc(length);
    assert_non_null(input);
    memcpy(input, original, length);
    uint8_t *output = read_back(rewritten(input, length, order, &err), &written);
    if (order != PFR_ORDER_LITTLE) {
        free(input);
        input = output;
        output = read_back(rewritten(input, written, PFR_ORDER_LITTLE, &err), &written);
    }
    /* Recorders leave unused slots after the feature table, which a writer does not know: this compares the records and
     * everything before them, except the feature words of the header. */
    const uint64_t data_end = load_u64(original + 40, SWAP_OF_LITTLE) + load_u64(original + 48, SWAP_OF_LITTLE);
    assert_memory_equal(output, original, 72);
    assert_memory_equal(output + 104, original + 104, data_end - 104);
    free(original), free(input), free(output);
}

static const char *const whole_files[] = {"cpu-clock.data", "dwarf.data",     "group.data",       "user-regs.data",
                                          "cgroups.data",   "weight.data",    "tracepoints.data", "namespaces-new.data",
                                          "demo.data",      "two-events.data"};

TEST(writer_round_trips) {
    for (size_t i = 0; i < sizeof whole_files / sizeof *whole_files; i++)
        is_same_again(whole_files[i], PFR_ORDER_LITTLE);
}

TEST(writer_turns_the_byte_order_and_back) {
    for (size_t i = 0; i < sizeof whole_files / sizeof *whole_files; i++)
        is_same_again(whole_files[i], PFR_ORDER_BIG);
}

/* --- Failures. */

static pfr_status write_small(pfr_writer *w, unsigned samples, pfr_error *err) {
    const struct pfr_rec_sample s = {.ip = 1, .pid = 2, .tid = 2, .time = 3};
    const struct pfr_rec_feature_hostname host = {{"host", 4, 0}};
    pfr_writer_event(w, &clock_attr, (const uint64_t[]){7}, 1, err);
    pfr_writer_put_feature(w, 3, &host, sizeof host, err);
    for (unsigned i = 0; i < samples; i++)
        pfr_writer_put(w, 0, 9, 1, &s, sizeof s, NULL, err);
    return pfr_writer_finish(w, err);
}

TEST(writer_keeps_its_first_failure) {
    pfr_error err, again;
    const pfr_write_options how = {.size = sizeof how, .in_place = true};
    pfr_writer *w = pfr_writer_open("/dev/full", &how, &err);
    assert_non_null(w);
    ASSERT_STATUS(write_small(w, 5000, &err), PFR_ERR_IO, err);
    assert_non_null(strstr(err.text, "/dev/full at byte"));
    assert_non_null(strstr(err.text, "No space left"));
    ASSERT_STATUS(pfr_writer_flush(w, &again), PFR_ERR_IO, again);
    assert_string_equal(err.text, again.text);
    pfr_writer_close(w);
}

TEST(writer_survives_every_failing_allocation) {
    static const pfr_compression ways[] = {PFR_PLAIN, PFR_ZSTD_FRAMES, PFR_ZSTD_STREAM};
    struct failing_alloc failing;
    pfr_error err;
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
        for (long n = 1; failing_alloc_begin(&failing, n), true; n++) {
            const pfr_write_options how = {.size = sizeof how, .alloc = &failing.alloc, .compression = ways[way]};
            const int fd = memfd_create("written", MFD_CLOEXEC);
            pfr_writer *w = pfr_writer_open_fd(fd, true, "memory", &how, &err);
            const pfr_status s = w ? write_small(w, 100, &err) : err.status;
            pfr_writer_close(w);
            assert_int_equal(failing.blocks, 0);
            if (!failing.has_failed)
                break;
            assert_int_equal(s, PFR_ERR_MEMORY);
        }
}

TEST(writer_follows_no_link) {
    char folder[] = "/tmp/perfray-writer-XXXXXX", target[64], link[64];
    pfr_error err;
    const pfr_write_options how = {.size = sizeof how, .in_place = true};
    assert_non_null(mkdtemp(folder));
    snprintf(target, sizeof target, "%s/target", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    assert_int_equal(symlink(target, link), 0);
    assert_null(pfr_writer_open(link, &how, &err));
    assert_int_equal(err.status, PFR_ERR_USAGE);
    assert_null(pfr_writer_open(link, NULL, &err));
    assert_int_equal(err.status, PFR_ERR_USAGE);
    assert_int_equal(access(target, F_OK), -1);
    unlink(link);
    rmdir(folder);
}

/* The file of a killed writer can be read up to where it ends. */
TEST(writer_can_be_read_before_it_is_finished) {
    pfr_error err;
    pfr_record rec;
    uint64_t samples = 0;
    const int fd = memfd_create("written", MFD_CLOEXEC);
    pfr_writer *w = pfr_writer_open_fd(fd, false, "memory", NULL, &err);
    const struct pfr_rec_sample s = {.ip = 1, .pid = 2, .tid = 2, .time = 3};
    pfr_writer_event(w, &clock_attr, NULL, 0, &err);
    for (unsigned i = 0; i < 10; i++)
        ASSERT_OK(pfr_writer_put(w, 0, 9, 1, &s, sizeof s, NULL, &err), err);
    ASSERT_OK(pfr_writer_flush(w, &err), err);
    size_t length;
    uint8_t *bytes = read_back(dup(fd), &length);
    pfr_reader *r = pfr_open_bytes(bytes, length, NULL, &err);
    assert_non_null(r);
    assert_true(pfr_get_header(r)->not_finalised);
    while (pfr_next(r, &rec, &err) == PFR_OK)
        samples += rec.type == PFR_RECORD_SAMPLE;
    assert_int_equal(samples, 10);
    pfr_close(r);
    free(bytes);
    pfr_writer_close(w);
    close(fd);
}

/* Ids added after records are written at the end, together with those of the start. */
TEST(writer_takes_ids_late) {
    static const uint64_t first[] = {7, 8}, late[] = {9};
    pfr_error err;
    pfr_record rec;
    const int fd = memfd_create("written", MFD_CLOEXEC);
    pfr_writer *w = pfr_writer_open_fd(fd, false, "memory", NULL, &err);
    struct pfr_rec_attr attr = clock_attr;
    attr.sample_type |= 1u << 16;
    const struct pfr_rec_sample s = {.identifier = 9, .ip = 1, .pid = 2, .tid = 2, .time = 3};
    for (unsigned i = 0; i < 2; i++)
        ASSERT_OK(pfr_writer_event(w, &attr, first + i, 1, &err), err);
    ASSERT_OK(pfr_writer_put(w, 1, 9, 1, &s, sizeof s, NULL, &err), err);
    assert_int_equal(pfr_writer_ids(w, 2, late, 1, &err), PFR_ERR_USAGE);
    ASSERT_OK(pfr_writer_ids(w, 1, late, 1, &err), err);
    ASSERT_OK(pfr_writer_finish(w, &err), err);
    pfr_writer_close(w);
    size_t length;
    uint8_t *bytes = read_back(fd, &length);
    pfr_reader *r = pfr_open_bytes(bytes, length, NULL, &err);
    assert_non_null(r);
    ASSERT_OK(pfr_next(r, &rec, &err), err);
    assert_int_equal(rec.event, 1);
    assert_int_equal(pfr_event_of_id(r, 7), 0);
    assert_int_equal(pfr_event_of_id(r, 8), 1);
    assert_int_equal(pfr_get_event(r, 1)->nr_ids, 2);
    pfr_close(r);
    free(bytes);
}

TEST(writer_takes_no_attr_above_a_page_and_goes_on) {
    pfr_error err;
    pfr_writer *w = pfr_writer_open_fd(memfd_create("written", MFD_CLOEXEC), true, "memory", NULL, &err);
    struct pfr_rec_attr attr = clock_attr;
    attr.size = 4104;
    assert_int_equal(pfr_writer_event(w, &attr, NULL, 0, &err), PFR_ERR_USAGE);
    ASSERT_OK(pfr_writer_event(w, &clock_attr, NULL, 0, &err), err);
    ASSERT_OK(pfr_writer_finish(w, &err), err);
    pfr_writer_close(w);
}

static void write_attrs_of(uint32_t size, pfr_order order, int fd) {
    pfr_error err;
    struct pfr_rec_attr attr = clock_attr;
    const pfr_write_options how = {.size = sizeof how, .order = order};
    pfr_writer *w = pfr_writer_open_fd(fd, false, "memory", &how, &err);
    assert_non_null(w);
    attr.size = size;
    for (unsigned i = 0; i < 2; i++)
        ASSERT_OK(pfr_writer_event(w, &attr, NULL, 0, &err), err);
    ASSERT_OK(pfr_writer_finish(w, &err), err);
    pfr_writer_close(w);
}

/* Readers have nothing to repair in a file that the writer made, whatever the size of its attrs. */
TEST(writer_writes_attrs_of_any_size_that_readers_accept) {
    for (uint32_t size = 64; size <= 4096; size += 8) {
        const int fd = memfd_create("written", MFD_CLOEXEC);
        pfr_error err;
        size_t length;
        write_attrs_of(size, size % 16 ? PFR_ORDER_BIG : PFR_ORDER_LITTLE, fd);
        uint8_t *bytes = read_back(fd, &length);
        pfr_reader *r = pfr_open_bytes(bytes, length, NULL, &err);
        assert_non_null(r);
        assert_int_equal(pfr_get_quality(r)->bad_header, 0);
        assert_int_equal(pfr_event_count(r), 2);
        assert_int_equal(pfr_get_event(r, 1)->attr.size, size);
        assert_int_equal(pfr_get_event(r, 1)->attr.sample_type, clock_attr.sample_type);
        pfr_close(r);
        free(bytes);
    }
}

TEST(writer_has_no_place_for_late_ids_in_a_stream) {
    static const uint64_t late[] = {9};
    pfr_error err;
    const pfr_write_options how = {.size = sizeof how, .container = PFR_PIPE};
    const int fd = memfd_create("written", MFD_CLOEXEC);
    pfr_writer *w = pfr_writer_open_fd(fd, true, "memory", &how, &err);
    const struct pfr_rec_sample s = {.ip = 1, .pid = 2, .tid = 2, .time = 3};
    ASSERT_OK(pfr_writer_event(w, &clock_attr, NULL, 0, &err), err);
    ASSERT_OK(pfr_writer_ids(w, 0, late, 1, &err), err);
    ASSERT_OK(pfr_writer_put(w, 0, 9, 1, &s, sizeof s, NULL, &err), err);
    assert_int_equal(pfr_writer_ids(w, 0, late, 1, &err), PFR_ERR_USAGE);
    pfr_writer_close(w);
}

/* A ring that wraps within a record. */
TEST(writer_takes_rings_in_two_pieces) {
    const uint8_t lost[24] = {2, 0, 0, 0, 0, 0, 24, 0, 1};
    uint8_t ring[72];
    pfr_error err;
    for (size_t i = 0; i < 3; i++)
        memcpy(ring + 24 * i, lost, sizeof lost);
    for (size_t cut = 0; cut <= sizeof ring; cut++) {
        const pfr_write_options how = {.size = sizeof how, .container = PFR_PIPE, .order = PFR_ORDER_LITTLE};
        const int fd = memfd_create("written", MFD_CLOEXEC);
        size_t length;
        pfr_writer *w = pfr_writer_open_fd(fd, false, "memory", &how, &err);
        ASSERT_OK(pfr_writer_raw(w, ring, cut, ring + cut, sizeof ring - cut, &err), err);
        ASSERT_OK(pfr_writer_finish(w, &err), err);
        pfr_writer_close(w);
        uint8_t *bytes = read_back(fd, &length);
        assert_int_equal(length, 16 + sizeof ring);
        assert_memory_equal(bytes + 16, ring, sizeof ring);
        free(bytes);
    }
}
