/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_KERNEL_H
#define PFR_RECORD_KERNEL_H
/*
 * The recorder's interface to the kernel: a table of functions, and the folders with the kernel's information.
 * real_kernel is the running kernel; tests use scripted kernels to simulate other machines.
 *
 * Functions return the same values as the system calls of their names, and on failure -1 with errno. See
 * perf_event_open(2) and linux/perf_event.h.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct kernel {
    int (*open)(void *context, struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags);
    /* Returns MAP_FAILED on failure. If `overwrites` is set, the mapping is read-only, so the kernel overwrites old
     * records when the ring is full. */
    void *(*map)(void *context, int fd, size_t length, uint64_t offset, bool overwrites);
    void (*unmap)(void *context, void *at, size_t length);
    int (*control)(void *context, int fd, unsigned long request, uintptr_t argument); /* ioctl(2) */
    ssize_t (*read)(void *context, int fd, void *to, size_t length);
    void (*close)(void *context, int fd);
    /* `watch` adds fd to the epoll descriptor `watch`. If `watch` is -1, it makes a new epoll descriptor first. `wait`
     * waits at most `milliseconds` for one of the descriptors that were added. */
    int (*watch)(void *context, int watch, int fd);
    int (*wait)(void *context, int watch, int milliseconds);
    void *context;
    const char *proc, *sys, *tracing; /* "/proc", "/sys", "/sys/kernel/tracing" */
};

extern const struct kernel real_kernel;

/* Reads a small file, at most room - 1 bytes, without the last newline. Returns the length; -1 with errno if it cannot
 * be read. */
ssize_t kernel_text(char *to, size_t room, const char *folder, const char *path, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads the number in a small file. Returns `otherwise` if the file has no number or cannot be read. */
int64_t kernel_number(int64_t otherwise, const char *folder, const char *path, ...)
    __attribute__((format(printf, 3, 4)));

#endif
