/* SPDX-License-Identifier: Apache-2.0 */
/* Files of lines in a folder of the user's: see line_cache.h. */
#include "line_cache.h"

#include "base/descriptor.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#define NAME_ROOM (2 * BUILD_ID_MOST + 32)
#define SUFFIX ".lines"
#define LOCK_NAME "lock"
#define MADE_PREFIX ".new-"
#define LOCK_TRIES 50u
#define LOCK_WAIT_NS 4000000
#define USED_AGAIN_S 3600 /* a file's time says when it was used last, to the hour */
#define ABANDONED_S 3600  /* a file that was never moved into place */
#define FILES_MOST 65536u

static void file_name(const struct line_key *key, char name[NAME_ROOM]) {
    char *at = name;
    for (size_t i = 0; i < key->id.size; i++)
        at += snprintf(at, 3, "%02x", key->id.bytes[i]);
    memcpy(at, SUFFIX, sizeof SUFFIX);
}

/* Of ours, and nobody else may write to it. */
static bool is_ours(const struct stat *facts) {
    return facts->st_uid == geteuid() && !(facts->st_mode & (S_IWGRP | S_IWOTH));
}

static int open_folder(const char *path) {
    struct stat facts;
    const int fd = descriptor_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0 || (fstat(fd, &facts) == 0 && is_ours(&facts)))
        return fd;
    close(fd);
    return -1;
}

/* With the folder above it: a home may have no .cache yet. */
static int make_folder(const char *path) {
    char above[4096];
    const int fd = open_folder(path);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    const char *slash = strrchr(path, '/');
    if (slash && slash > path && (size_t)(slash - path) < sizeof above) {
        memcpy(above, path, (size_t)(slash - path));
        above[slash - path] = '\0';
        mkdir(above, 0700);
    }
    mkdir(path, 0700);
    return open_folder(path);
}

/* --- Reading. */

static void note_use(int fd, const struct stat *facts) {
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) == 0 && now.tv_sec - facts->st_mtime > USED_AGAIN_S)
        futimens(fd, times);
}

/* The bytes of the file; NULL: there is none, or it is not to be believed. */
static uint8_t *read_file(int folder, const struct line_key *key, struct memory *memory, size_t *size) {
    char name[NAME_ROOM];
    struct stat facts;
    uint8_t *bytes = NULL;
    file_name(key, name);
    const int fd = descriptor_open(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && is_ours(&facts) && facts.st_size > 0 &&
        (uint64_t)facts.st_size <= LINE_IMAGE_MOST) {
        *size = (size_t)facts.st_size;
        bytes = mem_alloc(memory, *size, 1);
    }
    if (bytes && !read_exactly(fd, bytes, *size, 0)) {
        mem_free(memory, bytes, *size, 1);
        bytes = NULL;
    }
    if (bytes)
        note_use(fd, &facts);
    close(fd);
    return bytes;
}

static void forget(struct line_cache *c) {
    if (c->bytes)
        mem_free(c->memory, c->bytes, c->size, 1);
    c->bytes = NULL;
    c->image = (struct line_image){0};
}

static void read_image(struct line_cache *c, int folder) {
    forget(c);
    c->bytes = read_file(folder, &c->key, c->memory, &c->size);
    if (!c->bytes)
        return;
    const enum symbol_result result = line_image_open(&c->image, c->bytes, c->size, &c->key);
    c->state = result == SYMBOL_FOUND     ? LINE_CACHE_READ
               : result == SYMBOL_DAMAGED ? LINE_CACHE_DAMAGED
                                          : LINE_CACHE_NONE;
    if (result != SYMBOL_FOUND)
        forget(c);
}

void line_cache_open(struct line_cache *c, const char *folder, const struct line_key *key, struct memory *memory) {
    *c = (struct line_cache){.memory = memory, .folder = key->id.size ? folder : NULL, .key = *key};
    line_maker_init(&c->more, memory);
    const int fd = c->folder ? open_folder(c->folder) : -1;
    if (fd < 0)
        return;
    read_image(c, fd);
    close(fd);
}

bool line_cache_find(struct line_cache *c, uint64_t address, struct source_frames *frames) {
    const struct line_range *range = c->bytes ? line_image_find(&c->image, address) : NULL;
    if (!range || !line_image_frames(&c->image, range, c->frames, &frames->count))
        return false;
    frames->at = c->frames;
    frames->from = range->from;
    frames->end = range->end;
    return true;
}

void line_cache_add(struct line_cache *c, const struct source_frames *frames) {
    if (c->folder)
        line_maker_add(&c->more, frames);
}

/* --- Writing. */

/* -1: somebody else keeps it for longer than it is worth waiting. */
static int take_lock(int folder) {
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

static void put_file(int folder, const struct line_key *key, const uint8_t *bytes, size_t size) {
    char name[NAME_ROOM], made[NAME_ROOM];
    file_name(key, name);
    snprintf(made, sizeof made, MADE_PREFIX "%ld", (long)getpid()); /* the lock is ours: one at a time */
    unlinkat(folder, made, 0);
    if (!write_new(folder, made, bytes, size) || renameat(folder, made, folder, name) != 0)
        unlinkat(folder, made, 0);
}

/* --- What is too much. */

struct kept_file {
    char name[NAME_ROOM];
    int64_t used;
    uint64_t size;
};

static int compare_files(const void *a, const void *b) {
    const struct kept_file *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

static bool is_kept(const char *name) {
    const size_t length = strlen(name), more = sizeof SUFFIX - 1;
    return length > more && length < NAME_ROOM && strcmp(name + length - more, SUFFIX) == 0;
}

static void remove_abandoned(int folder, const char *name, const struct stat *facts) {
    struct timespec now;
    if (strncmp(name, MADE_PREFIX, sizeof MADE_PREFIX - 1) == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0 &&
        now.tv_sec - facts->st_mtime > ABANDONED_S)
        unlinkat(folder, name, 0);
}

/* The files of the folder, into `files`, which has grown to *room; the sum of their sizes. */
static uint64_t list_files(DIR *list, struct memory *memory, struct kept_file **files, size_t *count, size_t *room) {
    const struct dirent *entry;
    struct stat facts;
    uint64_t sum = 0;
    for (unsigned n = 0; n < FILES_MOST && (entry = readdir(list)); n++) {
        if (fstatat(dirfd(list), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode))
            continue;
        remove_abandoned(dirfd(list), entry->d_name, &facts);
        if (!is_kept(entry->d_name))
            continue;
        struct kept_file *grown = mem_grow(memory, *files, *count, room, 64, sizeof *grown);
        if (!grown)
            return 0;
        *files = grown;
        struct kept_file *file = &(*files)[(*count)++];
        snprintf(file->name, sizeof file->name, "%s", entry->d_name);
        file->used = facts.st_mtime;
        file->size = (uint64_t)facts.st_size;
        sum += file->size;
    }
    return sum;
}

static void bound_folder(int folder, struct memory *memory) {
    struct kept_file *files = NULL;
    size_t count = 0, room = 0;
    const int again = dup(folder);
    DIR *list = again >= 0 ? fdopendir(again) : NULL;
    if (!list) {
        if (again >= 0)
            close(again);
        return;
    }
    uint64_t sum = list_files(list, memory, &files, &count, &room);
    if (sum > LINE_CACHE_MOST)
        qsort(files, count, sizeof *files, compare_files);
    for (size_t i = 0; i < count && sum > LINE_CACHE_MOST; sum -= files[i++].size)
        unlinkat(folder, files[i].name, 0);
    mem_free(memory, files, room, sizeof *files);
    closedir(list);
}

/* With what others wrote meanwhile. */
static void write_image(struct line_cache *c, int folder) {
    size_t size;
    read_image(c, folder);
    if (c->bytes && !line_maker_add_image(&c->more, &c->image))
        return;
    uint8_t *bytes = line_maker_write(&c->more, &c->key, &size);
    if (!bytes)
        return;
    put_file(folder, &c->key, bytes, size);
    mem_free(c->memory, bytes, size, 1);
    bound_folder(folder, c->memory);
}

void line_cache_close(struct line_cache *c) {
    if (!c->memory)
        return;
    const int folder = c->folder && c->more.count ? make_folder(c->folder) : -1;
    const int lock = folder >= 0 ? take_lock(folder) : -1;
    if (lock >= 0) {
        write_image(c, folder);
        close(lock);
    }
    if (folder >= 0)
        close(folder);
    forget(c);
    line_maker_free(&c->more);
    *c = (struct line_cache){0};
}
