/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_UNPACK_H
#define PFR_BASE_UNPACK_H
/*
 * Decompression of a whole input in gzip (RFC 1952), xz or Zstandard (RFC 8878): any number of members or frames in
 * sequence. Raw bytes are pulled from a source; decoded bytes are written to the caller's buffer. Memory is charged to
 * struct memory (zstd's after each step), history is bounded by pfr_limits.window, and the ratio of output to input by
 * pfr_limits.ratio once the output exceeds 64 MB.
 */
#include <stdbool.h>
#include <perfray/limits.h>
#include "base/memory/memory.h"
#include "base/memory/sizes.h"

enum unpack_kind { UNPACK_NONE, UNPACK_GZIP, UNPACK_XZ, UNPACK_ZSTD };

#define UNPACK_MAGIC ((size_t)6)                      /* bytes that unpack_recognise needs */
#define UNPACK_INPUT ((size_t)SIZE_MOST_unpack_input) /* raw bytes requested at once */
#define UNPACK_FREE_OUTPUT (64ull << 20)              /* the ratio is not checked below this output */

/* The format of an input that begins with these bytes. UNPACK_NONE: another format, or too few bytes to tell
   (UNPACK_MAGIC always suffice). */
enum unpack_kind unpack_recognise(const uint8_t *bytes, size_t length);

/*
 * The number of bytes of a zstd stream to pass to libzstd in one call. libzstd recognises frames of its versions before
 * 0.8 by the first four bytes of a call's input and decodes them with old decoders, which return uninitialised bytes.
 * If a call gets only the first byte, libzstd refuses such frames, as it should. Inside a frame, passing one byte at a
 * time does no harm.
 *
 * A call gets at most one block, because a call that meets a broken block also loses the good blocks before it. `hint`
 * is libzstd's last return value (0 at the start of a frame): the number of bytes that it asks for. That number counts
 * the 3-byte header of the next block, which is not passed yet, because it may be broken too.
 */
size_t unpack_zstd_piece(const uint8_t *bytes, size_t length, size_t hint);

/* The source of raw bytes. `read` returns PFR_OK and sets *got to 1 to `room`, or to 0 at the end of the source. On
   failure it returns a status < 0 and fills *err. */
struct unpack_source {
    pfr_status (*read)(void *context, uint8_t *to, size_t room, size_t *got, pfr_error *err);
    void *context;
};

struct unpacker;

/* NULL with *err filled on failure (MEMORY, LIMIT). *limits must have its defaults resolved. */
struct unpacker *unpack_open(enum unpack_kind kind, struct memory *memory, const pfr_limits *limits,
                             struct unpack_source source, pfr_error *err);

/* NULL is allowed. */
void unpack_close(struct unpacker *unpacker);

/* Passes raw bytes that were already read, at most UNPACK_INPUT, before the first unpack_read. */
void unpack_prime(struct unpacker *unpacker, const uint8_t *bytes, size_t length);

/*
 * Decodes at most `room` bytes (at least 1) to `to`. PFR_OK: *got >= 1 bytes. PFR_END: the input ended where a member
 * ends; *got is 0. PFR_HOLE: the input is broken, cut, or followed by other bytes; *got is 0, and err->offset counts
 * decoded bytes. Errors: LIMIT (window, ratio or memory), MEMORY, and those of the source. After any result but PFR_OK,
 * unpack_read must not be called again.
 */
pfr_status unpack_read(struct unpacker *unpacker, uint8_t *to, size_t room, size_t *got, pfr_error *err);

#endif
