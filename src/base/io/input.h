/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_INPUT_H
#define PFR_BASE_INPUT_H
/*
 * The bytes of an input from any source:
 *
 *    regular file      seekable; read in chunks with pread, never mapped (a file that shrinks must not raise SIGBUS)
 *    pipe, FIFO, "-"   a stream: offsets may only increase
 *    .gz .xz .zst      recognised by content, in a file or a stream; read as a stream of decompressed bytes
 *    bytes in memory   seekable; nothing is copied
 *
 * Offsets count decompressed bytes. input_window is the usual way to read: it returns a pointer into a buffer that
 * slides over the input.
 *
 * When the requested bytes do not exist, a call returns:
 *
 *    PFR_OK, have < need    the input ends here
 *    PFR_HOLE, have < need  a compressed stream is damaged or cut here; err has the place and the reason. The bytes
 *                           decoded before stay readable, and later calls past this point return the same
 *    PFR_ERR_IO, _CHANGED, _LIMIT, _MEMORY, _PERMISSION   see perfray/error.h
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

/* How an input reads: the libc functions, or replacements in tests. They return values and set errno as read(2) and
   pread(2) do. */
struct input_calls {
    ssize_t (*read)(void *context, int fd, void *to, size_t length);
    ssize_t (*pread)(void *context, int fd, void *to, size_t length, off_t offset);
    void *context;
};

/* Options for opening. Only `memory` is required. It must outlive the input; the other members are copied. */
struct input_setup {
    struct memory *memory;
    const pfr_limits *limits;        /* NULL: defaults */
    const struct input_calls *calls; /* NULL: libc */
    size_t chunk;                    /* bytes read at once; 0: sizes.input_chunk */
};

/* The state of a regular file when it was opened. */
struct input_identity {
    uint64_t device, inode, size;
    int64_t modified_seconds, modified_nanoseconds;
};

/* A buffer and the part of the input that it holds. */
struct input_window {
    uint8_t *buffer;
    uint64_t start;
    size_t length, capacity;
};

/* Members are private to input.c; the inline functions below read some of them. */
struct input {
    const uint8_t *bytes; /* the window */
    uint64_t start;       /* offset of bytes[0] */
    size_t length;        /* bytes in the window */

    struct memory *memory;
    struct input_calls calls;
    struct unpacker *unpacker; /* NULL: bytes are handed out as they are */
    uint8_t *buffer;           /* contains the window; NULL for bytes in memory */
    size_t capacity, chunk;
    struct input_window kept; /* seekable files: the previous window; a request outside the current one swaps the two */
    uint64_t size;            /* INPUT_UNKNOWN_SIZE until a stream ended */
    uint64_t chunk_limit;     /* the buffer never grows beyond this size */
    uint64_t wanted;          /* bytes past this offset are read only on request; 0: no such bound */
    uint64_t raw_read;        /* bytes read from the file so far */
    uint64_t raw_size;        /* total size of the file in bytes, or INPUT_UNKNOWN_SIZE */
    struct input_identity identity;
    pfr_error broken; /* status PFR_HOLE: the damage that ended the stream */
    int fd;
    bool seekable, regular, owns_fd, ended;
};

/*
 * Opens `path`, or standard input for "-" (which is not closed later). Waits until a FIFO has a writer. Reads the first
 * bytes to recognise compression. On failure *in owns nothing. *in must not be moved while open. Errors: PFR_ERR_USAGE
 * (only for a folder, see input_is_directory), PERMISSION, IO, LIMIT, MEMORY. A compressed stream that is broken from
 * its first byte opens successfully and has a HOLE at offset 0.
 */
pfr_status input_open(struct input *in, const char *path, const struct input_setup *setup, pfr_error *err);

/* Opens the regular file `name` in the open folder `folder`. A path, a symbolic link or a device is refused
   (PFR_ERR_PERMISSION). */
pfr_status input_open_at(struct input *in, int folder, const char *name, const struct input_setup *setup,
                         pfr_error *err);

/* Takes an open file descriptor of any kind; closes it with the input if `owned`, also on failure. `path` is for
   messages. */
pfr_status input_open_fd(struct input *in, int fd, bool owned, const char *path, const struct input_setup *setup,
                         pfr_error *err);

/* Opens an input on the caller's bytes, which must outlive the input. Never fails; does not look for compression. */
void input_on_bytes(struct input *in, const void *bytes, size_t length);

/* Makes `in` a second input on the same file or bytes as `shared`, which must be seekable and outlive `in`. `in` has a
   window of its own, for another thread; its buffers come from `memory`. */
void input_share(struct input *in, const struct input *shared, struct memory *memory);

/* Sets how many bytes are read at once from a seekable file (0: sizes.input_chunk) and empties the window. */
void input_set_chunk(struct input *in, size_t chunk);

/* The number of bytes (less than INPUT_ALIKE) to skip after `at`, so that the byte at `offset` of the file is read to
   an address that is congruent to `offset` modulo INPUT_ALIKE. The kernel copies fastest to such an address. */
static inline size_t input_lead(const void *at, uint64_t offset) {
    return (size_t)(offset - (uintptr_t)at) & (INPUT_ALIKE - 1);
}

/* May also be called for an input that failed to open. */
void input_close(struct input *in);

/* Whether `path` is a folder (symbolic links followed); false also when it does not exist. */
bool input_is_directory(const char *path);

static inline bool input_seekable(const struct input *in) {
    return in->seekable;
}

/* Total size in bytes; INPUT_UNKNOWN_SIZE for a stream that was not read to its end. */
static inline uint64_t input_size(const struct input *in) {
    return in->size;
}

/* Bytes read from the file (compressed bytes if it is compressed). */
static inline uint64_t input_bytes_read(const struct input *in) {
    return in->raw_read;
}

/* Copies `length` bytes from `offset` of a seekable input; *got < length only at its end. Does not move the window.
   Errors: IO, CHANGED; USAGE for a stream. */
pfr_status input_read_at(struct input *in, uint64_t offset, void *to, size_t length, size_t *got, pfr_error *err);

/* For callers that jump: limits read-ahead to `offset`, past which only requested bytes are read. 0: no limit. */
static inline void input_read_ahead_to(struct input *in, uint64_t offset) {
    in->wanted = offset;
}

/* With these two functions several threads copy from a file while another thread uses the window of the input.
   input_may_copy returns whether `in` allows this. input_copy neither changes `in` nor counts the bytes as read; it
   returns fewer bytes than requested if the file ends or a read fails. Reading the same bytes through the window
   reports the error. */
bool input_may_copy(const struct input *in);
size_t input_copy(const struct input *in, uint64_t offset, void *to, size_t length);

/* input_show makes the window of `in` show bytes that input_copy has copied. Call input_forget before any call that may
   read: `in` then uses its own buffer again, which is empty and placed at `offset`. */
void input_show(struct input *in, const uint8_t *bytes, uint64_t start, size_t length);
void input_forget(struct input *in, uint64_t offset);

/* Whether input_window can return these bytes without reading. */
bool input_holds(const struct input *in, uint64_t offset, size_t need);

/* The slow path of input_window, which reads. */
pfr_status input_refill(struct input *in, uint64_t offset, size_t need, const uint8_t **bytes, size_t *have,
                        pfr_error *err);

/*
 * Returns a pointer to the input's bytes from `offset`. *have counts all that the window holds from there: at least
 * `need`, fewer only where the input ends. The pointer is valid until the next call on this input that may read. A
 * stream forgets bytes before `offset`: a later request before the start of the window is PFR_ERR_USAGE. With `need` 0,
 * an offset within the window never causes a read. `need` may be an unchecked number that was read from the input. If
 * it exceeds the limit `chunk`, the result is PFR_ERR_LIMIT (for a regular file, only if more bytes than the limit
 * follow `offset`). The buffer grows only for bytes that exist.
 */
static inline pfr_status input_window(struct input *in, uint64_t offset, size_t need, const uint8_t **bytes,
                                      size_t *have, pfr_error *err) {
    const uint64_t skip = offset - in->start; /* wraps to a huge number if offset is before the window */
    if (__builtin_expect(skip <= in->length && in->length - skip >= need, 1)) {
        *bytes = in->bytes + skip;
        *have = in->length - (size_t)skip;
        return PFR_OK;
    }
    return input_refill(in, offset, need, bytes, have, err);
}

/* PFR_ERR_CHANGED if the regular file is no longer the one opened (device, inode, size, modification time); PFR_OK for
   other inputs. */
pfr_status input_check_unchanged(const struct input *in, pfr_error *err);

#endif
