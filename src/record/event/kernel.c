/* SPDX-License-Identifier: Apache-2.0 */
/* System calls of the real kernel, and readers of small files in /proc, /sys and tracefs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "record/event/kernel.h"

static int real_open(void *context, struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags) {
    (void)context;
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
}

static void *real_map(void *context, int fd, size_t length, uint64_t offset, bool overwrites) {
    (void)context;
    return mmap(NULL, length, PROT_READ | (overwrites ? 0 : PROT_WRITE), MAP_SHARED, fd, (off_t)offset);
}

static void real_unmap(void *context, void *at, size_t length) {
    (void)context;
    munmap(at, length);
}

static int real_control(void *context, int fd, unsigned long request, uintptr_t argument) {
    (void)context;
    return ioctl(fd, request, argument);
}

static ssize_t real_read(void *context, int fd, void *to, size_t length) {
    (void)context;
    return read(fd, to, length);
}

static void real_close(void *context, int fd) {
    (void)context;
    close(fd);
}

static int real_watch(void *context, int watch, int fd) {
    (void)context;
    if (watch < 0)
        return epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};
    return epoll_ctl(watch, EPOLL_CTL_ADD, fd, &event);
}

/* Waits for a counter. A counter whose task has ended reports a hang-up for ever, so it is removed from the watch. */
static int real_wait(void *context, int watch, int milliseconds) {
    struct epoll_event events[64];
    (void)context;
    const int count = epoll_wait(watch, events, 64, milliseconds);
    for (int i = 0; i < count; i++)
        if (events[i].events & (EPOLLHUP | EPOLLERR))
            epoll_ctl(watch, EPOLL_CTL_DEL, events[i].data.fd, NULL);
    return count;
}

const struct kernel real_kernel = {
    .open = real_open,
    .map = real_map,
    .unmap = real_unmap,
    .control = real_control,
    .read = real_read,
    .close = real_close,
    .watch = real_watch,
    .wait = real_wait,
    .proc = "/proc",
    .sys = "/sys",
    .tracing = "/sys/kernel/tracing",
};

static ssize_t read_text(int fd, char *to, size_t room) {
    size_t used = 0;
    ssize_t got;
    while (used + 1 < room && (got = read(fd, to + used, room - 1 - used)) != 0) {
        if (got < 0 && errno != EINTR)
            return -1;
        used += got > 0 ? (size_t)got : 0;
    }
    while (used > 0 && (to[used - 1] == '\n' || to[used - 1] == '\0'))
        used--;
    to[used] = '\0';
    return (ssize_t)used;
}

static ssize_t text_at(char *to, size_t room, const char *folder, const char *path, va_list arguments) {
    char whole[PATH_MAX];
    const int head = snprintf(whole, sizeof whole, "%s/", folder);
    to[0] = '\0';
    if (head < 0 || head >= PATH_MAX ||
        vsnprintf(whole + head, sizeof whole - (size_t)head, path, arguments) >= PATH_MAX - head) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = open(whole, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const ssize_t length = read_text(fd, to, room);
    const int why = errno;
    close(fd);
    errno = why;
    return length;
}

ssize_t kernel_text(char *to, size_t room, const char *folder, const char *path, ...) {
    va_list arguments;
    va_start(arguments, path);
    const ssize_t length = text_at(to, room, folder, path, arguments);
    va_end(arguments);
    return length;
}

int64_t kernel_number(int64_t otherwise, const char *folder, const char *path, ...) {
    char text[64];
    char *end;
    va_list arguments;
    va_start(arguments, path);
    const ssize_t length = text_at(text, sizeof text, folder, path, arguments);
    va_end(arguments);
    if (length <= 0)
        return otherwise;
    errno = 0;
    const long long value = strtoll(text, &end, 0);
    return errno != 0 || end == text ? otherwise : (int64_t)value;
}
