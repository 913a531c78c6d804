/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs: the same bytes are read from a file, a pipe, memory and three compression formats, with any chunk size and
 * read length. The ways in which a source can end early are distinguished.
 */
#include "test.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "failing_alloc.h"
#include "input_samples.h"

/* How read(2) misbehaves: short reads, interruptions, and one failure. */
struct slow_source {
    size_t most;
    long calls, fail_at;
};

static bool source_stops(struct slow_source *source) {
    source->calls++;
    if (source->calls == source->fail_at || source->calls % 3 == 0) {
        errno = source->calls == source->fail_at ? EIO : EINTR;
        return true;
    }
    return false;
}

static ssize_t slow_read(void *context, int fd, void *to, size_t length) {
    struct slow_source *source = context;
    return source_stops(source) ? -1 : read(fd, to, length < source->most ? length : source->most);
}

static ssize_t slow_pread(void *context, int fd, void *to, size_t length, off_t offset) {
    struct slow_source *source = context;
    return source_stops(source) ? -1 : pread(fd, to, length < source->most ? length : source->most, offset);
}

struct feed {
    struct blob blob;
    int fd;
    size_t piece;
};

static void *feed_pipe(void *context) {
    const struct feed *feed = context;
    for (size_t i = 0; i < feed->blob.length;) {
        const size_t left = feed->blob.length - i;
        const ssize_t n = write(feed->fd, feed->blob.bytes + i, left < feed->piece ? left : feed->piece);
        if (n < 0)
            break;
        i += (size_t)n;
    }
    close(feed->fd);
    return NULL;
}

static void assert_reads(struct input *in, size_t step, struct blob plain) {
    pfr_error err;
    uint64_t end;
    ASSERT_OK(read_all(in, step, plain, &end, &err), err);
    assert_int_equal(end, plain.length);
    assert_int_equal(input_size(in), plain.length);
    input_close(in);
}

/* A file and a pipe with these bytes, which are `plain` or a compressed form of it. */
static void assert_sources(struct blob bytes, struct blob plain, const struct input_setup *setup, size_t step) {
    struct input in;
    pfr_error err;
    pthread_t thread;
    int ends[2];
    ASSERT_OK(input_open_fd(&in, temporary_fd(bytes.bytes, bytes.length), true, "file", setup, &err), err);
    ASSERT_OK(input_check_unchanged(&in, &err), err);
    assert_reads(&in, step, plain);
    assert_int_equal(pipe(ends), 0);
    struct feed feed = {bytes, ends[1], 777};
    assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
    ASSERT_OK(input_open_fd(&in, ends[0], true, "pipe", setup, &err), err);
    assert_false(input_seekable(&in));
    assert_reads(&in, step, plain);
    pthread_join(thread, NULL);
    assert_int_equal(setup->memory->used, 0);
}

TEST(input_gives_the_same_bytes_from_everywhere) {
    static const size_t chunks[] = {1, 7, 100, 4096, 0}, steps[] = {1, 8, 100, 5000};
    const struct blob plain = make_plain(SOME_OF(30011u));
    for (size_t kind = 0; kind < 4; kind++) {
        const struct blob bytes = kind < 3 ? packers[kind](plain) : plain;
        for (size_t i = 0; i < 20; i++) {
            struct memory memory;
            struct slow_source source = {chunks[i % 5] ? 997 : 100000, 0, 0};
            const struct input_calls calls = {slow_read, slow_pread, &source};
            const struct input_setup setup = {&memory, NULL, i % 2 ? &calls : NULL, chunks[i % 5]};
            memory_init(&memory, NULL, 0);
            assert_sources(bytes, plain, &setup, steps[i / 5]);
        }
        if (kind < 3)
            free(bytes.bytes);
    }
    struct input in;
    input_on_bytes(&in, plain.bytes, plain.length);
    assert_reads(&in, 13, plain);
    free(plain.bytes);
}

static ssize_t pread_alike(void *context, int fd, void *to, size_t length, off_t offset) {
    size_t *calls = context;
    ++*calls;
    assert_int_equal(((uintptr_t)to - (uintptr_t)offset) % INPUT_ALIKE, 0);
    return pread(fd, to, length, offset);
}

/* Reads beyond the buffered bytes: when the buffer is refilled, when it grows, and after seeking back. */
TEST(input_buffers_are_aligned_like_file_offsets) {
    static const uint64_t offsets[] = {0, 1, 999, 1000, 4333, 4334, 777, 19003, 19004, 5};
    const struct blob plain = make_plain(30011);
    for (size_t need = 1; need < 3000; need += 613) {
        struct memory memory;
        struct input in;
        pfr_error err;
        size_t calls = 0, have;
        const uint8_t *bytes;
        const struct input_calls alike = {slow_read, pread_alike, &calls};
        memory_init(&memory, NULL, 0);
        const struct input_setup setup = {.memory = &memory, .calls = &alike, .chunk = 1000};
        ASSERT_OK(input_open_fd(&in, temporary_fd(plain.bytes, plain.length), true, "file", &setup, &err), err);
        for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
            ASSERT_OK(input_window(&in, offsets[i], need, &bytes, &have, &err), err);
            assert_true(have >= need);
            assert_memory_equal(bytes, plain.bytes + offsets[i], need);
        }
        assert_true(calls > 3);
        input_close(&in);
        assert_int_equal(memory.used, 0);
    }
    free(plain.bytes);
}

TEST(input_on_nothing_is_at_its_end) {
    struct memory memory;
    struct input in;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    const struct input_setup setup = {.memory = &memory};
    const struct blob nothing = {(uint8_t *)"", 0};
    assert_sources(nothing, nothing, &setup, 8);
    input_on_bytes(&in, NULL, 0);
    assert_reads(&in, 8, nothing);
    for (size_t length = 1; length < 6; length++)
        assert_sources((struct blob){(uint8_t *)"\xfd"
                                                "7zXZ",
                                     length},
                       (struct blob){(uint8_t *)"\xfd"
                                                "7zXZ",
                                     length},
                       &setup, 8);
    ASSERT_OK(input_open(&in, "/proc/self/status", &setup, &err), err);
    const uint8_t *bytes;
    size_t have;
    ASSERT_OK(input_window(&in, 0, 5, &bytes, &have, &err), err);
    assert_memory_equal(bytes, "Name:", 5);
    input_close(&in);
    input_close(&in);
}

TEST(input_reads_concatenated_members) {
    const struct blob plain = make_plain(6000);
    for (size_t kind = 0; kind < 3; kind++) {
        struct memory memory;
        memory_init(&memory, NULL, 0);
        const struct input_setup setup = {.memory = &memory};
        const struct blob first = packers[kind]((struct blob){plain.bytes, 2500});
        const struct blob second = packers[kind]((struct blob){plain.bytes + 2500, 3500});
        struct blob both = {calloc(1, first.length + second.length + 8), first.length + second.length};
        memcpy(both.bytes, first.bytes, first.length);
        memcpy(both.bytes + first.length, second.bytes, second.length);
        assert_sources(both, plain, &setup, 100);
        both.length += kind < 2 ? 8 : 0; /* padded with zeros */
        assert_sources(both, plain, &setup, 100);
        free(first.bytes);
        free(second.bytes);
        free(both.bytes);
    }
    free(plain.bytes);
}

TEST(input_survives_each_failing_allocation) {
    const struct blob plain = make_plain(9000);
    for (size_t kind = 0; kind < 4; kind++) {
        const struct blob bytes = kind < 3 ? packers[kind](plain) : plain;
        struct failing_alloc failing;
        long n = 0;
        do {
            struct memory memory;
            struct input in;
            pfr_error err;
            uint64_t end;
            failing_alloc_begin(&failing, ++n);
            memory_init(&memory, &failing.alloc, 0);
            const struct input_setup setup = {.memory = &memory, .chunk = 100};
            pfr_status status = input_open_fd(&in, temporary_fd(bytes.bytes, bytes.length), true, "x", &setup, &err);
            if (status == PFR_OK)
                status = read_all(&in, 450, plain, &end, &err);
            assert_int_equal(status, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
            input_close(&in);
            assert_int_equal(failing.blocks, 0);
            assert_int_equal(memory.used, 0);
        } while (failing.has_failed);
        assert_true(n > 2);
        if (kind < 3)
            free(bytes.bytes);
    }
    free(plain.bytes);
}

TEST(input_hands_on_each_failing_read) {
    const struct blob plain = make_plain(5000);
    for (size_t kind = 0; kind < 4; kind++) {
        const struct blob bytes = kind < 3 ? packers[kind](plain) : plain;
        pfr_status status;
        long n = 0;
        do {
            struct memory memory;
            struct input in;
            pfr_error err;
            uint64_t end;
            struct slow_source source = {.most = 500, .fail_at = ++n};
            const struct input_calls calls = {slow_read, slow_pread, &source};
            memory_init(&memory, NULL, 0);
            const struct input_setup setup = {.memory = &memory, .calls = &calls, .chunk = 600};
            status = input_open_fd(&in, temporary_fd(bytes.bytes, bytes.length), true, "x", &setup, &err);
            if (status == PFR_OK)
                status = read_all(&in, 50, plain, &end, &err);
            assert_int_equal(status, source.calls >= n ? PFR_ERR_IO : PFR_OK);
            input_close(&in);
            assert_int_equal(memory.used, 0);
        } while (status != PFR_OK);
        assert_true(n > 8);
        if (kind < 3)
            free(bytes.bytes);
    }
    free(plain.bytes);
}

TEST(input_jumps_in_files_and_not_in_streams) {
    const struct blob plain = make_plain(10000);
    struct memory memory;
    struct input in;
    pfr_error err;
    const uint8_t *bytes;
    uint8_t copy[300];
    size_t have;
    memory_init(&memory, NULL, 0);
    const struct input_setup setup = {.memory = &memory, .chunk = 512};
    ASSERT_OK(input_open_fd(&in, temporary_fd(plain.bytes, plain.length), true, "x", &setup, &err), err);
    static const uint64_t places[] = {9990, 0, 5000, 4999, 5200, 511, 512, 9999, 10000, 10001, UINT64_MAX, 300};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const uint64_t left = places[i] < 10000 ? 10000 - places[i] : 0;
        ASSERT_OK(input_window(&in, places[i], 300, &bytes, &have, &err), err);
        assert_true(have >= (left < 300 ? left : 300) && have <= left);
        assert_memory_equal(bytes, plain.bytes + (left ? places[i] : 0), have);
        ASSERT_OK(input_read_at(&in, places[i], copy, 300, &have, &err), err);
        assert_int_equal(have, left < 300 ? left : 300);
        assert_memory_equal(copy, plain.bytes + (left ? places[i] : 0), have);
    }
    ASSERT_OK(input_window(&in, 100, SIZE_MAX, &bytes, &have, &err), err);
    assert_int_equal(have, 9900);
    input_close(&in);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct feed feed = {plain, ends[1], 10000};
    feed_pipe(&feed);
    ASSERT_OK(input_open_fd(&in, ends[0], true, "x", &setup, &err), err);
    ASSERT_OK(input_window(&in, 3000, 10, &bytes, &have, &err), err);
    assert_memory_equal(bytes, plain.bytes + 3000, 10);
    ASSERT_STATUS(input_window(&in, 2000, 10, &bytes, &have, &err), PFR_ERR_USAGE, err);
    ASSERT_STATUS(input_read_at(&in, 0, copy, 1, &have, &err), PFR_ERR_USAGE, err);
    ASSERT_OK(input_window(&in, 9995, 10, &bytes, &have, &err), err);
    assert_int_equal(have, 5);
    ASSERT_OK(input_window(&in, 20000, 10, &bytes, &have, &err), err);
    assert_int_equal(have, 0);
    input_close(&in);
    free(plain.bytes);
}

/* Alternating between two places does not read the bytes of either place twice. */
TEST(input_keeps_the_window_that_was_left) {
    const struct blob plain = make_plain(10000);
    struct memory memory;
    struct input in;
    pfr_error err;
    const uint8_t *bytes;
    size_t have;
    memory_init(&memory, NULL, 0);
    const struct input_setup setup = {.memory = &memory, .chunk = 512};
    ASSERT_OK(input_open_fd(&in, temporary_fd(plain.bytes, plain.length), true, "x", &setup, &err), err);
    for (uint64_t i = 0; i < 400; i++) {
        const uint64_t place = i % 2 ? 9000 + i / 2 : i / 2;
        assert_int_equal(input_holds(&in, place, 8), i != 1);
        ASSERT_OK(input_window(&in, place, 8, &bytes, &have, &err), err);
        assert_memory_equal(bytes, plain.bytes + place, 8);
    }
    assert_true(input_bytes_read(&in) <= 1024);
    input_close(&in);
    assert_int_equal(memory.used, 0);
    free(plain.bytes);
}

TEST(input_limits_one_piece) {
    const struct blob plain = make_plain(10000);
    const pfr_limits limits = {.size = sizeof limits, .chunk = 3000};
    struct memory memory;
    struct input in;
    pfr_error err;
    const uint8_t *bytes;
    size_t have;
    memory_init(&memory, NULL, 0);
    for (int kind = 0; kind < 2; kind++) {
        const struct input_setup setup = {.memory = &memory, .limits = &limits, .chunk = kind ? 0 : 100};
        const struct blob packed = pack_gzip(plain);
        const struct blob from = kind ? packed : plain;
        ASSERT_OK(input_open_fd(&in, temporary_fd(from.bytes, from.length), true, "x", &setup, &err), err);
        ASSERT_OK(input_window(&in, 50, 3000, &bytes, &have, &err), err);
        assert_memory_equal(bytes, plain.bytes + 50, 3000);
        ASSERT_STATUS(input_window(&in, 50, 3001, &bytes, &have, &err), PFR_ERR_LIMIT, err);
        assert_true(memory.used < 150000);
        ASSERT_OK(input_window(&in, 8000, 2001u - (unsigned)kind, &bytes, &have, &err), err);
        assert_int_equal(have, 2000);
        input_close(&in);
        free(packed.bytes);
    }
    free(plain.bytes);
}

TEST(input_notices_a_file_that_changes) {
    const struct blob plain = make_plain(10000);
    struct memory memory;
    struct input in;
    pfr_error err;
    const uint8_t *bytes;
    size_t have;
    memory_init(&memory, NULL, 0);
    const struct input_setup setup = {.memory = &memory, .chunk = 512};
    ASSERT_OK(input_open_fd(&in, temporary_fd(plain.bytes, plain.length), true, "x", &setup, &err), err);
    ASSERT_OK(input_check_unchanged(&in, &err), err);
    assert_int_equal(ftruncate(in.fd, 4000), 0);
    ASSERT_STATUS(input_check_unchanged(&in, &err), PFR_ERR_CHANGED, err);
    ASSERT_OK(input_window(&in, 3000, 10, &bytes, &have, &err), err);
    ASSERT_STATUS(input_window(&in, 3990, 20, &bytes, &have, &err), PFR_ERR_CHANGED, err);
    ASSERT_STATUS(input_read_at(&in, 5000, (uint8_t[10]){0}, 10, &have, &err), PFR_ERR_CHANGED, err);
    input_close(&in);
    const struct blob packed = pack_gzip(plain);
    ASSERT_OK(input_open_fd(&in, temporary_fd(packed.bytes, packed.length), true, "x", &setup, &err), err);
    assert_int_equal(ftruncate(in.fd, 1000), 0);
    uint64_t end;
    ASSERT_STATUS(read_all(&in, 10, plain, &end, &err), PFR_ERR_CHANGED, err);
    input_close(&in);
    free(packed.bytes);
    free(plain.bytes);
}

TEST(input_refuses_other_than_files) {
    char folder[FOLDER_SIZE], path[FOLDER_SIZE + 16];
    struct memory memory;
    struct input in;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    const struct input_setup setup = {.memory = &memory};
    make_folder(folder);
    write_file(folder, "hello", 5);
    ASSERT_STATUS(input_open(&in, folder, &setup, &err), PFR_ERR_USAGE, err);
    assert_true(input_is_directory(folder));
    snprintf(path, sizeof path, "%s/none", folder);
    assert_false(input_is_directory(path));
    ASSERT_STATUS(input_open(&in, path, &setup, &err), PFR_ERR_IO, err);
    input_close(&in);
    const int at = open(folder, O_RDONLY | O_DIRECTORY);
    ASSERT_OK(input_open_at(&in, at, "file", &setup, &err), err);
    assert_int_equal(input_size(&in), 5);
    input_close(&in);
    assert_int_equal(symlinkat("file", at, "link"), 0);
    assert_int_equal(mkfifoat(at, "fifo", 0600), 0);
    static const char *const bad[] = {"link", "fifo", "", ".", "..", "../file", "/etc/passwd"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ASSERT_STATUS(input_open_at(&in, at, bad[i], &setup, &err), PFR_ERR_PERMISSION, err);
    unlinkat(at, "link", 0);
    unlinkat(at, "fifo", 0);
    close(at);
    remove_folder(folder);
    assert_int_equal(memory.used, 0);
}

static void *write_late(void *context) {
    usleep(30000);
    const int fd = open(context, O_WRONLY);
    usleep(30000);
    const ssize_t n = write(fd, "late bytes", 10);
    close(fd);
    return n == 10 ? context : NULL;
}

TEST(input_waits_for_the_writer_of_a_fifo) {
    char folder[FOLDER_SIZE], path[FOLDER_SIZE + 16];
    struct memory memory;
    struct input in;
    pfr_error err;
    pthread_t thread;
    const uint8_t *bytes;
    size_t have;
    memory_init(&memory, NULL, 0);
    const struct input_setup setup = {.memory = &memory};
    make_folder(folder);
    snprintf(path, sizeof path, "%s/file", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&thread, NULL, write_late, path), 0);
    ASSERT_OK(input_open(&in, path, &setup, &err), err);
    ASSERT_OK(input_window(&in, 0, 20, &bytes, &have, &err), err);
    assert_int_equal(have, 10);
    assert_memory_equal(bytes, "late bytes", 10);
    assert_int_equal(input_bytes_read(&in), 10);
    input_close(&in);
    pthread_join(thread, NULL);
    remove_folder(folder);
}

TEST(input_reads_from_the_offset_of_standard_input) {
    struct memory memory;
    struct input in;
    pfr_error err;
    const uint8_t *bytes;
    size_t have;
    memory_init(&memory, NULL, 0);
    const struct input_setup setup = {.memory = &memory};
    const int fd = temporary_fd("first second", 12);
    lseek(fd, 6, SEEK_SET);
    ASSERT_OK(input_open_fd(&in, fd, true, "x", &setup, &err), err);
    assert_false(input_seekable(&in));
    ASSERT_OK(input_window(&in, 0, 6, &bytes, &have, &err), err);
    assert_memory_equal(bytes, "second", 6);
    input_close(&in);
}
