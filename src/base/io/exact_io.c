/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes that transfer all bytes or fail: see exact_io.h. */
#include "base/io/exact_io.h"

#include <errno.h>
#include <unistd.h>

bool read_exactly(int fd, void *to, size_t length, uint64_t offset) {
    uint8_t *at = to;
    while (length > 0 && offset <= INT64_MAX) {
        const ssize_t got = pread(fd, at, length, (off_t)offset);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        const size_t taken = got > 0 ? (size_t)got : 0;
        at += taken;
        offset += taken;
        length -= taken;
    }
    return length == 0;
}

bool write_exactly(int fd, const void *bytes, size_t length) {
    for (size_t put = 0; put < length;) {
        const ssize_t n = write(fd, (const char *)bytes + put, length - put);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        put += n > 0 ? (size_t)n : 0;
    }
    return true;
}
