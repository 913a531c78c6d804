/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_DESCRIPTOR_H
#define PFR_BASE_DESCRIPTOR_H
/* Opening and closing where a signal may come between (signal(7)): it is no failure of either. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

/* openat(2), begun again when a signal ends it; O_CLOEXEC is added. `folder` AT_FDCWD: as open(2). */
static inline int descriptor_open(int folder, const char *path, int how, mode_t mode) {
    int fd;
    do
        fd = openat(folder, path, how | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* close(2), for those who wrote: false, with errno, when what was written may be lost. The descriptor is gone in any
   case, also when a signal came, so it is never begun again. */
static inline bool descriptor_close(int fd) {
    return close(fd) == 0 || errno == EINTR;
}

#endif
