/* SPDX-License-Identifier: Apache-2.0 */
/* See tracing_finish_in_place.h. */
#include "tracing/tracing_finish_in_place.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#define LEAST ((uint64_t)16 << 20)
#define PART 128u /* at most 1/PART of the slots is padding and function lists */
#define FREQUENCY_AT 8
#define PAGE 4096u

_Static_assert(RTF_CONTROL_AT + sizeof(struct rtf_control) <= PAGE, "one write of it is there whole or not at all");

bool tracing_may_settle(const struct rtf_control *c, const struct rtf_use *use) {
    const uint64_t size = use->slots * c->slot_size;
    return !c->keep_last && size >= LEAST && use->bytes <= size && size - use->bytes <= size / PART;
}

/*
 * A process that opens the file while we hold the lease waits, and we get a signal: SIGURG, which is ignored by
 * default. Returns false with errno on failure.
 */
static bool take_lease(int fd, int kind) {
    return fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, kind) == 0;
}

bool tracing_is_written(int fd) {
    if (!take_lease(fd, F_RDLCK))
        return errno == EAGAIN;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return false;
}

static bool write_at(int fd, const void *bytes, size_t size, uint64_t at) {
    return pwrite(fd, bytes, size, (off_t)at) == (ssize_t)size;
}

static bool settle(int fd, const struct rtf_pack *p, const struct rtf_use *use) {
    static const uint8_t empty[RTF_EXTENTS] = {7 << 1 | 1};
    const uint64_t end = p->control.slots_at + use->slots * p->control.slot_size;
    struct rtf_control c = p->control;
    c.note.kind = RTF_SETTLED;
    c.nr_slots = use->slots;
    return (!p->frequency || write_at(fd, &p->frequency, sizeof p->frequency, FREQUENCY_AT)) &&
           write_at(fd, empty, sizeof empty, end) && write_at(fd, &c, sizeof c, RTF_CONTROL_AT) &&
           ftruncate(fd, (off_t)(end + sizeof empty)) == 0;
}

bool tracing_settle(int fd, const struct rtf_pack *p, const struct rtf_use *use) {
    if (!take_lease(fd, F_WRLCK))
        return false;
    const bool done = settle(fd, p, use);
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return done;
}
