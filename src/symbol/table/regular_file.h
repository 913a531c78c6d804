/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_REGULAR_FILE_H
#define PFR_SYMBOL_REGULAR_FILE_H
/*
 * Opens files whose names come from a profile, and reads them by lines. A name may lead to any kind of file. Only
 * regular files are opened for reading, because opening may affect a device or block at a FIFO. Files in /proc, /sys
 * and similar file systems are not opened either: they are regular, but reading them may have effects.
 */
#include <sys/stat.h>
#include "symbol/table/symbol_source.h"

enum {
    OPEN_PROC = 1,   /* accept files of /proc and similar file systems */
    OPEN_NO_LINK = 2 /* refuse a symbolic link as the last component */
};

/* FOUND: *fd (close-on-exec, belongs to the caller) and *facts are set. Else NO_FILE, NOT_PERMITTED, NOT_REGULAR or
   IO. */
enum symbol_result open_regular(const char *path, unsigned flags, int *fd, struct stat *facts);

/* Like open_regular, with `folder` put before the path. If `folder` is set, a path with a ".." component is refused
 * (NOT_PERMITTED). */
enum symbol_result open_regular_under(const char *folder, const char *path, int *fd, struct stat *facts);

/* Reads the lines of a text, without the '\n' and without the bytes after a NUL. Lines of more than LINE_MOST bytes are
   skipped. */
#define LINE_MOST ((size_t)64 << 10)

struct line_reader {
    struct memory *memory;
    char *buffer;
    size_t at, have;
    uint64_t bytes_left; /* bytes that may still be read */
    uint64_t number;     /* number of the line that was returned last; skipped lines are counted, too */
    int fd;
    bool ended, skipping;
};

/* fd belongs to the caller. FOUND, LIMIT or NO_MEMORY. */
enum symbol_result line_reader_start(struct line_reader *reader, int fd, uint64_t most_bytes, struct memory *memory);

/* FOUND: *line is valid until the next call. NO_MATCH: there are no more lines. LIMIT: the text has more than
   most_bytes. IO. */
enum symbol_result line_reader_next(struct line_reader *reader, const char **line, size_t *length);

void line_reader_end(struct line_reader *reader);

/* Takes a hexadecimal number ("0x" optional) and the spaces after it; false: no digits, or more than 64 bits. */
bool take_hex(const char **text, const char *end, uint64_t *value);

#endif
