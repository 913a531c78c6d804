/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_DESCRIPTOR_H
#define PFR_BASE_DESCRIPTOR_H
/* open(2) and close(2) that do not fail when a signal arrives during the call (EINTR, signal(7)). */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

/* openat(2) with O_CLOEXEC, restarted after EINTR. If `folder` is AT_FDCWD, this is open(2). */
static inline int descriptor_open(int folder, const char *path, int how, mode_t mode) {
    int fd;
    do
        fd = openat(folder, path, how | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* close(2) for written files. Returns false, with errno set, if written data may be lost. Linux closes the descriptor
   even if the call returns EINTR, so the call is never repeated. */
static inline bool descriptor_close(int fd) {
    return close(fd) == 0 || errno == EINTR;
}

#endif
