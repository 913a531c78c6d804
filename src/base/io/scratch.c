/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary files: see scratch.h. */
#include "base/io/scratch.h"

#include <stdlib.h>
#include "base/io/descriptor.h"
#include "base/memory/fail.h"

static const char *folder(void) {
    const char *wanted = getenv("TMPDIR");
    return wanted && *wanted ? wanted : "/tmp";
}

pfr_status scratch_open(int *fd, pfr_error *err) {
    *fd = descriptor_open(AT_FDCWD, folder(), O_TMPFILE | O_RDWR, 0600);
    return *fd < 0 ? pfr_fail_errno(err, errno, "make a temporary file in", folder()) : PFR_OK;
}

pfr_status scratch_write(int fd, const void *bytes, size_t length, pfr_error *err) {
    const uint8_t *at = bytes;
    while (length > 0) {
        const ssize_t wrote = write(fd, at, length);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return pfr_fail_errno(err, wrote < 0 ? errno : ENOSPC, "write a temporary file in", folder());
        at += wrote;
        length -= (size_t)wrote;
    }
    return PFR_OK;
}

pfr_status scratch_read_at(int fd, uint64_t offset, void *to, size_t length, size_t *got, pfr_error *err) {
    *got = 0;
    while (*got < length) {
        const ssize_t n = pread(fd, (uint8_t *)to + *got, length - *got, (off_t)(offset + *got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pfr_fail_errno(err, errno, "read a temporary file in", folder());
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return PFR_OK;
}

pfr_status scratch_rewind(int fd, pfr_error *err) {
    return lseek(fd, 0, SEEK_SET) < 0 ? pfr_fail_errno(err, errno, "go back in a temporary file in", folder()) : PFR_OK;
}
