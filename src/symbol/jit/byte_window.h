/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_BYTE_WINDOW_H
#define PFR_SYMBOL_BYTE_WINDOW_H
/*
 * Reads a file sequentially and skips parts of it. Bytes are requested up to a border (the end of a record); no bytes
 * after the border are returned.
 *
 *  byte_window_take(&window, 16, &bytes);      the next 16 bytes, contiguous
 *  byte_window_skip(&window, size);            reads nothing
 */
#include "symbol/table/symbol_source.h"

#define BYTE_WINDOW_MOST ((size_t)1 << 20) /* maximum number of contiguous bytes */

struct byte_window {
    struct memory *memory;
    uint8_t *buffer;
    size_t room, have;
    uint64_t start; /* offset of the buffer in the file */
    uint64_t at;    /* offset of the next byte */
    uint64_t end;   /* the border, set by the caller; at most `size` */
    uint64_t size;  /* bytes of the file that may be read */
    int fd;
};

/* fd belongs to the caller. Allocates nothing yet. */
void byte_window_init(struct byte_window *window, int fd, struct memory *memory);
void byte_window_free(struct byte_window *window);

/* FOUND: *bytes are valid until the next call. NO_MATCH: the bytes would cross the border; nothing was taken. LIMIT:
   more than BYTE_WINDOW_MOST. NO_MEMORY. IO: a read failed, or the file has become shorter. */
enum symbol_result byte_window_take(struct byte_window *window, size_t size, const uint8_t **bytes);

/* Takes bytes up to a NUL; *length does not include the NUL. Results are those of byte_window_take. */
enum symbol_result byte_window_text(struct byte_window *window, const char **text, size_t *length);

/* False: the skip would cross the border; nothing was skipped. */
bool byte_window_skip(struct byte_window *window, uint64_t size);

#endif
