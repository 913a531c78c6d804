/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_INPUT_H
#define PFR_BASE_INPUT_H
/*
 * The bytes of an input, wherever they come from:
 *
 *     regular file      seekable; read in chunks with pread, never mapped (a file that shrinks must not be a signal)
 *     pipe, FIFO, "-"   a stream: offsets may only ask forward
 *     .gz .xz .zst      recognised by content; a stream of the decompressed bytes, whatever carries them
 *     bytes in memory   seekable; nothing is copied
 *
 * Offsets are always those of the bytes handed out (the decompressed ones). input_window is the way to read: it
 * returns a pointer into one buffer that slides over the input.
 *
 * What a call returns when the bytes asked for are not there:
 *
 *     PFR_OK, have < need    the input ends here
 *     PFR_HOLE, have < need  the input ends here by damage: a compressed stream is broken or cut; err says where and
 *                            why. What was decoded before stays readable, and later calls past it return the same
 *     PFR_ERR_IO, _CHANGED, _LIMIT, _MEMORY, _PERMISSION   as named
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <perfray/error.h>
#include <perfray/limits.h>
#include "base/memory/memory.h"

#define INPUT_UNKNOWN_SIZE UINT64_MAX
#define INPUT_ALIKE ((size_t)64) /* bytes: see input_lead */

struct unpacker;

/* How an input reads: the libc functions, or a test's. Both return as read(2) and pread(2) do, errno included. */
struct input_calls {
    ssize_t (*read)(void *context, int fd, void *to, size_t length);
    ssize_t (*pread)(void *context, int fd, void *to, size_t length, off_t offset);
    void *context;
};

/* What an input is opened with. Only `memory` is needed; it must outlive the input, the rest is copied. */
struct input_setup {
    struct memory *memory;
    const pfr_limits *limits;        /* NULL: defaults */
    const struct input_calls *calls; /* NULL: libc */
    size_t chunk;                    /* bytes read at once; 0: sizes.input_chunk */
};

/* What a regular file looked like when it was opened. */
struct input_identity {
    uint64_t device, inode, size;
    int64_t modified_seconds, modified_nanoseconds;
};

/* A buffer, and what of the input is in it. */
struct input_window {
    uint8_t *buffer;
    uint64_t start;
    size_t length, capacity;
};

/* Members belong to input.c, except that input_window reads the first three. */
struct input {
    const uint8_t *bytes; /* the window */
    uint64_t start;       /* offset of bytes[0] */
    size_t length;        /* bytes in the window */

    struct memory *memory;
    struct input_calls calls;
    struct unpacker *unpacker; /* NULL: bytes are handed out as they are */
    uint8_t *buffer;           /* holds the window; NULL for bytes in memory */
    size_t capacity, chunk;
    struct input_window kept; /* what the window was on before the last jump out of it; of a seekable file */
    uint64_t size;            /* INPUT_UNKNOWN_SIZE until a stream ended */
    uint64_t chunk_limit;     /* the buffer never grows past this */
    uint64_t wanted;          /* bytes behind this offset are not read before they are asked for */
    uint64_t raw_read;        /* bytes read from the file so far */
    uint64_t raw_size;        /* bytes there are to read, or INPUT_UNKNOWN_SIZE */
    struct input_identity identity;
    pfr_error broken; /* status PFR_HOLE: the stream ended by damage, as said here */
    int fd;
    bool seekable, regular, owns_fd, ended;
};

/*
 * Opens `path`, or standard input for "-" (which is not closed later). A FIFO is waited for until it has a writer.
 * Reads the first bytes to recognise compression. On failure *in holds nothing. *in must not be moved while open.
 * Errors: PFR_ERR_USAGE only for a folder (see input_is_directory); PERMISSION, IO; LIMIT, MEMORY; a compressed
 * stream that is broken from the first byte opens well and is a HOLE at offset 0.
 */
pfr_status input_open(struct input *in, const char *path, const struct input_setup *setup, pfr_error *err);

/* A regular file `name` in the open folder `folder`: no path, no symbolic link, no device (PFR_ERR_PERMISSION). */
pfr_status input_open_at(struct input *in, int folder, const char *name, const struct input_setup *setup,
                         pfr_error *err);

/* A file descriptor that is already open, any kind; closed with the input when `owned`, on failure too. `path` is
   for messages. */
pfr_status input_open_fd(struct input *in, int fd, bool owned, const char *path, const struct input_setup *setup,
                         pfr_error *err);

/* An input on bytes of the caller, which must outlive it. Never fails; compression is not looked for. */
void input_on_bytes(struct input *in, const void *bytes, size_t length);

/* Another window on a seekable input, for another thread: what it reads goes into `memory`. The first must outlive it.
 */
void input_share(struct input *in, const struct input *of, struct memory *memory);

/* Reads so many bytes of a seekable file at once from here on (0: sizes.input_chunk), and forgets what it holds. */
void input_set_chunk(struct input *in, size_t chunk);

/* How many bytes behind `at`, fewer than INPUT_ALIKE, what a file has from `offset` on is to be read to: there both lie
   alike, as seen from a boundary of INPUT_ALIKE, and are copied fastest. */
static inline size_t input_lead(const void *at, uint64_t offset) {
    return (size_t)(offset - (uintptr_t)at) & (INPUT_ALIKE - 1);
}

/* `in` may be one that failed to open. */
void input_close(struct input *in);

/* Whether `path` names a folder (symbolic links followed); false also when it does not exist. */
bool input_is_directory(const char *path);

static inline bool input_seekable(const struct input *in) {
    return in->seekable;
}

/* Bytes in all; INPUT_UNKNOWN_SIZE for a stream that was not read to its end. */
static inline uint64_t input_size(const struct input *in) {
    return in->size;
}

/* Bytes read from the file (compressed ones where it is). */
static inline uint64_t input_bytes_read(const struct input *in) {
    return in->raw_read;
}

/* Copies `length` bytes from `offset` of a seekable input; *got < length only at its end. Does not move the window.
   Errors: IO, CHANGED; USAGE when the input is a stream. */
pfr_status input_read_at(struct input *in, uint64_t offset, void *to, size_t length, size_t *got, pfr_error *err);

/* More is not read ahead of a file than up to this offset, and behind it what is asked for alone: for who jumps.
   0: there is no such bound. */
static inline void input_read_ahead_to(struct input *in, uint64_t offset) {
    in->wanted = offset;
}

/* A file that threads copy from while another one has its window: whether `in` is one, and the copy. Nothing of `in` is
   changed, nor counted as read. Fewer bytes than asked for: the file ends, or cannot be read, which who reads through
   the window is told. */
bool input_may_copy(const struct input *in);
size_t input_copy(const struct input *in, uint64_t offset, void *to, size_t length);

/* Puts the window on such a copy. Before anything that may read, input_forget makes it the input's own again, empty and
   at `offset`. */
void input_show(struct input *in, const uint8_t *bytes, uint64_t start, size_t length);
void input_forget(struct input *in, uint64_t offset);

/* Whether input_window has these bytes without reading. */
bool input_holds(const struct input *in, uint64_t offset, size_t need);

/* The path of input_window that has to read. */
pfr_status input_refill(struct input *in, uint64_t offset, size_t need, const uint8_t **bytes, size_t *have,
                        pfr_error *err);

/*
 * A pointer to the input's bytes from `offset`. *have is all that the window holds from there: at least `need`, less
 * only where the input ends. Valid until the next call on this input that may read. On a stream, bytes before
 * `offset` may be forgotten: asking backwards past the window's start is PFR_ERR_USAGE. need 0 never reads within
 * the window. `need` may be any number from a file: past the limit `chunk` it is PFR_ERR_LIMIT, and the buffer grows
 * only as bytes are seen to exist.
 */
static inline pfr_status input_window(struct input *in, uint64_t offset, size_t need, const uint8_t **bytes,
                                      size_t *have, pfr_error *err) {
    const uint64_t skip = offset - in->start; /* huge when offset lies before the window */
    if (__builtin_expect(skip <= in->length && in->length - skip >= need, 1)) {
        *bytes = in->bytes + skip;
        *have = in->length - (size_t)skip;
        return PFR_OK;
    }
    return input_refill(in, offset, need, bytes, have, err);
}

/* PFR_ERR_CHANGED when the regular file is not what was opened (device, inode, size, time of modification); PFR_OK
   for everything else. */
pfr_status input_check_unchanged(const struct input *in, pfr_error *err);

#endif
