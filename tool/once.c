/* SPDX-License-Identifier: Apache-2.0 */
/* A file NAME in the cache folder contains the kernel's boot ID at the time of the message: see once.h. */
#include "once.h"

#include "caching.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define ID_ROOM 64u
#define PATH_ROOM 4200u

static bool read_line(const char *path, char to[ID_ROOM]) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const ssize_t length = fd < 0 ? -1 : read(fd, to, ID_ROOM - 1);
    if (fd >= 0)
        close(fd);
    to[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static bool path_of(const char *name, char path[PATH_ROOM]) {
    const char *const folder = cache_folder(true);
    const int length = folder && !getauxval(AT_SECURE) ? snprintf(path, PATH_ROOM, "%s/%s", folder, name) : -1;
    return length > 0 && (size_t)length < PATH_ROOM;
}

bool once_was_reported(const char *name) {
    char path[PATH_ROOM], kept[ID_ROOM], now[ID_ROOM];
    return path_of(name, path) && read_line(path, kept) && read_line(BOOT_ID, now) && strcmp(kept, now) == 0;
}

/* Makes the folder and its parent. */
static void make_folder(const char *path) {
    char folder[PATH_ROOM];
    const char *const last = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", (int)(last - path), path);
    char *const above = strrchr(folder, '/');
    if (above && above != folder) {
        *above = '\0';
        mkdir(folder, 0700);
        *above = '/';
    }
    mkdir(folder, 0700);
}

void once_remember(const char *name) {
    char path[PATH_ROOM], now[ID_ROOM];
    if (!path_of(name, path) || !read_line(BOOT_ID, now))
        return;
    make_folder(path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    const size_t length = strlen(now);
    if (fd >= 0 && write(fd, now, length) != (ssize_t)length)
        unlink(path);
    if (fd >= 0)
        close(fd);
}
