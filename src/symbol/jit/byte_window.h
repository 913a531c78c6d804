/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_BYTE_WINDOW_H
#define PFR_SYMBOL_BYTE_WINDOW_H
/*
 * A file read from its front to its end in pieces, of which parts are passed over: bytes are asked for up to a border
 * (the end of a record), and nobody gets bytes behind it.
 *
 *     byte_window_take(&window, 16, &bytes);      the next 16 bytes, in one piece
 *     byte_window_skip(&window, size);            nothing is read
 */
#include "symbol/table/symbol_source.h"

#define BYTE_WINDOW_MOST ((size_t)1 << 20) /* bytes in one piece */

struct byte_window {
    struct memory *memory;
    uint8_t *buffer;
    size_t room, have;
    uint64_t start; /* of the buffer, in the file */
    uint64_t at;    /* the next byte */
    uint64_t end;   /* the border; set by the owner, not behind */
    uint64_t size;  /* bytes of the file, as far as they are to be read */
    int fd;
};

/* fd stays the caller's. Takes no memory yet. */
void byte_window_init(struct byte_window *window, int fd, struct memory *memory);
void byte_window_free(struct byte_window *window);

/* FOUND: *bytes live until the next call. NO_MATCH: the border is nearer, and nothing was taken. LIMIT: more than
   BYTE_WINDOW_MOST. NO_MEMORY. IO: also where the file became shorter. */
enum symbol_result byte_window_take(struct byte_window *window, size_t size, const uint8_t **bytes);

/* The bytes up to a NUL, which is taken too: FOUND, and the rest as byte_window_take. */
enum symbol_result byte_window_text(struct byte_window *window, const char **text, size_t *length);

/* False: the border is nearer. */
bool byte_window_skip(struct byte_window *window, uint64_t size);

#endif
