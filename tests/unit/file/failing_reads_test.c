/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every system call that reads or writes bytes fails once: read, pread, write and lseek of this program replace those
 * of libc and count the calls. After a failure an error must be reported, or the result must equal that of a run
 * without failure.
 */
#include "file/read/features.h"
#include "recorded_files.h"
#include "recording_builder.h"
#include "../base/input_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* fail_at 0: no call fails. No lock is needed: these tests use only one thread, and feed no FIFO from a second one. */
static struct {
    long fail_at, calls;
    bool has_failed;
    bool stays_broken;                   /* all later calls fail, too */
    bool writes_nothing, is_interrupted; /* result of the failing call, if not EIO */
    size_t most;                         /* maximum bytes per read; 0: unlimited */
} faults;

static bool refuses(void) {
    if (faults.fail_at == 0 || ++faults.calls < faults.fail_at)
        return false;
    if (faults.calls > faults.fail_at && !faults.stays_broken)
        return false;
    faults.has_failed = true;
    errno = faults.is_interrupted ? EINTR : EIO;
    return true;
}

static size_t shortened(size_t length) {
    return faults.most && length > faults.most ? faults.most : length;
}

ssize_t read(int fd, void *to, size_t length) {
    return refuses() ? -1 : syscall(SYS_read, fd, to, shortened(length));
}

ssize_t write(int fd, const void *bytes, size_t length) {
    const ssize_t refused = faults.writes_nothing ? 0 : -1;
    return refuses() ? refused : syscall(SYS_write, fd, bytes, length);
}

ssize_t pread64(int fd, void *to, size_t length, off_t offset) {
    return refuses() ? -1 : syscall(SYS_pread64, fd, to, shortened(length), offset);
}

/* Replaces lseek, which signals do not interrupt. */
off_t lseek64(int fd, off_t offset, int whence) {
    return !faults.is_interrupted && refuses() ? -1 : syscall(SYS_lseek, fd, offset, whence);
}

#define PIPE_HOLDS 65536u /* bytes that a pipe holds by default */

/* Makes a pipe that holds the whole file the standard input. */
static void pipe_to_input(const uint8_t *bytes, size_t length) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    if (length > PIPE_HOLDS)
        assert_true(fcntl(ends[1], F_SETPIPE_SZ, (int)length) >= (int)length);
    assert_int_equal(write(ends[1], bytes, length), (ssize_t)length);
    close(ends[1]);
    assert_int_equal(dup2(ends[0], 0), 0);
    close(ends[0]);
}

static bool spools = true; /* streams are read from an unlinked file */

static pfr_status read_everything(const char *path, struct tally *t, pfr_error *err) {
    const pfr_open_options options = {.size = sizeof options, .keep_aux = true, .spool = spools};
    pfr_reader *r = pfr_open(path, &options, err);
    if (!r)
        return err->status;
    *t = (struct tally){0};
    pfr_record rec;
    while ((t->last = pfr_next(r, &rec, err)) >= 0 && t->last != PFR_END) {
        t->holes += t->last == PFR_HOLE;
        if (t->last == PFR_OK)
            t->sum = mix_bytes(t->sum, rec.bytes, rec.size);
    }
    for (uint32_t i = 0; t->last >= 0 && i < pfr_feature_count(r); i++) {
        const pfr_feature *f = pfr_get_feature(r, i, err);
        t->last = f ? t->last : err->status;
        t->sum = f ? mix_bytes(t->sum, f->bytes.at, f->bytes.length) : t->sum;
    }
    for (uint32_t i = 0; i < pfr_event_count(r); i++) /* the names are in several places of the file */
        t->sum = mix_bytes(t->sum, (const uint8_t *)pfr_get_event(r, i)->name, strlen(pfr_get_event(r, i)->name));
    if (t->last >= 0 && features_unread(r, err) < 0)
        t->last = err->status;
    const pfr_status s = t->last;
    pfr_close(r);
    return s;
}

static void fail_each_call(const char *name, const char *path, const uint8_t *piped, size_t length) {
    struct tally expected = {0}, t = {0};
    pfr_error err = {0};
    if (piped)
        pipe_to_input(piped, length);
    assert_int_equal(read_everything(path, &expected, &err), PFR_END);
    for (long n = 1; n == 1 || faults.has_failed; n++) {
        if (piped)
            pipe_to_input(piped, length);
        faults.calls = 0;
        faults.has_failed = false;
        faults.fail_at = n;
        const pfr_status s = read_everything(path, &t, &err);
        faults.fail_at = 0;
        const bool same = s == PFR_END && t.sum == expected.sum && t.holes == expected.holes;
        if (!same && !(faults.has_failed && (s == PFR_ERR_IO || t.holes > expected.holes) && err.text[0]))
            fail_msg("%s: call %ld fails, and reading ends with %s, %s", name, n, pfr_status_name(s), err.text);
    }
}

static void fail_each_of_file(const char *path, void *context) {
    size_t length;
    (void)context;
    fail_each_call(path, path, NULL, 0);
    if (is_folder(path))
        return;
    uint8_t *bytes = load_whole(path, &length);
    const int saved = dup(0);
    fail_each_call(path, "-", bytes, length);
    dup2(saved, 0);
    close(saved);
    free(bytes);
}

TEST(every_read_of_a_recording_fails_once) {
    each_recorded(fail_each_of_file, NULL);
}

/* The obsolete section of event names, far after the records, names the second of two tracepoints. */
static void put_event_types(struct builder *b) {
    enum { EVENT_TYPES_AT = 56, ATTRS_AT = 104 + 16, ENTRY = 72 };
    set_number(b, b->bytes + ATTRS_AT + BUILT_ATTR + 16, 2, 4);
    set_number(b, b->bytes + ATTRS_AT + BUILT_ATTR + 16 + 8, 6, 8);
    set_number(b, b->bytes + EVENT_TYPES_AT, b->length, 8);
    set_number(b, b->bytes + EVENT_TYPES_AT + 8, ENTRY, 8);
    put_number(b, 6, 8);
    memcpy(put_room(b, 64), "sched:old_name", 15);
}

/* Larger than the read buffer, so that the data after the records, and the ids, need separate reads. */
static struct builder large_recording(void) {
    struct builder b = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 2, .features = 1u << 3 | 1u << 7});
    for (unsigned i = 0; i < 40000; i++)
        put_sample(&b, i, FIRST_ID + i % 2);
    end_file(&b);
    put_section(&b, b.length + 32, 8);
    put_section(&b, b.length + 24, 8);
    put_number(&b, 2, 4);
    put_number(&b, 2, 4);
    put_number(&b, 2, 4);
    put_number(&b, 2, 4);
    set_number(&b, b.bytes + 104 + 16 + BUILT_ATTR, b.length, 8); /* the ids of the first event */
    put_number(&b, FIRST_ID, 8);
    put_event_types(&b);
    return b;
}

TEST(every_read_of_a_large_recording_fails_once) {
    char folder[FOLDER_SIZE];
    struct builder b = large_recording();
    make_folder(folder);
    const char *path = write_file(folder, b.bytes, b.length);
    fail_each_call("a large recording", path, NULL, 0);
    remove_folder(folder);
    free(b.bytes);
}

/* A compressed recording that is truncated or damaged anywhere is opened with the decompressed part, or rejected with a
   message. */
static void read_broken_pack(struct blob plain, struct blob (*pack)(struct blob)) {
    struct blob packed = pack(plain);
    char folder[FOLDER_SIZE];
    make_folder(folder);
    for (size_t length = 1; length < packed.length; length += STEP_OF(1 + packed.length / 60)) {
        struct tally t = {0};
        pfr_error err = {0};
        const pfr_status cut = read_everything(write_file(folder, packed.bytes, length), &t, &err);
        if (cut != PFR_END ? err.text[0] == 0 : t.holes == 0)
            fail_msg("%zu of %zu packed bytes: nothing is said (%s)", length, packed.length, pfr_status_name(cut));
        packed.bytes[length] ^= 0x55;
        const pfr_status broken = read_everything(write_file(folder, packed.bytes, packed.length), &t, &err);
        packed.bytes[length] ^= 0x55;
        assert_true(broken == PFR_END || err.text[0]);
    }
    remove_folder(folder);
    free(packed.bytes);
}

static void read_broken_packs(const char *name) {
    char path[RECORDED_PATH];
    struct blob plain;
    plain.bytes = load_whole(recorded_path(path, name), &plain.length);
    for (size_t i = 0; i < sizeof packers / sizeof *packers; i++)
        read_broken_pack(plain, packers[i]);
    free(plain.bytes);
}

TEST(a_truncated_or_damaged_compressed_recording_is_reported) {
    read_broken_packs("cpu-clock.data");
    read_broken_packs("pipe.data");
    spools = false;
    read_broken_packs("pipe.data");
    spools = true;
}

/* A file that is read through a pipe needs a temporary file. */
TEST(without_a_folder_for_temporary_files_a_piped_file_is_refused) {
    char path[RECORDED_PATH];
    size_t length;
    struct tally t;
    pfr_error err = {0};
    uint8_t *bytes = load_whole(recorded_path(path, "cpu-clock.data"), &length);
    const int saved = dup(0);
    pipe_to_input(bytes, length);
    setenv("TMPDIR", "/nonexistent", 1);
    assert_int_equal(read_everything("-", &t, &err), PFR_ERR_IO);
    assert_non_null(strstr(err.text, "/nonexistent"));
    pipe_to_input(bytes, length);
    setenv("TMPDIR", "", 1);
    assert_int_equal(read_everything("-", &t, &err), PFR_END);
    unsetenv("TMPDIR");
    dup2(saved, 0);
    close(saved);
    free(bytes);
}

/* --- Recordings in which every part needs separate reads. */

static void fail_each_call_of(const char *name, struct builder *b) {
    char folder[FOLDER_SIZE];
    make_folder(folder);
    fail_each_call(name, write_file(folder, b->bytes, b->length), NULL, 0);
    remove_folder(folder);
    free(b->bytes);
}

enum { MANY = 20000 }; /* more samples than one read returns */

static void put_samples(struct builder *b, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        put_sample(b, i, 0);
}

/* A sample whose size is too large. */
static void put_longer_sample(struct builder *b, unsigned size) {
    put_head(b, 9, 2, size);
    put_room(b, 24);
}

/* Damage of every kind, each after enough records that a different read reaches it. */
TEST(every_read_of_a_damaged_recording_fails_once) {
    struct builder b = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_samples(&b, MANY);
    put_longer_sample(&b, 40);
    put_samples(&b, MANY);
    memset(put_room(&b, 400000), 0xff, 400000);
    put_samples(&b, MANY);
    put_head(&b, 71, 0, 48);
    put_number(&b, 1 << 30, 8); /* AUX area data that reach past the end */
    put_room(&b, 32);
    memset(put_room(&b, 700000), 0x5a, 700000);
    put_samples(&b, MANY);
    put_longer_sample(&b, 65528);
    end_file(&b);
    fail_each_call_of("a damaged recording", &b);
}

/* The data section starts elsewhere, or records continue after its end: there is no table of features. */
TEST(every_read_of_a_header_that_is_wrong_fails_once) {
    for (unsigned i = 0; i < 6; i++) {
        struct builder b = {0};
        begin_file(&b, &(struct plan){.header_size = 104, .events = 1, .features = 1u << 3});
        put_samples(&b, MANY / 2);
        set_number(&b, b.bytes + 48, i % 3 == 0 ? 1 << 30 : 32 * (MANY / 4) + (i % 3 == 1 ? 0 : 16), 8);
        if (i % 3 == 0)
            set_number(&b, b.bytes + 40, b.length - 64, 8);
        faults.stays_broken = i >= 3;
        fail_each_call_of("a recording whose records are elsewhere", &b);
        faults.stays_broken = false;
    }
}

/* Attrs at the end of the file, where some recorders write them, and a header without the end of the records. */
TEST(every_read_of_far_attrs_fails_once) {
    struct builder b = {0};
    const uint64_t entry = BUILT_ATTR + 16;
    begin_file(&b, &(struct plan){.header_size = 104});
    b.data = b.length;
    put_samples(&b, MANY);
    end_file(&b);
    set_number(&b, b.bytes + 24, b.length, 8);
    set_number(&b, b.bytes + 32, 2 * entry, 8);
    for (unsigned i = 0; i < 2; i++) {
        put_attr(&b, false);
        put_section(&b, 0, 0);
    }
    fail_each_call_of("a recording with far attrs", &b);
}

/* --- Streams that arrive in pieces. */

static struct builder small_stream(void) {
    struct builder b = {0};
    begin_pipe(&b, 1);
    put_samples(&b, 3);
    put_head(&b, 66, 0, 16); /* invalid tracing data */
    put_number(&b, 64, 4);
    put_room(&b, 4 + 64);
    put_head(&b, 71, 0, 48);
    put_number(&b, 64, 8);
    put_room(&b, 32 + 64);
    put_samples(&b, 3);
    return b;
}

static void fail_each_short_read(const struct builder *b) {
    const int saved = dup(0);
    faults.most = 7;
    fail_each_call("a recording in pieces", "-", b->bytes, b->length);
    faults.most = 0;
    dup2(saved, 0);
    close(saved);
}

TEST(every_read_of_a_recording_in_pieces_fails_once) {
    struct builder stream = small_stream(), file = {0};
    begin_file(&file, &(struct plan){.header_size = 104, .events = 1});
    put_samples(&file, 3);
    end_file(&file);
    fail_each_short_read(&stream);
    fail_each_short_read(&file);
    spools = false;
    fail_each_short_read(&stream);
    spools = true;
    free(stream.bytes);
    free(file.bytes);
}

/* --- Writing decompressed data. */

/* The n-th call fails. */
static pfr_status read_piped(const struct builder *b, long n, pfr_error *err) {
    struct tally t;
    const int saved = dup(0);
    pipe_to_input(b->bytes, b->length);
    faults.calls = 0;
    faults.has_failed = false;
    faults.fail_at = n;
    const pfr_status s = read_everything("-", &t, err);
    faults.fail_at = 0;
    dup2(saved, 0);
    close(saved);
    return s;
}

TEST(a_write_that_is_interrupted_or_writes_nothing) {
    struct builder b = small_stream();
    pfr_error err = {0};
    unsigned full = 0;
    faults.is_interrupted = faults.has_failed = true;
    for (long n = 1; faults.has_failed; n++)
        ASSERT_STATUS(read_piped(&b, n, &err), PFR_END, err);
    faults.is_interrupted = false;
    faults.writes_nothing = faults.has_failed = true;
    for (long n = 1; faults.has_failed; n++)
        full += read_piped(&b, n, &err) == PFR_ERR_IO && strstr(err.text, strerror(ENOSPC));
    faults.writes_nothing = false;
    assert_int_equal(full, 1);
    free(b.bytes);
}

/* A caller that passes no error pointer gets no reader. */
TEST(a_recording_that_cannot_be_unpacked_needs_no_error_to_fill) {
    const pfr_open_options options = {.size = sizeof options, .spool = true};
    struct builder b = small_stream();
    const int saved = dup(0);
    unsigned refused = 0;
    faults.has_failed = true;
    for (long n = 1; faults.has_failed; n++) {
        pipe_to_input(b.bytes, b.length);
        faults.calls = 0;
        faults.has_failed = false;
        faults.fail_at = n;
        pfr_reader *r = pfr_open("-", &options, NULL);
        faults.fail_at = 0;
        refused += !r;
        pfr_close(r);
    }
    assert_true(refused >= 3);
    dup2(saved, 0);
    close(saved);
    free(b.bytes);
}

/* --- A folder needs several descriptors: each of them fails to open once. */

TEST(every_descriptor_that_a_folder_takes_is_missing_once) {
    char path[RECORDED_PATH];
    struct rlimit kept;
    pfr_error err = {0};
    pfr_reader *r = NULL;
    unsigned refused = 0;
    recorded_path(path, "threads.data");
    const int first = dup(0);
    close(first);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &kept), 0);
    for (rlim_t most = (rlim_t)first; !r; most++, refused++) {
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){most, kept.rlim_max}), 0);
        r = pfr_open(path, NULL, &err);
        setrlimit(RLIMIT_NOFILE, &kept);
        if (!r && (err.status != PFR_ERR_IO || !strstr(err.text, strerror(EMFILE))))
            fail_msg("with %ju descriptors: %s, %s", (uintmax_t)most, pfr_status_name(err.status), err.text);
    }
    assert_true(refused > 3);
    assert_true(read_through(r).samples > 0);
    pfr_close(r);
}
