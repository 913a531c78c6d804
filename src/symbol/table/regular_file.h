/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_REGULAR_FILE_H
#define PFR_SYMBOL_REGULAR_FILE_H
/*
 * Opening files whose names come from a profile, and reading them by lines. A name may lead to anything: what is not
 * a regular file is not even opened for reading (a device acts on open, a FIFO waits), nor is anything in /proc, /sys
 * and the like, where files are regular and act on being read.
 */
#include <sys/stat.h>
#include "symbol/table/symbol_source.h"

enum {
    OPEN_PROC = 1,
    OPEN_NO_LINK = 2
}; /* files of /proc and the like are welcome; the last part may not be a symbolic link */

/* FOUND fills *fd (close-on-exec, the caller's) and *facts. Else NO_FILE, NOT_PERMITTED, NOT_REGULAR or IO. */
enum symbol_result open_regular(const char *path, unsigned flags, int *fd, struct stat *facts);

/* The same under a folder put before the path; a path with a ".." part is refused there (NOT_PERMITTED). */
enum symbol_result open_regular_under(const char *folder, const char *path, int *fd, struct stat *facts);

/* Lines of a text of unknown size, without their '\n' and what follows a NUL, each at most LINE_MOST bytes: longer ones
   are left out. */
#define LINE_MOST ((size_t)64 << 10)

struct line_reader {
    struct memory *memory;
    char *buffer;
    size_t at, have;
    uint64_t bytes_left; /* until the limit */
    int fd;
    bool ended, skipping;
};

/* fd stays the caller's. FOUND, LIMIT or NO_MEMORY. */
enum symbol_result line_reader_start(struct line_reader *reader, int fd, uint64_t most_bytes, struct memory *memory);

/* FOUND: *line is valid until the next call. NO_MATCH: no more lines. LIMIT: most_bytes passed. IO. */
enum symbol_result line_reader_next(struct line_reader *reader, const char **line, size_t *length);

void line_reader_end(struct line_reader *reader);

/* Takes a hexadecimal number ("0x" optional) and the blanks behind it from the front of *text; false: none there, or
   it has more than 64 bits. */
bool take_hex(const char **text, const char *end, uint64_t *value);

#endif
