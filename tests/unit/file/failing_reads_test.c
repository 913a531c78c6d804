/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every system call that brings or keeps bytes fails once: read, pread, write and lseek of this program stand before
 * libc's and count. Then an error is said, or what was read is the same as without the failure.
 */
#include "recorded_files.h"
#include "recording_builder.h"
#include "../base/input_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* fail_at 0: never. Tests run in one thread, but others feed their fifos from a second one: none of these does. */
static struct {
    long fail_at, calls;
    bool has_failed;
} faults;

static bool refuses(void) {
    if (faults.fail_at == 0 || ++faults.calls != faults.fail_at)
        return false;
    faults.has_failed = true;
    errno = EIO;
    return true;
}

ssize_t read(int fd, void *to, size_t length) {
    return refuses() ? -1 : syscall(SYS_read, fd, to, length);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    return refuses() ? -1 : syscall(SYS_write, fd, bytes, length);
}

ssize_t pread64(int fd, void *to, size_t length, off_t offset) {
    return refuses() ? -1 : syscall(SYS_pread64, fd, to, length, offset);
}

off_t lseek64(int fd, off_t offset, int whence) {
    return refuses() ? -1 : syscall(SYS_lseek, fd, offset, whence);
}

/* A pipe that holds the whole file stands on standard input. */
static void pipe_to_input(const uint8_t *bytes, size_t length) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, length), (ssize_t)length);
    close(ends[1]);
    assert_int_equal(dup2(ends[0], 0), 0);
    close(ends[0]);
}

static pfr_status read_everything(const char *path, struct tally *t, pfr_error *err) {
    const pfr_open_options options = {.size = sizeof options, .keep_aux = true, .spool = true};
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

/* Larger than the window, so that what stands behind the records is read by itself; ids far away, too. */
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

/* A packed recording that ends anywhere, or is broken there: opened with what came out, or refused with a word. */
static void read_broken_pack(struct blob plain, struct blob (*pack)(struct blob)) {
    struct blob packed = pack(plain);
    char folder[FOLDER_SIZE];
    make_folder(folder);
    for (size_t length = 1; length < packed.length; length += 1 + packed.length / 60) {
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
    read_broken_pack(plain, pack_gzip);
    read_broken_pack(plain, pack_xz);
    read_broken_pack(plain, pack_zstd);
    free(plain.bytes);
}

TEST(a_packed_recording_that_is_cut_or_broken_is_said) {
    read_broken_packs("cpu-clock.data");
    read_broken_packs("pipe.data");
}

/* A file through a pipe needs a temporary one. */
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
