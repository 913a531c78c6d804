/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the recorder's file to a standard trace (perfray/tracing.h), with wire/recorder_pack.h. */
#include <perfray/tracing.h>

#include "base/memory/fail.h"
#include "base/io/whole_file.h"
#include "tracing/tracing_finish_in_place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COPY_ROOM ((size_t)1 << 16)
#define NS_PER_SECOND 1000000000u
#define RECORD 8u /* size of an entry or exit record */

struct finishing {
    const char *path;
    int fd;
    struct rtf_pack pack;
    struct rtf_use use;
    struct memory memory;
    struct whole_file file;
    struct output out;
};

static bool read_at(void *context, uint64_t at, void *to, size_t size) {
    const struct finishing *f = context;
    for (char *p = to; size;) {
        const ssize_t got = pread(f->fd, p, size, (off_t)at);
        if (got <= 0 && (got == 0 || errno != EINTR))
            return false;
        at += got > 0 ? (uint64_t)got : 0;
        p += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool write_out(void *context, const void *bytes, size_t size) {
    struct finishing *f = context;
    out_write(&f->out, bytes, size);
    return f->out.status >= 0;
}

/* Ticks per second, measured over the whole run, if the recorder used this machine's time-stamp counter; 0: unknown. */
static uint64_t rate_since(const struct rtf_control *c) {
#if defined __x86_64__
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t tsc = __builtin_ia32_rdtsc();
    const uint64_t now_ns = (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
    if (!c->is_tsc || tsc <= c->start_tsc || now_ns <= c->start_ns)
        return 0;
    return (uint64_t)((unsigned __int128)(tsc - c->start_tsc) * NS_PER_SECOND / (now_ns - c->start_ns));
#else
    (void)c;
    return 0;
#endif
}

static pfr_status why_not(const struct finishing *f, enum rtf_packed result, pfr_error *err) {
    (void)f;
    if (result == RTF_NO_READ)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "trace", "the recorded data cannot be read: %s",
                        strerror(errno));
    return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "trace",
                    "no space for the finished trace; the recorded data stay in the unfinished file");
}

static void fill_result(const struct finishing *f, pfr_tracing_result *result) {
    const struct rtf_control *const c = &f->pack.control;
    if (!result)
        return;
    result->recorded = true;
    result->records = f->use.records / RECORD;
    result->is_open = tracing_is_written(f->fd);
    result->is_full = c->full != 0;
    result->functions = c->next_function;
    result->lost = c->lost[RTF_BUSY] + c->lost[RTF_TABLE] + c->lost[RTF_TOO_LARGE] + c->lost[RTF_SLED] +
                   (c->full ? 0 : c->lost[RTF_FULL]);
}

static pfr_status pack(struct finishing *f, pfr_error *err) {
    PFR_TRY(whole_file_open(&f->file, f->path, &f->memory, &f->out, err));
    const enum rtf_packed packed = rtf_pack_run(&f->pack);
    const pfr_status st = whole_file_close(&f->file, &f->out, packed == RTF_PACKED, err);
    return packed == RTF_PACKED ? st : why_not(f, packed, err);
}

/* Opens the file again for writing and checks that it is still the same file. Closes the first descriptor, because
 * a write lease is granted only if no other descriptor of the file is open. */
static bool settle(struct finishing *f) {
    struct stat before, now;
    if (!tracing_may_settle(&f->pack.control, &f->use))
        return false;
    const int fd = open(f->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (fstat(f->fd, &before) != 0 || fstat(fd, &now) != 0 || before.st_dev != now.st_dev ||
        before.st_ino != now.st_ino) {
        close(fd);
        return false;
    }
    close(f->fd);
    f->fd = fd;
    return tracing_settle(fd, &f->pack, &f->use);
}

static pfr_status finish(struct finishing *f, pfr_tracing_result *result, pfr_error *err) {
    struct stat facts;
    if (fstat(f->fd, &facts) != 0 || !S_ISREG(facts.st_mode))
        return pfr_fail(err, PFR_ERR_FORMAT, PFR_NO_OFFSET, 0, "trace", "is not a regular file");
    f->pack.size = (uint64_t)facts.st_size;
    const enum rtf_packed checked = rtf_pack_check(&f->pack);
    if (checked == RTF_NO_READ)
        return why_not(f, checked, err);
    if (checked != RTF_PACKED)
        return PFR_OK;
    const enum rtf_packed measured = rtf_pack_measure(&f->pack, &f->use);
    if (measured != RTF_PACKED)
        return why_not(f, measured, err);
    fill_result(f, result);
    f->pack.frequency = rate_since(&f->pack.control);
    return settle(f) ? PFR_OK : pack(f, err);
}

pfr_status pfr_tracing_finish(const char *path, pfr_tracing_result *result, pfr_error *err) {
    struct finishing f = {.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    if (f.fd < 0)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "trace", "cannot be opened: %s", strerror(errno));
    memory_init(&f.memory, NULL, 0);
    f.pack = (struct rtf_pack){.read = read_at, .write = write_out, .context = &f, .room_size = COPY_ROOM};
    f.pack.room = mem_alloc(&f.memory, COPY_ROOM, 1);
    const pfr_status st = f.pack.room ? finish(&f, result, err) : mem_fail(&f.memory, err, "trace");
    mem_free(&f.memory, f.pack.room, COPY_ROOM, 1);
    close(f.fd);
    return st;
}
