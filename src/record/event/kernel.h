/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_KERNEL_H
#define PFR_RECORD_KERNEL_H
/*
 * The kernel as the recorder sees it: a table of functions and the folders where it tells about itself. real_kernel is
 * the one we run on; tests give a scripted one, which does what this machine cannot.
 *
 * Functions return what the system calls of the same name return; on failure -1 with errno.
 * See perf_event_open(2) and linux/perf_event.h.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct kernel {
    int (*open)(void *context, struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags);
    /* MAP_FAILED. One that only reads lets the kernel overwrite what is old: it never finds its ring full. */
    void *(*map)(void *context, int fd, size_t length, uint64_t offset, bool overwrites);
    void (*unmap)(void *context, void *at, size_t length);
    int (*control)(void *context, int fd, unsigned long request, uintptr_t argument); /* ioctl(2) */
    ssize_t (*read)(void *context, int fd, void *to, size_t length);
    void (*close)(void *context, int fd);
    /* Waits until one of the watched descriptors has something, or so many milliseconds. `watch` -1: a new one. */
    int (*watch)(void *context, int watch, int fd);
    int (*wait)(void *context, int watch, int milliseconds);
    void *context;
    const char *proc, *sys, *tracing; /* "/proc", "/sys", "/sys/kernel/tracing" */
};

extern const struct kernel real_kernel;

/* The text of a small file of the kernel's, at most room - 1 bytes, without the line end; its length, -1: errno. */
ssize_t kernel_text(char *to, size_t room, const char *folder, const char *path, ...)
    __attribute__((format(printf, 4, 5)));

/* The number in such a file; `otherwise` where there is none. */
int64_t kernel_number(int64_t otherwise, const char *folder, const char *path, ...)
    __attribute__((format(printf, 3, 4)));

#endif
