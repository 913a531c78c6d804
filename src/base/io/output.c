/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outputs. After a failure, an output to a descriptor still fills its buffer and empties it, without writing, whenever
 * it is full. So the inline writers need only test whether there is room. An output to memory enlarges its buffer when
 * it is full, and after a failure has room for no more bytes than fit already.
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
#include "base/io/descriptor.h"
#include "base/memory/fail.h"
#include "base/io/output.h"

#define FIRST_MEMORY ((size_t)256)

static ssize_t libc_write(void *context, int fd, const void *from, size_t length) {
    (void)context;
    return write(fd, from, length);
}

pfr_status out_open_fd(struct output *out, int fd, bool owned, struct memory *memory, const struct output_calls *calls,
                       pfr_error *err) {
    static const struct output_calls libc = {libc_write, NULL};
    *out = (struct output){.memory = memory, .calls = calls ? *calls : libc, .fd = fd, .owns_fd = owned};
    out->buffer = mem_alloc(memory, OUTPUT_BUFFER, 1);
    if (out->buffer) {
        out->capacity = OUTPUT_BUFFER;
        return PFR_OK;
    }
    if (owned)
        close(fd);
    out->fd = -1;
    out->owns_fd = false;
    return out->status = mem_fail(memory, err, "output");
}

void out_open_memory(struct output *out, struct memory *memory) {
    *out = (struct output){.memory = memory, .fd = -1};
}

static void keep_failure(struct output *out, pfr_status status, int error_number) {
    if (out->status < 0)
        return;
    out->status = status;
    out->error_number = error_number;
}

/* Repeats write(2) until everything is written or it fails. */
static void write_all(struct output *out, const char *from, size_t length) {
    while (length > 0 && out->status == PFR_OK) {
        const ssize_t n = out->calls.write(out->calls.context, out->fd, from, length);
        if (n > 0) {
            from += n;
            length -= (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){.fd = out->fd, .events = POLLOUT}, 1, -1);
        } else if (n == 0 || errno != EINTR) {
            keep_failure(out, PFR_ERR_IO, n == 0 ? ENOSPC : errno);
        }
    }
}

static void empty_buffer(struct output *out) {
    write_all(out, out->buffer, out->used);
    out->flushed += out->used;
    out->used = 0;
}

static bool grow_buffer(struct output *out, size_t length) {
    size_t wanted = out->capacity ? out->capacity : FIRST_MEMORY;
    while (wanted - out->used < length && wanted <= SIZE_MAX / 2)
        wanted *= 2;
    char *buffer = out->status == PFR_OK ? mem_resize(out->memory, out->buffer, out->capacity, wanted, 1) : NULL;
    if (!buffer) {
        if (out->status == PFR_OK)
            keep_failure(out, mem_failure(out->memory), 0);
        return false;
    }
    out->buffer = buffer;
    out->capacity = wanted;
    return true;
}

bool out_make_room(struct output *out, size_t length) {
    assert(length <= OUTPUT_BUFFER);
    if (out->capacity - out->used >= length)
        return true;
    if (out->fd < 0)
        return grow_buffer(out, length);
    empty_buffer(out);
    return out->capacity >= length;
}

static void append(struct output *out, const void *bytes, size_t length) {
    memcpy(out->buffer + out->used, bytes, length);
    out->used += length;
}

void out_write_slow(struct output *out, const void *bytes, size_t length) {
    if (length == 0)
        return;
    if (out->fd < 0) {
        if (grow_buffer(out, length))
            append(out, bytes, length);
        return;
    }
    empty_buffer(out);
    if (length < out->capacity) {
        append(out, bytes, length);
        return;
    }
    write_all(out, bytes, length);
    out->flushed += length;
}

static pfr_status report(const struct output *out, pfr_error *err) {
    if (out->status == PFR_OK)
        return PFR_OK;
    if (out->error_number == 0)
        return pfr_fail(err, out->status, PFR_NO_OFFSET, 0, "output", "no memory for the output (%s)",
                        pfr_status_name(out->status));
    pfr_fail_errno(err, out->error_number, "write", "the output");
    if (err)
        err->status = out->status;
    return out->status;
}

pfr_status out_flush(struct output *out, pfr_error *err) {
    if (out->fd >= 0)
        empty_buffer(out);
    return report(out, err);
}

pfr_status out_close(struct output *out, pfr_error *err) {
    if (out->fd >= 0)
        empty_buffer(out);
    if (out->owns_fd && !descriptor_close(out->fd))
        keep_failure(out, PFR_ERR_IO, errno);
    mem_free(out->memory, out->buffer, out->capacity, 1);
    const pfr_status status = report(out, err);
    out->buffer = NULL;
    out->used = out->capacity = 0;
    out->fd = -1;
    out->owns_fd = false;
    return status;
}

void out_fill(struct output *out, char c, size_t count) {
    while (count > 0) {
        const size_t part = count < 256 ? count : 256;
        if (!out_room(out, part))
            return;
        memset(out->buffer + out->used, c, part);
        out->used += part;
        count -= part;
    }
}

static const char decimal_pairs[] = "00010203040506070809101112131415161718192021222324"
                                    "25262728293031323334353637383940414243444546474849"
                                    "50515253545556575859606162636465666768697071727374"
                                    "75767778798081828384858687888990919293949596979899";

static void put_digits_before(char *end, uint64_t value) {
    while (value >= 100) {
        end -= 2;
        memcpy(end, decimal_pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10)
        memcpy(end - 2, decimal_pairs + value * 2, 2);
    else
        end[-1] = (char)('0' + value);
}

/* clang-format off */
static const uint64_t powers_of_ten[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
    1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000,
    1000000000000000000, 10000000000000000000u,
};
/* clang-format on */

/* 1233 / 4096 is slightly less than log10(2), so `guess` is the number of digits or one too low. 0 has one digit, like
   1. */
static size_t count_digits(uint64_t value) {
    const size_t guess = (size_t)(64 - __builtin_clzll(value | 1)) * 1233 >> 12;
    return guess + ((value | 1) >= powers_of_ten[guess]);
}

size_t format_u64(char *to, uint64_t value) {
    const size_t length = count_digits(value);
    put_digits_before(to + length, value);
    return length;
}

void out_u64(struct output *out, uint64_t value) {
    if (out_room(out, 20))
        out->used += format_u64(out->buffer + out->used, value);
}

void out_i64(struct output *out, int64_t value) {
    if (value < 0)
        out_char(out, '-');
    out_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Prepares a number of `length` characters, right-aligned in `width` columns: writes the padding and returns where the
   caller must write the number, whose characters are already counted in `used`. NULL: the output has failed, or the
   padding exceeds 24 blanks. */
static inline char *right_aligned(struct output *out, size_t length, size_t width) {
    const size_t pad = length < width ? width - length : 0;
    if (pad > 24 || !out_room(out, 48))
        return NULL;
    char *to = out->buffer + out->used;
    memcpy(to, "                        ", 24);
    out->used += pad + length;
    return to + pad;
}

void out_u64_wide(struct output *out, uint64_t value, size_t width) {
    const size_t length = count_digits(value);
    char *to = right_aligned(out, length, width);
    if (to) {
        put_digits_before(to + length, value);
        return;
    }
    out_pad(out, width > length ? width - length : 0);
    out_u64(out, value);
}

void out_text_wide(struct output *out, const char *text, size_t length, size_t width) {
    if (length < width)
        out_pad(out, width - length);
    out_write(out, text, length);
}

static size_t format_i64(char to[21], int64_t value) {
    *to = '-';
    return (value < 0) + format_u64(to + (value < 0), value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void out_i64_wide(struct output *out, int64_t value, size_t width) {
    if (value >= 0) {
        out_u64_wide(out, (uint64_t)value, width);
        return;
    }
    char digits[21];
    out_text_wide(out, digits, format_i64(digits, value), width);
}

void out_i64_left(struct output *out, int64_t value, size_t width) {
    char digits[21];
    const size_t length = format_i64(digits, value);
    out_write(out, digits, length);
    if (length < width)
        out_pad(out, width - length);
}

static size_t count_hex_digits(uint64_t value) {
    return value ? (size_t)(67 - __builtin_clzll(value)) / 4 : 1;
}

/* Converts sixteen digits at once with vector instructions, one hexadecimal digit per lane. */
typedef uint8_t characters __attribute__((vector_size(16)));

static inline characters hex_characters(uint64_t value) {
    const uint64_t bytes[2] = {htobe64(value), 0};
    characters all;
    memcpy(&all, bytes, sizeof all);
    const characters high = all >> 4, low = all & 15;
    const characters half = __builtin_shufflevector(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return half + '0' + ((characters)(half > 9) & ('a' - '0' - 10));
}

/* Writes leading zeros as blanks. */
void format_hex_16(char to[16], uint64_t value) {
    static const characters place = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const characters digits = hex_characters(value);
    const characters blank = (characters)(place < (uint8_t)(16 - count_hex_digits(value)));
    const characters shown = (digits & ~blank) | (blank & ' ');
    memcpy(to, &shown, sizeof shown);
}

/* Writes six digits (microseconds) without a loop. */
static inline void format_six(char *to, uint32_t value) {
    const uint32_t first = value / 10000, rest = value % 10000;
    memcpy(to, decimal_pairs + first % 100 * 2, 2);
    memcpy(to + 2, decimal_pairs + rest / 100 * 2, 2);
    memcpy(to + 4, decimal_pairs + rest % 100 * 2, 2);
}

void format_digits(char *to, uint32_t value, size_t digits) {
    if (digits == 6) {
        format_six(to, value);
        return;
    }
    for (; digits >= 2; digits -= 2, value /= 100)
        memcpy(to + digits - 2, decimal_pairs + value % 100 * 2, 2);
    if (digits)
        *to = (char)('0' + value % 10);
}

void out_hex_wide(struct output *out, uint64_t value, size_t width) {
    const size_t length = count_hex_digits(value);
    if (width == 16 && out_room(out, 16)) {
        format_hex_16(out->buffer + out->used, value);
        out->used += 16;
        return;
    }
    char columns[16];
    format_hex_16(columns, value);
    if (length < width)
        out_pad(out, width - length);
    out_write(out, columns + 16 - length, length);
}

void out_hex(struct output *out, uint64_t value, unsigned digits) {
    unsigned count = (unsigned)count_hex_digits(value);
    if (count < digits)
        count = digits < 16 ? digits : 16;
    if (!out_room(out, 16))
        return;
    char all[32] = {0};
    const characters shown = hex_characters(value);
    memcpy(all, &shown, sizeof shown);
    memcpy(out->buffer + out->used, all + 16 - count, 16); /* bytes after the digits are overwritten later */
    out->used += count;
}

void out_hex_bytes(struct output *out, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    for (size_t i = 0; i < length && out_room(out, 2); i++) {
        out->buffer[out->used++] = "0123456789abcdef"[at[i] >> 4];
        out->buffer[out->used++] = "0123456789abcdef"[at[i] & 15];
    }
}

/* Writes the digits that printf gives, with a decimal point in every locale. */
static void write_f64_exactly(struct output *out, double value, int digits) {
    char text[352]; /* 309 digits, the point, 17 digits, the sign; the decimal point of a locale may be several bytes */
    const int length = snprintf(text, sizeof text, "%.*f", digits, value);
    if (length < 0 || (size_t)length >= sizeof text)
        return;
    const size_t whole = (size_t)(*text == '-') + strspn(text + (*text == '-'), "0123456789");
    out_write(out, text, whole);
    if (digits == 0)
        return;
    out_char(out, '.');
    out_write(out, text + length - digits, (size_t)digits);
}

/* The fast path, in integer arithmetic. It takes scaled values of at most 1e12 whose fraction is not close to one half,
   so that the error of the multiplication cannot change which way they are rounded. Returns false if the caller must
   use the exact path. */
static bool write_f64_quickly(struct output *out, double value, unsigned digits) {
    if (digits > 9 || signbit(value))
        return false;
    const double scaled = value * (double)powers_of_ten[digits];
    if (scaled > 1e12)
        return false;
    const uint64_t floored = (uint64_t)scaled;
    const double rest = scaled - (double)floored - 0.5;
    if (rest > -1e-3 && rest < 1e-3)
        return false;
    const uint64_t rounded = floored + (rest > 0);
    out_u64(out, rounded / powers_of_ten[digits]);
    if (digits == 0)
        return true;
    char text[20];
    const size_t length = format_u64(text, rounded % powers_of_ten[digits]);
    out_char(out, '.');
    out_fill(out, '0', digits - length);
    out_write(out, text, length);
    return true;
}

void out_f64(struct output *out, double value, unsigned digits) {
    if (isnan(value))
        out_text(out, "nan");
    else if (isinf(value))
        out_text(out, value < 0 ? "-inf" : "inf");
    else if (!write_f64_quickly(out, value, digits < 17 ? digits : 17))
        write_f64_exactly(out, value, (int)(digits < 17 ? digits : 17));
}
