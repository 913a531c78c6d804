/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the file of an input with read(2) and pread(2), and checks that it is still the file that was opened. */
#include "base/io/input_raw.h"

#include "base/memory/fail.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static ssize_t libc_read(void *context, int fd, void *to, size_t length) {
    (void)context;
    return read(fd, to, length);
}

static ssize_t libc_pread(void *context, int fd, void *to, size_t length, off_t offset) {
    (void)context;
    return pread(fd, to, length, offset);
}

const struct input_calls input_libc_calls = {libc_read, libc_pread, NULL};

struct input_identity input_identity_of(const struct stat *st) {
    return (struct input_identity){
        .device = (uint64_t)st->st_dev,
        .inode = (uint64_t)st->st_ino,
        .size = (uint64_t)st->st_size,
        .modified_seconds = st->st_mtim.tv_sec,
        .modified_nanoseconds = st->st_mtim.tv_nsec,
    };
}

static bool same_identity(const struct input_identity *a, const struct input_identity *b) {
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified_seconds == b->modified_seconds && a->modified_nanoseconds == b->modified_nanoseconds;
}

pfr_status input_check_unchanged(const struct input *in, pfr_error *err) {
    struct stat st;
    if (!in->regular)
        return PFR_OK;
    if (fstat(in->fd, &st) < 0)
        return pfr_fail_errno(err, errno, "examine", "the input");
    const struct input_identity now = input_identity_of(&st);
    if (same_identity(&now, &in->identity))
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_CHANGED, PFR_NO_OFFSET, 0, "input",
                    "the file changed while it was read: it had %" PRIu64 " bytes, now %" PRIu64, in->identity.size,
                    now.size);
}

static pfr_status report_read_error(uint64_t offset, pfr_error *err) {
    const pfr_status status = pfr_fail_errno(err, errno, "read", "the input");
    if (err)
        err->offset = offset;
    return status;
}

/* Reads from a stream once; waits for data even if the descriptor is non-blocking. *got is 0 at the end. */
pfr_status input_read_stream(struct input *in, void *to, size_t room, size_t *got, pfr_error *err) {
    *got = 0;
    for (;;) {
        const ssize_t n = in->calls.read(in->calls.context, in->fd, to, room);
        if (n >= 0) {
            *got = (size_t)n;
            in->raw_read += (uint64_t)n;
            return PFR_OK;
        }
        if (errno == EAGAIN)
            poll(&(struct pollfd){.fd = in->fd, .events = POLLIN}, 1, -1);
        else if (errno != EINTR)
            return report_read_error(in->raw_read, err);
    }
}

/* Reads from a regular file once, with pread. *got is 0 if there are no bytes at this offset. */
static pfr_status read_file(struct input *in, uint64_t offset, void *to, size_t room, size_t *got, pfr_error *err) {
    ssize_t n;
    *got = 0;
    do
        n = in->calls.pread(in->calls.context, in->fd, to, room, (off_t)offset);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return report_read_error(offset, err);
    *got = (size_t)n;
    in->raw_read += (uint64_t)n;
    return PFR_OK;
}

pfr_status input_read_least(struct input *in, uint64_t offset, uint8_t *to, size_t least, size_t room, size_t *got,
                            pfr_error *err) {
    size_t part;
    *got = 0;
    while (*got < least) {
        PFR_TRY(read_file(in, offset + *got, to + *got, room - *got, &part, err));
        if (part == 0) {
            PFR_TRY(input_check_unchanged(in, err));
            in->size = offset + *got;
            break;
        }
        *got += part;
    }
    return PFR_OK;
}

/* Reads the raw bytes of a compressed regular file or stream, in order. */
pfr_status input_read_raw(void *context, uint8_t *to, size_t room, size_t *got, pfr_error *err) {
    struct input *in = context;
    if (!in->regular)
        return input_read_stream(in, to, room, got, err);
    PFR_TRY(read_file(in, in->raw_read, to, room, got, err));
    return *got == 0 && in->raw_read < in->raw_size ? input_check_unchanged(in, err) : PFR_OK;
}
