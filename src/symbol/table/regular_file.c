/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file is first checked through an O_PATH descriptor, which has no effect on the file, and then opened without
 * blocking. Both must be the same file, so a name that is moved to another file in between is detected.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "base/io/descriptor.h"
#include "symbol/table/regular_file.h"
#include "symbol/table/symbol_table.h"

static enum symbol_result result_of_errno(int number) {
    switch (number) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
        return SYMBOL_NO_FILE;
    case EACCES:
    case EPERM:
        return SYMBOL_NOT_PERMITTED;
    case ELOOP:
    case ENXIO:
        return SYMBOL_NOT_REGULAR;
    case ENOMEM:
        return SYMBOL_NO_MEMORY;
    default:
        return SYMBOL_IO;
    }
}

/* File systems whose files are generated while they are read: reading may consume data (trace_pipe), block, or never
 * end. */
static bool is_made_up(const struct statfs *system) {
    static const uint32_t kinds[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC,        DEBUGFS_MAGIC,       TRACEFS_MAGIC,
                                     SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((uint32_t)system->f_type == kinds[i])
            return true;
    return false;
}

static enum symbol_result check_regular(int fd, unsigned flags, struct stat *facts) {
    struct statfs system;
    if (fstat(fd, facts) != 0 || fstatfs(fd, &system) != 0)
        return result_of_errno(errno);
    if (!S_ISREG(facts->st_mode))
        return SYMBOL_NOT_REGULAR;
    return is_made_up(&system) && !(flags & OPEN_PROC) ? SYMBOL_NOT_REGULAR : SYMBOL_FOUND;
}

static enum symbol_result look_at(const char *path, unsigned flags, struct stat *facts) {
    const int fd = descriptor_open(AT_FDCWD, path, O_PATH | (flags & OPEN_NO_LINK ? O_NOFOLLOW : 0), 0);
    if (fd < 0)
        return result_of_errno(errno);
    const enum symbol_result result = check_regular(fd, flags, facts);
    close(fd);
    return result;
}

enum symbol_result open_regular(const char *path, unsigned flags, int *fd, struct stat *facts) {
    struct stat seen;
    enum symbol_result result = look_at(path, flags, &seen);
    if (result != SYMBOL_FOUND)
        return result;
    const int no_link = flags & OPEN_NO_LINK ? O_NOFOLLOW : 0;
    const int opened = descriptor_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | no_link, 0);
    if (opened < 0)
        return result_of_errno(errno);
    result = check_regular(opened, flags, facts);
    if (result == SYMBOL_FOUND && (facts->st_dev != seen.st_dev || facts->st_ino != seen.st_ino))
        result = SYMBOL_NOT_REGULAR;
    if (result == SYMBOL_FOUND)
        *fd = opened;
    else
        close(opened);
    return result;
}

static bool climbs(const char *path) {
    for (const char *at = path; (at = strstr(at, "..")); at += 2)
        if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return true;
    return false;
}

enum symbol_result open_regular_under(const char *folder, const char *path, int *fd, struct stat *facts) {
    if (!folder || !*folder)
        return open_regular(path, 0, fd, facts);
    if (climbs(path))
        return SYMBOL_NOT_PERMITTED;
    char joined[PATH_MAX];
    const int length = snprintf(joined, sizeof joined, "%s/%s", folder, path);
    if (length < 0 || (size_t)length >= sizeof joined)
        return SYMBOL_NO_FILE;
    return open_regular(joined, 0, fd, facts);
}

enum symbol_result line_reader_start(struct line_reader *reader, int fd, uint64_t most_bytes, struct memory *memory) {
    *reader = (struct line_reader){.memory = memory, .fd = fd, .bytes_left = most_bytes};
    reader->buffer = mem_alloc(memory, LINE_MOST, 1);
    return reader->buffer ? SYMBOL_FOUND : table_memory_result(memory);
}

void line_reader_end(struct line_reader *reader) {
    mem_free(reader->memory, reader->buffer, LINE_MOST, 1);
    reader->buffer = NULL;
}

/* Moves the remaining bytes to the front and reads more. If one line fills the buffer, that line is dropped. */
static enum symbol_result fill(struct line_reader *reader) {
    reader->have -= reader->at;
    memmove(reader->buffer, reader->buffer + reader->at, reader->have);
    reader->at = 0;
    if (reader->have == LINE_MOST) {
        reader->have = 0;
        reader->skipping = true;
    }
    ssize_t got;
    do
        got = read(reader->fd, reader->buffer + reader->have, LINE_MOST - reader->have);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return SYMBOL_IO;
    if ((uint64_t)got > reader->bytes_left)
        return SYMBOL_LIMIT;
    reader->bytes_left -= (uint64_t)got;
    reader->ended = got == 0;
    reader->have += (size_t)got;
    return SYMBOL_FOUND;
}

/* Returns the bytes before `newline`, or all in the buffer, as a line. The line ends at a NUL, because bytes after a
   NUL could not be shown. False: these bytes are the end of a line that is dropped. */
static bool give_line(struct line_reader *reader, const char *newline, const char **line, size_t *length) {
    const char *start = reader->buffer + reader->at;
    const bool whole = !reader->skipping;
    *line = start;
    *length = newline ? (size_t)(newline - start) : reader->have - reader->at;
    reader->at += *length + (newline ? 1 : 0);
    *length = strnlen(start, *length);
    reader->number++;
    reader->skipping = false;
    return whole;
}

enum symbol_result line_reader_next(struct line_reader *reader, const char **line, size_t *length) {
    for (;;) {
        const char *start = reader->buffer + reader->at;
        const char *newline = memchr(start, '\n', reader->have - reader->at);
        if (newline || (reader->ended && reader->at < reader->have)) {
            if (give_line(reader, newline, line, length))
                return SYMBOL_FOUND;
            continue;
        }
        if (reader->ended)
            return SYMBOL_NO_MATCH;
        const enum symbol_result result = fill(reader);
        if (result != SYMBOL_FOUND)
            return result;
    }
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool take_hex(const char **text, const char *end, uint64_t *value) {
    const char *at = *text;
    if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
        at += 2;
    const char *first = at;
    uint64_t sum = 0;
    for (; at < end && hex_digit(*at) >= 0; at++) {
        if (sum >> 60)
            return false;
        sum = sum << 4 | (uint64_t)hex_digit(*at);
    }
    if (at == first)
        return false;
    while (at < end && *at == ' ')
        at++;
    *text = at;
    *value = sum;
    return true;
}
