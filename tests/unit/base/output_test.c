/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs: bytes arrive in order whatever write(2) does, numbers are printed as by printf, and the first failure is
   kept. */
#include "test.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <perfray/out.h>
#include "base/io/output.h"
#include "failing_alloc.h"

/* Replaces write(2): takes at most `most` bytes per call, is interrupted, and fails at one call. */
struct slow_disk {
    char bytes[400000];
    size_t length, most;
    long calls, fail_at;
    int error_number;
};

static ssize_t slow_write(void *context, int fd, const void *from, size_t length) {
    struct slow_disk *disk = context;
    (void)fd;
    disk->calls++;
    if (disk->calls == disk->fail_at) {
        errno = disk->error_number;
        return disk->error_number ? -1 : 0;
    }
    if (disk->calls % 5 == 0) {
        errno = EINTR;
        return -1;
    }
    const size_t n = length < disk->most ? length : disk->most;
    memcpy(disk->bytes + disk->length, from, n);
    disk->length += n;
    return (ssize_t)n;
}

static void write_sample(struct output *out) {
    char large[70000];
    memset(large, 'L', sizeof large);
    for (unsigned i = 0; i < 20000; i++) {
        out_u64(out, i);
        out_char(out, '\n');
    }
    out_write(out, large, sizeof large);
    out_text(out, "");
    out_text(out, "end");
}

TEST(output_survives_short_and_interrupted_writes) {
    struct memory memory;
    struct output to_disk, to_memory;
    struct slow_disk *disk = calloc(1, sizeof *disk);
    const struct output_calls calls = {slow_write, disk};
    pfr_error err;
    size_t length;
    disk->most = 1000;
    memory_init(&memory, NULL, 0);
    ASSERT_OK(out_open_fd(&to_disk, 99, false, &memory, &calls, &err), err);
    out_open_memory(&to_memory, &memory);
    write_sample(&to_disk);
    write_sample(&to_memory);
    assert_int_equal(out_written(&to_disk), out_written(&to_memory));
    ASSERT_OK(out_flush(&to_disk, &err), err);
    const char *bytes = out_bytes(&to_memory, &length);
    assert_int_equal(disk->length, length);
    assert_memory_equal(disk->bytes, bytes, length);
    ASSERT_OK(out_close(&to_disk, &err), err);
    ASSERT_OK(out_close(&to_memory, &err), err);
    assert_int_equal(memory.used, 0);
    free(disk);
}

TEST(output_keeps_the_first_failure_of_each_write) {
    static const int causes[] = {EIO, ENOSPC, EPIPE, EDQUOT, 0};
    struct slow_disk *disk = malloc(sizeof *disk);
    for (long n = 1; n < 60; n++) {
        const int cause = causes[n % 5];
        struct memory memory;
        struct output out;
        const struct output_calls calls = {slow_write, disk};
        pfr_error err;
        *disk = (struct slow_disk){.most = 10000, .fail_at = n, .error_number = cause};
        memory_init(&memory, NULL, 0);
        ASSERT_OK(out_open_fd(&out, 99, false, &memory, &calls, &err), err);
        write_sample(&out);
        const pfr_status flushed = out_flush(&out, &err);
        const bool failed = disk->calls >= n;
        assert_int_equal(flushed, failed ? PFR_ERR_IO : PFR_OK);
        assert_int_equal(out.error_number, failed ? (cause ? cause : ENOSPC) : 0);
        assert_int_equal(disk->calls > n, !failed && disk->calls > n);
        ASSERT_STATUS(out_close(&out, &err), flushed, err);
        assert_int_equal(memory.used, 0);
        if (!failed)
            break;
    }
    free(disk);
}

TEST(output_closes_what_it_owns) {
    struct memory memory;
    struct output out;
    pfr_error err;
    int ends[2];
    char text[8];
    assert_int_equal(pipe(ends), 0);
    memory_init(&memory, NULL, 0);
    ASSERT_OK(out_open_fd(&out, ends[1], true, &memory, NULL, &err), err);
    out_text(&out, "hello");
    ASSERT_OK(out_close(&out, &err), err);
    assert_int_equal(read(ends[0], text, sizeof text), 5);
    assert_int_equal(read(ends[0], text, sizeof text), 0);
    close(ends[0]);
}

TEST(output_survives_each_failing_allocation) {
    struct failing_alloc failing;
    long n = 0;
    do {
        struct memory memory;
        struct output out;
        pfr_error err;
        failing_alloc_begin(&failing, ++n);
        memory_init(&memory, &failing.alloc, 0);
        out_open_memory(&out, &memory);
        write_sample(&out);
        out_u64(&out, 5);
        ASSERT_STATUS(out_close(&out, &err), failing.has_failed ? PFR_ERR_MEMORY : PFR_OK, err);
        assert_int_equal(failing.blocks, 0);
    } while (failing.has_failed);
    struct memory memory;
    struct output out;
    failing_alloc_begin(&failing, 1);
    memory_init(&memory, &failing.alloc, 0);
    assert_int_equal(out_open_fd(&out, dup(2), true, &memory, NULL, NULL), PFR_ERR_MEMORY);
    out_text(&out, "nowhere");
    assert_int_equal(out_close(&out, NULL), PFR_ERR_MEMORY);
}

TEST(an_output_that_does_not_open_closes_what_it_owns) {
    struct failing_alloc failing;
    long n = 1;
    for (;; n++) {
        pfr_error err;
        const int fd = dup(STDERR_FILENO);
        failing_alloc_begin(&failing, n);
        pfr_output *out = pfr_output_open_alloc(fd, true, &failing.alloc, &err);
        if (!out)
            assert_int_equal(err.status, PFR_ERR_MEMORY);
        pfr_output_close(out, NULL);
        assert_int_equal(fcntl(fd, F_GETFD), -1);
        assert_int_equal(failing.blocks, 0);
        if (!failing.has_failed)
            break;
    }
    assert_true(n > 2); /* two allocations: the output and its buffer */
}

static struct memory number_memory;

static const char *taken(struct output *out) {
    static char text[512];
    size_t length;
    const char *bytes = out_bytes(out, &length);
    snprintf(text, sizeof text, "%.*s", (int)length, bytes);
    out_clear(out);
    return text;
}

#define ASSERT_FORMAT(call, format, value)                                                                             \
    do {                                                                                                               \
        char expected_[512];                                                                                           \
        snprintf(expected_, sizeof expected_, format, value);                                                          \
        call;                                                                                                          \
        assert_string_equal(taken(&out), expected_);                                                                   \
    } while (0)

TEST(output_numbers_look_as_printf) {
    struct output out;
    memory_init(&number_memory, NULL, 0);
    out_open_memory(&out, &number_memory);
    uint64_t value = 0;
    for (unsigned i = 0; i < 400; i++) {
        ASSERT_FORMAT(out_u64(&out, value), "%ju", (uintmax_t)value);
        ASSERT_FORMAT(out_i64(&out, (int64_t)value), "%jd", (intmax_t)value);
        ASSERT_FORMAT(out_hex(&out, value, 0), "%jx", (uintmax_t)value);
        ASSERT_FORMAT(out_hex(&out, value, 16), "%016jx", (uintmax_t)value);
        ASSERT_FORMAT(out_hex(&out, value, 4), "%04jx", (uintmax_t)value);
        ASSERT_FORMAT(out_u64_wide(&out, value, 12), "%12ju", (uintmax_t)value);
        value = i < 80 ? value * 10 + i % 3 : value * 6364136223846793005u + 1442695040888963407u;
        value >>= i >= 80 ? i % 60 : 0;
    }
    ASSERT_FORMAT(out_u64(&out, UINT64_MAX), "%ju", (uintmax_t)UINT64_MAX);
    ASSERT_FORMAT(out_i64(&out, INT64_MIN), "%jd", (intmax_t)INT64_MIN);
    out_hex_bytes(&out, "\x00\xfe\x7f", 3);
    out_pad(&out, 3);
    assert_string_equal(taken(&out), "00fe7f   ");
    out_close(&out, NULL);
}

TEST(output_decimals_round_as_printf) {
    static const double values[] = {
        0,    -0.0,  0.5,    1.5,   2.5,     0.125, 0.375,  99.995, 1e11,  1e15,   123456789.987654321,
        -1.5, 1e300, 5e-324, 2.675, 1.005,   0.005, 0.015,  0.045,  9.999, 0.0999, 1e12 - 0.5,
        1e22, 33.33, 66.67,  100,   99.9999, 1e-9,  0.0049, 0.0051};
    struct output out;
    memory_init(&number_memory, NULL, 0);
    out_open_memory(&out, &number_memory);
    char format[8];
    for (unsigned digits = 0; digits <= 17; digits++) {
        snprintf(format, sizeof format, "%%.%uf", digits);
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            char expected[512];
            snprintf(expected, sizeof expected, "%.*f", (int)digits, values[i]);
            out_f64(&out, values[i], digits);
            assert_string_equal(taken(&out), expected);
        }
    }
    for (unsigned i = 0; i < 100000; i++) {
        char expected[64];
        const double value = (double)i * 0.005;
        snprintf(expected, sizeof expected, "%.2f", value);
        out_f64(&out, value, 2);
        assert_string_equal(taken(&out), expected);
    }
    out_f64(&out, (double)NAN, 2);
    out_f64(&out, (double)INFINITY, 2);
    out_f64(&out, -(double)INFINITY, 2);
    assert_string_equal(taken(&out), "naninf-inf");
    out_close(&out, NULL);
}

TEST(columns_as_printf_makes_them) {
    static const uint64_t values[] = {0, 1, 9, 10, 0xab, 0xfff, 0x1000, 0x123456789abcdef0u, UINT64_MAX};
    struct memory memory;
    struct output out;
    memory_init(&memory, NULL, 0);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char wanted[200];
        size_t length;
        const int64_t signed_value = (int64_t)values[i];
        out_open_memory(&out, &memory);
        out_hex_wide(&out, values[i], 16);
        out_hex_wide(&out, values[i], 3);
        out_i64_wide(&out, signed_value, 5);
        out_i64_left(&out, signed_value, 5);
        out_text_wide(&out, "name", 4, 16);
        out_pad(&out, 40);
        out_char(&out, '\0');
        snprintf(wanted, sizeof wanted, "%16lx%3lx%5ld%-5ld%16s%40s", values[i], values[i], signed_value, signed_value,
                 "name", "");
        assert_string_equal(out_bytes(&out, &length), wanted);
        assert_int_equal(out_close(&out, NULL), PFR_OK);
    }
}

TEST(a_given_number_of_digits_is_that_of_printf) {
    char digits[11], expected[11];
    for (uint64_t value = 7; value < 4000000000u; value = value * 3 / 2 + 1)
        for (size_t count = 0; count <= 10; count++) {
            snprintf(expected, sizeof expected, "%010u", (unsigned)value);
            memset(digits, '?', sizeof digits);
            format_digits(digits, (uint32_t)value, count);
            assert_memory_equal(digits, expected + 10 - count, count);
            assert_int_equal(digits[count], '?');
        }
}
