/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded library (ld.so(8), LD_PRELOAD) that makes one numbered system call of a program fail.
 *
 *     FAIL_IO_HOW   EIO, ENOSPC   the call fails with this error and does nothing, except that close(2) closes
 *                   EINTR         likewise, but only calls that signal(7) lists as interruptible
 *                   EPIPE         from this call on, standard output is a pipe without a reader
 *                   SHORT         one byte is read or written
 *     FAIL_IO_AT    number of the call, from 1, among those that can fail in this way; 0: every second call fails
 *     FAIL_IO_LOG   a file to which a line per failed call is written: name, descriptor (-1 if it has no descriptor),
 *                   path
 *
 * Only calls through the symbols of libc are intercepted: those of the program and of its libraries.
 */
#undef _FILE_OFFSET_BITS /* intercept each function under its own name, not that of its 64-bit variant */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* Ways in which a call can fail. */
enum { FAILS = 1, ENDS_BY_SIGNAL = 2, IS_SHORT = 4, FILLS_DISK = 8, WRITES = 16 };

struct way {
    const char *name;
    unsigned needs; /* one of these flags */
    int number;     /* errno; 0: errno is not set */
};

static const struct way ways[] = {
    {"EIO", FAILS, EIO},  {"ENOSPC", FILLS_DISK, ENOSPC}, {"EINTR", ENDS_BY_SIGNAL, EINTR},
    {"EPIPE", WRITES, 0}, {"SHORT", IS_SHORT, 0},
};

static const struct way *wanted_way(void) {
    const char *how = getenv("FAIL_IO_HOW");
    for (size_t i = 0; how && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(how, ways[i].name) == 0)
            return &ways[i];
    return NULL;
}

/* The function that the library replaces. */
static void *function_behind(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

#define BEHIND(name) ((__typeof__(&name))function_behind(#name))

static void write_log(const char *call, int fd, const char *path) {
    const char *log = getenv("FAIL_IO_LOG");
    char link[64], target[4096] = "", line[4200];
    if (!path) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t length = readlink(link, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        path = target;
    }
    const int to = log ? BEHIND(open)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    const int length = snprintf(line, sizeof line, "%s %d %.4000s\n", call, fd, path);
    if (to < 0 || BEHIND(write)(to, line, (size_t)length) != length)
        _exit(99);
    BEHIND(close)(to);
}

/* Redirects standard output to a pipe without a reader. */
static void lose_reader(void) {
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0)
        _exit(99);
    BEHIND(close)(ends[0]);
    BEHIND(close)(ends[1]);
}

/* Whether this call must fail; if so, sets errno. */
static const struct way *goes_wrong(const char *call, unsigned can, int fd, const char *path) {
    static long seen;
    const struct way *way = wanted_way();
    const char *at = getenv("FAIL_IO_AT");
    if (!way || !at || !(can & way->needs) || (way->needs == WRITES && fd != STDOUT_FILENO))
        return NULL;
    const long wanted = atol(at);
    seen++;
    if (wanted ? seen != wanted : seen % 2 == 0)
        return NULL;
    write_log(call, fd, path);
    if (way->needs == WRITES)
        lose_reader();
    errno = way->number;
    return way;
}

#define TRANSFER (FAILS | ENDS_BY_SIGNAL | IS_SHORT)

ssize_t read(int fd, void *to, size_t length) {
    const struct way *way = length ? goes_wrong("read", TRANSFER, fd, NULL) : NULL;
    return way && way->number ? -1 : BEHIND(read)(fd, to, way ? 1 : length);
}

ssize_t pread(int fd, void *to, size_t length, off_t offset) {
    const struct way *way = length ? goes_wrong("pread", TRANSFER, fd, NULL) : NULL;
    return way && way->number ? -1 : BEHIND(pread)(fd, to, way ? 1 : length, offset);
}

ssize_t pread64(int fd, void *to, size_t length, off64_t offset) {
    return pread(fd, to, length, offset);
}

ssize_t write(int fd, const void *from, size_t length) {
    const struct way *way = length ? goes_wrong("write", TRANSFER | FILLS_DISK | WRITES, fd, NULL) : NULL;
    if (way && way->number)
        return -1;
    return BEHIND(write)(fd, from, way && way->needs == IS_SHORT ? 1 : length);
}

ssize_t pwrite(int fd, const void *from, size_t length, off_t offset) {
    const struct way *way = length ? goes_wrong("pwrite", TRANSFER | FILLS_DISK, fd, NULL) : NULL;
    if (way && way->number)
        return -1;
    return BEHIND(pwrite)(fd, from, way ? 1 : length, offset);
}

ssize_t pwrite64(int fd, const void *from, size_t length, off64_t offset) {
    return pwrite(fd, from, length, offset);
}

int fsync(int fd) {
    return goes_wrong("fsync", FAILS | ENDS_BY_SIGNAL | FILLS_DISK, fd, NULL) ? -1 : BEHIND(fsync)(fd);
}

int rename(const char *from, const char *to) {
    return goes_wrong("rename", FAILS | FILLS_DISK, -1, to) ? -1 : BEHIND(rename)(from, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    return goes_wrong("renameat2", FAILS | FILLS_DISK, -1, to)
               ? -1
               : BEHIND(renameat2)(from_folder, from, to_folder, to, flags);
}

/* On Linux, close(2) closes the descriptor even if it fails. */
int close(int fd) {
    const struct way *way = goes_wrong("close", FAILS | ENDS_BY_SIGNAL | FILLS_DISK, fd, NULL);
    const int result = BEHIND(close)(fd);
    if (!way)
        return result;
    errno = way->number;
    return -1;
}

static bool makes_file(int how) {
    return (how & O_CREAT) || (how & O_TMPFILE) == O_TMPFILE;
}

static mode_t mode_of(int how, va_list more) {
    return makes_file(how) ? va_arg(more, mode_t) : 0;
}

/* A coverage build writes these files when the program ends: about a hundred calls that do not belong to the
 * program. */
static bool is_of_coverage(const char *path) {
    const size_t length = strlen(path);
    return length >= 5 && strcmp(path + length - 5, ".gcda") == 0;
}

static bool is_kept_from_opening(const char *call, int how, const char *path) {
    return !is_of_coverage(path) &&
           goes_wrong(call, FAILS | ENDS_BY_SIGNAL | (makes_file(how) ? FILLS_DISK : 0), -1, path) != NULL;
}

int open(const char *path, int how, ...) {
    va_list more;
    va_start(more, how);
    const mode_t mode = mode_of(how, more);
    va_end(more);
    return is_kept_from_opening("open", how, path) ? -1 : BEHIND(open)(path, how, mode);
}

int open64(const char *path, int how, ...) {
    va_list more;
    va_start(more, how);
    const mode_t mode = mode_of(how, more);
    va_end(more);
    return is_kept_from_opening("open", how, path) ? -1 : BEHIND(open64)(path, how, mode);
}

int openat(int folder, const char *path, int how, ...) {
    va_list more;
    va_start(more, how);
    const mode_t mode = mode_of(how, more);
    va_end(more);
    return is_kept_from_opening("openat", how, path) ? -1 : BEHIND(openat)(folder, path, how, mode);
}

int openat64(int folder, const char *path, int how, ...) {
    va_list more;
    va_start(more, how);
    const mode_t mode = mode_of(how, more);
    va_end(more);
    return is_kept_from_opening("openat", how, path) ? -1 : BEHIND(openat64)(folder, path, how, mode);
}

int fstat(int fd, struct stat *facts) {
    return goes_wrong("fstat", FAILS, fd, NULL) ? -1 : BEHIND(fstat)(fd, facts);
}

int fstat64(int fd, struct stat64 *facts) {
    return goes_wrong("fstat", FAILS, fd, NULL) ? -1 : BEHIND(fstat64)(fd, facts);
}

off_t lseek(int fd, off_t offset, int from) {
    return goes_wrong("lseek", FAILS, fd, NULL) ? -1 : BEHIND(lseek)(fd, offset, from);
}

off64_t lseek64(int fd, off64_t offset, int from) {
    return lseek(fd, offset, from);
}

int mkdir(const char *path, mode_t mode) {
    return goes_wrong("mkdir", FAILS | FILLS_DISK, -1, path) ? -1 : BEHIND(mkdir)(path, mode);
}

struct dirent *readdir(DIR *folder) {
    return goes_wrong("readdir", FAILS, dirfd(folder), NULL) ? NULL : BEHIND(readdir)(folder);
}

struct dirent64 *readdir64(DIR *folder) {
    return goes_wrong("readdir", FAILS, dirfd(folder), NULL) ? NULL : BEHIND(readdir64)(folder);
}
