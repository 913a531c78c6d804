/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens inputs and manages their read buffers.
 *
 * The read buffer ("window") holds the input's bytes from `start` on. A request for later bytes drops the bytes before
 * the requested offset, moves the remaining bytes to the front and reads more bytes after them. A seekable file is read
 * with pread, so a request may also move the window to any other place in the file; a stream is read with read or
 * through the unpacker. The buffer is one chunk long and grows only for a larger request.
 *
 * Each byte's address is congruent to its file offset modulo INPUT_ALIKE. Processors copy between equally aligned
 * places up to four times as fast (bench/RESULTS.md), and most of the cost of reading is the kernel's copy.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/memory/bounds.h"
#include "base/io/descriptor.h"
#include "base/memory/fail.h"
#include "base/io/input.h"
#include "base/io/input_raw.h"
#include "base/memory/sizes.h"
#include "base/io/unpack.h"

/* --- The window in its buffer. */

static size_t buffer_size(const uint8_t *buffer, size_t capacity) {
    return buffer ? capacity + INPUT_ALIKE : 0;
}

static uint8_t *window_in(const struct input *in) {
    return in->buffer ? in->buffer + input_lead(in->buffer, in->start) : NULL;
}

/* Empties the window and places it at `start`. */
static void begin_window(struct input *in, uint64_t start) {
    in->start = start;
    in->length = 0;
    in->bytes = window_in(in);
}

static pfr_status set_capacity(struct input *in, size_t capacity, pfr_error *err) {
    const size_t lead = in->buffer ? input_lead(in->buffer, in->start) : 0;
    uint8_t *buffer =
        mem_resize(in->memory, in->buffer, buffer_size(in->buffer, in->capacity), capacity + INPUT_ALIKE, 1);
    if (!buffer)
        return mem_fail(in->memory, err, "input");
    in->buffer = buffer;
    in->bytes = window_in(in);
    in->capacity = capacity;
    memmove(window_in(in), buffer + lead, in->length);
    return PFR_OK;
}

static void release(struct input *in) {
    mem_free(in->memory, in->buffer, buffer_size(in->buffer, in->capacity), 1);
    mem_free(in->memory, in->kept.buffer, buffer_size(in->kept.buffer, in->kept.capacity), 1);
}

static pfr_status report_too_long(const struct input *in, uint64_t offset, uint64_t need, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_LIMIT, offset, need, "input",
                    "%" PRIu64 " bytes from byte %" PRIu64 " exceed the limit chunk (%" PRIu64 ")", need, offset,
                    in->chunk_limit);
}

/* Makes the window begin at `offset`, which is inside it or at its end. */
static void drop_before(struct input *in, uint64_t offset) {
    const size_t skip = (size_t)(offset - in->start);
    if (skip == 0)
        return;
    const uint8_t *from = window_in(in) + skip;
    in->length -= skip;
    in->start = offset;
    in->bytes = window_in(in);
    memmove(window_in(in), from, in->length);
}

static void give_window(const struct input *in, uint64_t offset, const uint8_t **bytes, size_t *have) {
    const uint64_t skip = offset - in->start;
    const bool inside = skip <= in->length;
    *bytes = in->bytes + (inside ? skip : in->length);
    *have = inside ? in->length - (size_t)skip : 0;
}

/* The smallest in->chunk * 2^n that holds `need` bytes, but not more than in->chunk_limit if `need` fits into that. */
static size_t capacity_for(const struct input *in, size_t need) {
    size_t capacity = in->chunk;
    while (capacity < need)
        capacity *= 2;
    return capacity < in->chunk_limit || in->chunk_limit < need ? capacity : (size_t)in->chunk_limit;
}

/* Reads on at the end of a seekable file's window until it holds `least` bytes. */
static pfr_status extend_window(struct input *in, size_t least, pfr_error *err) {
    size_t got;
    if (in->length >= least)
        return PFR_OK;
    const uint64_t from = in->start + in->length, behind = in->size - from;
    const uint64_t wanted = in->wanted > in->start + least ? in->wanted - from : least - in->length;
    const uint64_t most = in->wanted && wanted < behind ? wanted : behind;
    const size_t space = in->capacity - in->length;
    const size_t room = most < space ? (size_t)most : space;
    const pfr_status status =
        input_read_least(in, in->start + in->length, window_in(in) + in->length, least - in->length, room, &got, err);
    in->length += got;
    return status;
}

static bool lies_in(uint64_t start, size_t length, uint64_t offset, size_t need) {
    const uint64_t skip = offset - start;
    return skip <= length && length - skip >= need;
}

bool input_holds(const struct input *in, uint64_t offset, size_t need) {
    return lies_in(in->start, in->length, offset, need) || lies_in(in->kept.start, in->kept.length, offset, need);
}

/* Swaps the window with the kept one. Some callers jump far ahead and then back, often many times; because both windows
   are kept, going back needs no read. */
static void exchange_windows(struct input *in) {
    const struct input_window now = {in->buffer, in->start, in->length, in->capacity};
    in->buffer = in->kept.buffer;
    in->start = in->kept.start;
    in->length = in->kept.length;
    in->capacity = in->kept.capacity;
    in->bytes = window_in(in);
    in->kept = now;
}

static pfr_status refill_file(struct input *in, uint64_t offset, size_t need, pfr_error *err) {
    if (offset >= in->size)
        return PFR_OK;
    const uint64_t behind = in->size - offset;
    const size_t least = need > behind ? (size_t)behind : need;
    if (least > in->chunk_limit)
        return report_too_long(in, offset, least, err);
    if (offset - in->start > in->length)
        exchange_windows(in);
    if (lies_in(in->start, in->length, offset, least))
        return PFR_OK;
    if (offset - in->start <= in->length)
        drop_before(in, offset);
    else
        begin_window(in, offset);
    if (in->capacity < least)
        PFR_TRY(set_capacity(in, capacity_for(in, least), err));
    return extend_window(in, least, err);
}

/* Reads more of a stream into the rest of the buffer. The caller has made sure that there is room. PFR_OK also at the
   end. */
static pfr_status read_more(struct input *in, pfr_error *err) {
    size_t got;
    uint8_t *to = window_in(in) + in->length;
    const size_t room = in->capacity - in->length;
    pfr_status status;
    if (in->unpacker)
        status = unpack_read(in->unpacker, to, room, &got, &in->broken);
    else
        status = input_read_stream(in, to, room, &got, &in->broken);
    in->length += got;
    if (status < 0 && err)
        *err = in->broken;
    if (status < 0)
        return status;
    in->ended = got == 0;
    if (in->ended)
        in->size = in->start + in->length;
    return PFR_OK;
}

/* Reads and discards until the window reaches `offset`, then makes it begin there. */
static pfr_status skip_stream(struct input *in, uint64_t offset, pfr_error *err) {
    while (offset - in->start > in->length && !in->ended) {
        begin_window(in, in->start + in->length);
        PFR_TRY(read_more(in, err));
    }
    if (offset - in->start <= in->length)
        drop_before(in, offset);
    return PFR_OK;
}

static pfr_status refill_stream(struct input *in, uint64_t offset, size_t need, pfr_error *err) {
    if (offset < in->start)
        return pfr_fail(err, PFR_ERR_USAGE, offset, need, "input",
                        "byte %" PRIu64 " of a stream was requested after byte %" PRIu64, offset, in->start);
    if (in->broken.status < 0) {
        if (err)
            *err = in->broken;
        return in->broken.status;
    }
    PFR_TRY(skip_stream(in, offset, err));
    if (in->ended || in->start != offset)
        return PFR_OK;
    if (need > in->chunk_limit)
        return report_too_long(in, offset, need, err);
    while (in->length < need && !in->ended) {
        if (in->length == in->capacity)
            PFR_TRY(set_capacity(in, capacity_for(in, in->capacity + 1), err));
        PFR_TRY(read_more(in, err));
    }
    return PFR_OK;
}

pfr_status input_refill(struct input *in, uint64_t offset, size_t need, const uint8_t **bytes, size_t *have,
                        pfr_error *err) {
    *bytes = NULL;
    *have = 0;
    if (!in->seekable)
        PFR_TRY(refill_stream(in, offset, need, err));
    else if (in->regular)
        PFR_TRY(refill_file(in, offset, need, err));
    give_window(in, offset, bytes, have);
    if (in->broken.status != PFR_HOLE || *have >= need)
        return PFR_OK;
    if (err)
        *err = in->broken;
    return PFR_HOLE;
}

static bool copy_from_window(const struct input *in, uint64_t offset, void *to, size_t length) {
    const uint64_t skip = offset - in->start;
    if (skip > in->length || in->length - skip < length)
        return false;
    if (length)
        memcpy(to, in->bytes + skip, length);
    return true;
}

pfr_status input_read_at(struct input *in, uint64_t offset, void *to, size_t length, size_t *got, pfr_error *err) {
    *got = 0;
    if (!in->seekable)
        return pfr_fail(err, PFR_ERR_USAGE, offset, length, "input", "a stream cannot be read at byte %" PRIu64,
                        offset);
    if (offset >= in->size)
        return PFR_OK;
    const uint64_t behind = in->size - offset;
    const size_t least = length > behind ? (size_t)behind : length;
    if (!copy_from_window(in, offset, to, least))
        return input_read_least(in, offset, to, least, least, got, err);
    *got = least;
    return PFR_OK;
}

bool input_may_copy(const struct input *in) {
    return in->regular && in->seekable;
}

size_t input_copy(const struct input *in, uint64_t offset, void *to, size_t length) {
    size_t done = 0;
    while (done < length) {
        const ssize_t n =
            in->calls.pread(in->calls.context, in->fd, (uint8_t *)to + done, length - done, (off_t)(offset + done));
        if (n == 0 || (n < 0 && errno != EINTR))
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    return done;
}

void input_show(struct input *in, const uint8_t *bytes, uint64_t start, size_t length) {
    in->bytes = bytes;
    in->start = start;
    in->length = length;
}

void input_forget(struct input *in, uint64_t offset) {
    begin_window(in, offset);
}

bool input_is_directory(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void input_on_bytes(struct input *in, const void *bytes, size_t length) {
    *in = (struct input){.bytes = length ? bytes : (const void *)"",
                         .length = length,
                         .size = length,
                         .raw_read = length,
                         .raw_size = length,
                         .fd = -1,
                         .seekable = true};
}

void input_share(struct input *in, const struct input *shared, struct memory *memory) {
    *in = *shared;
    in->owns_fd = false;
    if (!shared->regular)
        return; /* an input on bytes in memory */
    in->memory = memory;
    in->bytes = in->buffer = NULL;
    in->start = in->length = in->capacity = 0;
    in->kept = (struct input_window){0};
}

void input_set_chunk(struct input *in, size_t chunk) {
    if (!in->regular || !in->seekable)
        return;
    release(in);
    in->bytes = in->buffer = NULL;
    in->start = in->length = in->capacity = 0;
    in->kept = (struct input_window){0};
    in->chunk = chunk ? chunk : sizes.input_chunk;
}

void input_close(struct input *in) {
    unpack_close(in->unpacker);
    if (in->memory)
        release(in);
    if (in->owns_fd)
        close(in->fd);
    *in = (struct input){.fd = -1};
}

static void set_up(struct input *in, const struct input_setup *setup, const pfr_limits *limits) {
    *in = (struct input){.memory = setup->memory, .fd = -1, .size = INPUT_UNKNOWN_SIZE, .raw_size = INPUT_UNKNOWN_SIZE};
    in->calls = setup->calls ? *setup->calls : input_libc_calls;
    in->chunk_limit = limits->chunk < SIZE_MAX / 4 ? limits->chunk : SIZE_MAX / 4;
    in->chunk = setup->chunk ? setup->chunk : sizes.input_chunk;
    if (in->chunk > in->chunk_limit)
        in->chunk = (size_t)in->chunk_limit;
}

/* Decides by the kind of file how it is read. Two kinds of regular file are read as streams: files of size 0, which may
   be files of /proc that report no size, and files whose position was moved (a partly read standard input), which are
   read from there. */
static pfr_status examine(struct input *in, const char *path, pfr_error *err) {
    struct stat st;
    if (fstat(in->fd, &st) < 0)
        return pfr_fail_errno(err, errno, "examine", path);
    if (S_ISDIR(st.st_mode))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "open", "%s is a folder", path);
    const off_t position = S_ISREG(st.st_mode) ? lseek(in->fd, 0, SEEK_CUR) : 0;
    if (position < 0)
        return pfr_fail_errno(err, errno, "examine", path);
    in->identity = input_identity_of(&st);
    in->regular = S_ISREG(st.st_mode) && st.st_size > 0 && position == 0;
    if (in->regular)
        in->raw_size = in->identity.size;
    return PFR_OK;
}

/* Makes reads block from here on (the file was opened with O_NONBLOCK). Waits until a FIFO has a writer, because
   without one it would read as empty. */
static pfr_status wait_for_writer(const struct input *in, const char *path, pfr_error *err) {
    struct stat st;
    const int flags = fcntl(in->fd, F_GETFL);
    if (flags < 0 || fcntl(in->fd, F_SETFL, flags & ~O_NONBLOCK) < 0 || fstat(in->fd, &st) < 0)
        return pfr_fail_errno(err, errno, "open", path);
    if (!S_ISFIFO(st.st_mode))
        return PFR_OK;
    while (poll(&(struct pollfd){.fd = in->fd, .events = POLLIN}, 1, -1) < 0)
        if (errno != EINTR)
            return pfr_fail_errno(err, errno, "open", path);
    return PFR_OK;
}

/* Shrinks the buffer of an input that has ended: a folder recording may have thousands of nearly empty files. */
static pfr_status keep_what_is_there(struct input *in, pfr_error *err) {
    const size_t least = in->length > UNPACK_MAGIC ? in->length : UNPACK_MAGIC;
    return in->ended && least < in->capacity ? set_capacity(in, least, err) : PFR_OK;
}

/* Fills the window from the start, at least enough to recognise compression. */
static pfr_status read_first(struct input *in, pfr_error *err) {
    const uint64_t most = in->regular && in->raw_size < in->chunk ? in->raw_size : in->chunk;
    PFR_TRY(set_capacity(in, most > UNPACK_MAGIC ? (size_t)most : UNPACK_MAGIC, err));
    if (in->regular) {
        in->size = in->raw_size;
        in->seekable = true;
        return refill_file(in, 0, in->capacity, err);
    }
    const size_t whole = in->capacity;
    if (in->capacity > UNPACK_INPUT)
        in->capacity = UNPACK_INPUT; /* the maximum that unpack_prime takes */
    pfr_status status = PFR_OK;
    while (status == PFR_OK && in->length < UNPACK_MAGIC && !in->ended)
        status = read_more(in, err);
    in->capacity = whole;
    return status;
}

/* Makes the window show the decompressed bytes of the file. */
static pfr_status begin_unpacking(struct input *in, enum unpack_kind kind, const pfr_limits *limits, pfr_error *err) {
    const struct unpack_source source = {input_read_raw, in};
    in->unpacker = unpack_open(kind, in->memory, limits, source, err);
    if (!in->unpacker)
        return in->memory->failed;
    if (in->regular)
        in->raw_read = 0;
    else
        unpack_prime(in->unpacker, in->bytes, in->length);
    begin_window(in, 0);
    in->seekable = in->ended = false;
    in->size = INPUT_UNKNOWN_SIZE;
    return in->capacity < in->chunk ? set_capacity(in, in->chunk, err) : PFR_OK;
}

static pfr_status start(struct input *in, const pfr_limits *limits, pfr_error *err) {
    PFR_TRY(read_first(in, err));
    const enum unpack_kind kind = unpack_recognise(in->bytes, in->length);
    return kind == UNPACK_NONE ? keep_what_is_there(in, err) : begin_unpacking(in, kind, limits, err);
}

/* The part of opening that follows open(2): `in` is set up and has its descriptor, which is closed on failure. */
static pfr_status open_rest(struct input *in, const char *path, const struct input_setup *setup, pfr_error *err) {
    const pfr_limits limits = limits_resolve(setup->limits);
    pfr_status status = examine(in, path, err);
    if (status == PFR_OK && in->owns_fd)
        status = wait_for_writer(in, path, err);
    if (status == PFR_OK)
        status = start(in, &limits, err);
    if (status != PFR_OK)
        input_close(in);
    return status;
}

pfr_status input_open_fd(struct input *in, int fd, bool owned, const char *path, const struct input_setup *setup,
                         pfr_error *err) {
    const pfr_limits limits = limits_resolve(setup->limits);
    set_up(in, setup, &limits);
    in->fd = fd;
    in->owns_fd = owned;
    return open_rest(in, path, setup, err);
}

pfr_status input_open(struct input *in, const char *path, const struct input_setup *setup, pfr_error *err) {
    *in = (struct input){.fd = -1};
    if (strcmp(path, "-") == 0)
        return input_open_fd(in, STDIN_FILENO, false, "standard input", setup, err);
    const int fd = descriptor_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return pfr_fail_errno(err, errno, "open", path);
    return input_open_fd(in, fd, true, path, setup, err);
}

static bool is_plain_name(const char *name) {
    return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

pfr_status input_open_at(struct input *in, int folder, const char *name, const struct input_setup *setup,
                         pfr_error *err) {
    struct stat st;
    *in = (struct input){.fd = -1};
    if (!is_plain_name(name))
        return pfr_fail(err, PFR_ERR_PERMISSION, PFR_NO_OFFSET, 0, "open", "%s is not the name of a file", name);
    const int fd = descriptor_open(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, 0);
    if (fd < 0 && errno != ELOOP)
        return pfr_fail_errno(err, errno, "open", name);
    const int examined = fd < 0 ? 0 : fstat(fd, &st);
    if (fd >= 0 && examined == 0 && S_ISREG(st.st_mode))
        return input_open_fd(in, fd, true, name, setup, err);
    const int error_number = errno;
    if (fd >= 0)
        close(fd);
    if (examined < 0)
        return pfr_fail_errno(err, error_number, "examine", name);
    return pfr_fail(err, PFR_ERR_PERMISSION, PFR_NO_OFFSET, 0, "open", "%s is not a regular file", name);
}
