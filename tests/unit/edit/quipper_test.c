/* SPDX-License-Identifier: Apache-2.0 */
/* PerfDataProto is truncated at every byte, read with changed bytes, and written and read while each allocation fails
   once. */
#include "../base/failing_alloc.h"
#include "../test.h"

#include <perfray/perfray.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MUTANTS 1000u
#define ROOM 65536u

struct place {
    char folder[64], recording[96], proto[96], text[96], damaged[96];
};

static void make_place(struct place *p) {
    strcpy(p->folder, "/tmp/perfray-quipper-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->recording, sizeof p->recording, "%s/recording", p->folder);
    snprintf(p->proto, sizeof p->proto, "%s/proto", p->folder);
    snprintf(p->text, sizeof p->text, "%s/text", p->folder);
    snprintf(p->damaged, sizeof p->damaged, "%s/damaged", p->folder);
}

static void remove_place(const struct place *p) {
    unlink(p->recording);
    unlink(p->proto);
    unlink(p->text);
    unlink(p->damaged);
    assert_int_equal(rmdir(p->folder), 0);
}

/* --- A recording with many types of records and two events, one of which samples nearly all fields. */

static const uint64_t ids[] = {11, 12};

static void put(pfr_writer *w, uint32_t event, uint32_t type, uint16_t misc, const void *body, size_t size) {
    const struct pfr_rec_sample_id id = {.pid = 7, .tid = 8, .time = 100, .id = ids[event], .identifier = ids[event]};
    pfr_error err;
    ASSERT_OK(pfr_writer_put(w, event, type, misc, body, size, &id, &err), err);
}

static void put_samples(pfr_writer *w) {
    static const uint64_t chain[] = {0x1000, 0x2000, UINT64_MAX - 511};
    const pfr_u64s words = {(const uint8_t *)chain, 3, 0};
    const struct pfr_rec_sample first = {.identifier = 11, .ip = 0x1000, .pid = 7, .tid = 8, .time = 300, .period = 5};
    struct pfr_rec_sample second = {.identifier = 12, .ip = 0x2000, .pid = 7, .tid = 8, .time = 200, .addr = 9};
    second.chain = words;
    second.raw.data = (pfr_bytes){(const uint8_t *)"rawdata", 4};
    second.regs_user.abi = 2;
    second.regs_user.regs = (pfr_u64s){(const uint8_t *)chain, 2, 0};
    second.weight = 77;
    put(w, 0, 9, 2, &first, sizeof first);
    put(w, 1, 9, 2, &second, sizeof second);
}

static void write_recording(const struct place *p) {
    const struct pfr_rec_attr attrs[] = {
        {.type = 1, .size = 112, .sample_type = 0x10107, .sample_period = 1, .flags = {.sample_id_all = 1}},
        {.type = 0,
         .size = 112,
         .sample_type = 0x1552f,
         .sample_period = 1,
         .sample_regs_user = 3,
         .clockid = 1,
         .flags = {.sample_id_all = 1}}};
    const struct pfr_rec_comm comm = {.pid = 7, .tid = 8, .comm = {"a\"\n\xc3\xb6", 5, 0}};
    const struct pfr_rec_mmap2 map = {
        .pid = 7, .tid = 8, .addr = 4096, .len = 8192, .filename = {"/usr/lib/a.so", 13, 0}};
    const struct pfr_rec_bpf_event bpf = {.type = 1, .id = 5, .tag = {(const uint8_t *)"\1\2\3\4\5\6\7\b", 8}};
    const struct pfr_rec_feature_hostname host = {.hostname = {"host", 4, 0}};
    const struct pfr_rec_feature_nrcpus cpus = {.available = 2, .online = 1};
    pfr_error err;
    pfr_writer *w = pfr_writer_open(p->recording, NULL, &err);
    assert_non_null(w);
    for (size_t i = 0; i < 2; i++)
        ASSERT_OK(pfr_writer_event(w, &attrs[i], &ids[i], 1, &err), err);
    put(w, 0, 3, 0x2000, &comm, sizeof comm);
    put(w, 0, 10, 2, &map, sizeof map);
    put(w, 0, 18, 0, &bpf, sizeof bpf);
    put_samples(w);
    ASSERT_OK(pfr_writer_put_feature(w, 3, &host, sizeof host, &err), err);
    ASSERT_OK(pfr_writer_put_feature(w, 7, &cpus, sizeof cpus, &err), err);
    ASSERT_OK(pfr_writer_finish(w, &err), err);
    pfr_writer_close(w);
}

static pfr_status to_quipper(const struct place *p, bool text, const pfr_alloc *alloc, pfr_error *err) {
    const pfr_open_options how = {.size = sizeof how, .alloc = alloc};
    const pfr_edit_options options = {.size = sizeof options,
                                      .path = text ? p->text : p->proto,
                                      .quipper = text ? PFR_EDIT_QUIPPER_TEXT : PFR_EDIT_QUIPPER,
                                      .file_order = true};
    pfr_reader *r = pfr_open(p->recording, &how, err);
    if (!r)
        return err->status;
    const pfr_status s = pfr_convert(r, &options, NULL, err);
    pfr_close(r);
    return s;
}

static size_t read_file(const char *path, uint8_t bytes[ROOM]) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    const ssize_t length = read(fd, bytes, ROOM);
    close(fd);
    assert_true(length > 0 && (size_t)length < ROOM);
    return (size_t)length;
}

static void write_file(const char *path, const uint8_t *bytes, size_t length) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

/* --- Reading it back. */

static uint64_t holes;

static void count_hole(void *context, const pfr_error *hole) {
    (void)context;
    assert_int_equal(hole->status, PFR_HOLE);
    assert_true(hole->text[0] != 0);
    holes++;
}

/* Number of records at the beginning of a PerfDataProto that equal those of the recording. */
static size_t same_records(const struct place *p, const char *path, bool *opened) {
    pfr_error err;
    pfr_record theirs, ours;
    size_t same = 0;
    holes = 0;
    pfr_reader *whole = pfr_open(p->recording, NULL, &err), *again = pfr_open_any(path, NULL, count_hole, NULL, &err);
    assert_non_null(whole);
    *opened = again != NULL;
    assert_true(again || err.status < 0);
    while (again && pfr_next(whole, &theirs, &err) == PFR_OK && pfr_next(again, &ours, &err) == PFR_OK) {
        if (theirs.size != ours.size || memcmp(theirs.bytes, ours.bytes, theirs.size) != 0)
            break;
        same++;
    }
    pfr_close(whole);
    pfr_close(again);
    return same;
}

TEST(every_record_of_a_perf_data_proto_comes_back) {
    struct place p;
    pfr_error err;
    bool opened;
    make_place(&p);
    write_recording(&p);
    ASSERT_OK(to_quipper(&p, false, NULL, &err), err);
    ASSERT_STATUS(to_quipper(&p, true, NULL, &err), PFR_HOLE, err);
    assert_true(pfr_is_quipper(p.proto) && pfr_is_quipper(p.text) && !pfr_is_quipper(p.recording));
    assert_int_equal(same_records(&p, p.proto, &opened), 5);
    assert_int_equal(holes, 0);
    assert_int_equal(same_records(&p, p.text, &opened), 2); /* the text format cannot express BPF_EVENT */
    remove_place(&p);
}

TEST(a_perf_data_proto_without_events_and_records_is_one) {
    uint8_t header[104] = "PERFILE2"; /* size of the header and of attrs; no attrs and no records */
    struct place p;
    pfr_error err;
    bool opened;
    header[8] = header[24] = header[40] = sizeof header;
    header[16] = 144;
    make_place(&p);
    write_file(p.recording, header, sizeof header);
    for (unsigned text = 0; text < 2; text++) {
        const char *path = text ? p.text : p.proto;
        ASSERT_OK(to_quipper(&p, text, NULL, &err), err);
        assert_true(pfr_is_quipper(path));
        assert_int_equal(same_records(&p, path, &opened), 0);
        assert_true(opened && holes == 0);
    }
    remove_place(&p);
}

TEST(a_truncated_perf_data_proto_gives_its_complete_messages) {
    static uint8_t bytes[ROOM];
    struct place p;
    pfr_error err;
    make_place(&p);
    write_recording(&p);
    for (unsigned text = 0; text < 2; text++) {
        size_t most = 0;
        bool opened;
        const pfr_status s = to_quipper(&p, text, NULL, &err);
        assert_true(s >= 0);
        const size_t length = read_file(text ? p.text : p.proto, bytes);
        for (size_t cut = 0; cut <= length; cut++) {
            write_file(p.damaged, bytes, cut);
            const size_t same = same_records(&p, p.damaged, &opened);
            assert_true(same >= most || !opened || text);
            most = same > most ? same : most;
        }
        assert_int_equal(most, text ? 2 : 5);
    }
    remove_place(&p);
}

TEST(a_perf_data_proto_with_bytes_changed_is_read_or_refused) {
    static uint8_t bytes[ROOM];
    struct place p;
    pfr_error err;
    uint32_t chance = 1;
    bool opened;
    make_place(&p);
    write_recording(&p);
    for (unsigned text = 0; text < 2; text++) {
        const pfr_status s = to_quipper(&p, text, NULL, &err);
        assert_true(s >= 0);
        const size_t length = read_file(text ? p.text : p.proto, bytes);
        for (unsigned i = 0; i < MUTANTS; i++) {
            chance = chance * 1664525u + 1013904223u;
            uint8_t *at = &bytes[(chance >> 8) % length];
            const uint8_t kept = *at;
            *at = (uint8_t)(chance >> 24);
            write_file(p.damaged, bytes, length);
            same_records(&p, p.damaged, &opened);
            *at = kept;
        }
    }
    remove_place(&p);
}

TEST(every_allocation_of_writing_a_perf_data_proto_fails_once) {
    struct failing_alloc failing;
    struct place p;
    pfr_error err;
    make_place(&p);
    write_recording(&p);
    for (unsigned text = 0; text < 2; text++) {
        for (long n = 1;; n++) {
            failing_alloc_begin(&failing, n);
            const pfr_status s = to_quipper(&p, text, &failing.alloc, &err);
            assert_int_equal(failing.blocks, 0);
            if (!failing.has_failed) {
                assert_true(s >= 0);
                break;
            }
            if (s < 0) {
                assert_int_equal(err.status, PFR_ERR_MEMORY);
                assert_int_not_equal(access(text ? p.text : p.proto, F_OK), 0);
            }
        }
    }
    remove_place(&p);
}

TEST(every_allocation_of_reading_a_perf_data_proto_fails_once) {
    struct failing_alloc failing;
    struct place p;
    pfr_error err;
    make_place(&p);
    write_recording(&p);
    for (unsigned text = 0; text < 2; text++) {
        const pfr_status s = to_quipper(&p, text, NULL, &err);
        assert_true(s >= 0);
        for (long n = 1;; n++) {
            failing_alloc_begin(&failing, n);
            const pfr_open_options how = {.size = sizeof how, .alloc = &failing.alloc};
            pfr_reader *r = pfr_open_any(text ? p.text : p.proto, &how, NULL, NULL, &err);
            const bool opened = r != NULL;
            pfr_close(r);
            assert_int_equal(failing.blocks, 0);
            if (!opened)
                assert_int_equal(err.status, PFR_ERR_MEMORY);
            if (!failing.has_failed) {
                assert_true(opened);
                break;
            }
        }
    }
    remove_place(&p);
}
