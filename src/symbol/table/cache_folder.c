/* SPDX-License-Identifier: Apache-2.0 */
/* A cache folder of the user; see cache_folder.h. */
#include "symbol/table/cache_folder.h"
#include "base/io/exact_io.h"

#include "base/io/descriptor.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#define LOCK_NAME "lock"
#define MADE_PREFIX ".new-"
#define LOCK_TRIES 50u
#define LOCK_WAIT_NS 4000000
#define USED_AGAIN_S 3600 /* the time of a file, which is its last use, is updated only if it is older than this */
#define ABANDONED_S 3600  /* age of a temporary file that was never renamed */
#define FILES_MOST 65536u

/* Whether the file is owned by this user and not writable by others. */
static bool is_ours(const struct stat *facts) {
    return facts->st_uid == geteuid() && !(facts->st_mode & (S_IWGRP | S_IWOTH));
}

int cache_folder_open(const char *path) {
    struct stat facts;
    const int fd = descriptor_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0 || (fstat(fd, &facts) == 0 && is_ours(&facts)))
        return fd;
    close(fd);
    return -1;
}

/* Also makes the parent folder, because a home directory may have no .cache yet. */
int cache_folder_make(const char *path) {
    char above[4096];
    const int fd = cache_folder_open(path);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    const char *slash = strrchr(path, '/');
    if (slash && slash > path && (size_t)(slash - path) < sizeof above) {
        memcpy(above, path, (size_t)(slash - path));
        above[slash - path] = '\0';
        mkdir(above, 0700);
    }
    mkdir(path, 0700);
    return cache_folder_open(path);
}

/* --- Reading. */

static void note_use(int fd, const struct stat *facts) {
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) == 0 && now.tv_sec - facts->st_mtime > USED_AGAIN_S)
        futimens(fd, times);
}

int cache_file_open(int folder, const char *name, uint64_t most_bytes, uint64_t *size) {
    struct stat facts;
    const int fd = descriptor_open(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return -1;
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && is_ours(&facts) && facts.st_size > 0 &&
        (uint64_t)facts.st_size <= most_bytes) {
        *size = (uint64_t)facts.st_size;
        note_use(fd, &facts);
        return fd;
    }
    close(fd);
    return -1;
}

uint8_t *cache_file_read(int folder, const char *name, uint64_t most_bytes, struct memory *memory, size_t *size) {
    uint64_t length;
    const int fd = cache_file_open(folder, name, most_bytes, &length);
    if (fd < 0)
        return NULL;
    uint8_t *bytes = mem_alloc(memory, *size = (size_t)length, 1);
    if (bytes && !read_exactly(fd, bytes, *size, 0)) {
        mem_free(memory, bytes, *size, 1);
        bytes = NULL;
    }
    close(fd);
    return bytes;
}

/* --- Writing. */

int cache_folder_lock(int folder) {
    const struct timespec moment = {.tv_nsec = LOCK_WAIT_NS};
    const int fd = descriptor_open(folder, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    for (unsigned i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        nanosleep(&moment, NULL);
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool write_new(int folder, const char *name, const uint8_t *bytes, size_t size) {
    const int fd = descriptor_open(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    const bool written = write_exactly(fd, bytes, size);
    return descriptor_close(fd) && written;
}

void cache_file_put(int folder, const char *name, const uint8_t *bytes, size_t size) {
    char made[32];
    snprintf(made, sizeof made, MADE_PREFIX "%ld", (long)getpid()); /* the name is unique because the lock is held */
    unlinkat(folder, made, 0);
    if (!write_new(folder, made, bytes, size) || renameat(folder, made, folder, name) != 0)
        unlinkat(folder, made, 0);
}

/* --- Limiting the total size. */

struct kept_file {
    char name[CACHE_NAME_ROOM];
    int64_t used;
    uint64_t size;
};

static int compare_files(const void *a, const void *b) {
    const struct kept_file *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

static bool is_kept(const char *name, const char *suffix) {
    const size_t length = strlen(name), more = strlen(suffix);
    return length > more && length < CACHE_NAME_ROOM && strcmp(name + length - more, suffix) == 0;
}

static void remove_abandoned(int folder, const char *name, const struct stat *facts) {
    struct timespec now;
    if (strncmp(name, MADE_PREFIX, sizeof MADE_PREFIX - 1) == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0 &&
        now.tv_sec - facts->st_mtime > ABANDONED_S)
        unlinkat(folder, name, 0);
}

/* Lists the files with this suffix; *files is grown to *room. Returns the sum of their sizes, 0 if out of memory. */
static uint64_t list_files(DIR *list, const char *suffix, struct memory *memory, struct kept_file **files,
                           size_t *count, size_t *room) {
    const struct dirent *entry;
    struct stat facts;
    uint64_t sum = 0;
    for (unsigned n = 0; n < FILES_MOST && (entry = readdir(list)); n++) {
        if (fstatat(dirfd(list), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode))
            continue;
        remove_abandoned(dirfd(list), entry->d_name, &facts);
        if (!is_kept(entry->d_name, suffix))
            continue;
        struct kept_file *grown = mem_grow(memory, *files, *count, room, 64, sizeof *grown);
        if (!grown)
            return 0;
        *files = grown;
        struct kept_file *file = &(*files)[(*count)++];
        memcpy(file->name, entry->d_name, strlen(entry->d_name) + 1);
        file->used = facts.st_mtime;
        file->size = (uint64_t)facts.st_size;
        sum += file->size;
    }
    return sum;
}

void cache_folder_bound(int folder, const char *suffix, uint64_t most_bytes, struct memory *memory) {
    struct kept_file *files = NULL;
    size_t count = 0, room = 0;
    const int again = dup(folder);
    DIR *list = again >= 0 ? fdopendir(again) : NULL;
    if (!list) {
        if (again >= 0)
            close(again);
        return;
    }
    uint64_t sum = list_files(list, suffix, memory, &files, &count, &room);
    if (sum > most_bytes)
        qsort(files, count, sizeof *files, compare_files);
    for (size_t i = 0; i < count && sum > most_bytes; sum -= files[i++].size)
        unlinkat(folder, files[i].name, 0);
    mem_free(memory, files, room, sizeof *files);
    closedir(list);
}
