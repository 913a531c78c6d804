/* SPDX-License-Identifier: Apache-2.0 */
/* Files with a temporary name until they are complete: see whole_file.h. */
#include "base/io/whole_file.h"

#include "base/io/descriptor.h"
#include "base/memory/fail.h"

#include <stdio.h>
#include <sys/stat.h>

#define ENDING ((size_t)32) /* room for .PID.new */

static void forget(struct whole_file *file) {
    mem_free(file->memory, file->path, file->room, 1);
    file->path = file->unfinished = NULL;
}

static pfr_status make_names(struct whole_file *file, const char *path, pfr_error *err) {
    const size_t length = strlen(path);
    file->room = 2 * length + 1 + ENDING;
    file->path = mem_alloc(file->memory, file->room, 1);
    if (!file->path)
        return mem_fail(file->memory, err, "file");
    file->unfinished = file->path + length + 1;
    memcpy(file->path, path, length + 1);
    snprintf(file->unfinished, length + ENDING, "%s.%ld.new", path, (long)getpid());
    return PFR_OK;
}

static bool is_device(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0 && S_ISCHR(st.st_mode);
}

static int open_unfinished(const struct whole_file *file) {
    if (file->is_device)
        return descriptor_open(AT_FDCWD, file->path, O_WRONLY | O_NOFOLLOW | O_NOCTTY, 0);
    return descriptor_open(AT_FDCWD, file->unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
}

static void take_away(const struct whole_file *file) {
    if (!file->is_device)
        unlink(file->unfinished);
}

pfr_status whole_file_open(struct whole_file *file, const char *path, struct memory *memory, struct output *out,
                           pfr_error *err) {
    *file = (struct whole_file){.memory = memory, .is_device = is_device(path)};
    PFR_TRY(make_names(file, path, err));
    const int fd = open_unfinished(file);
    pfr_status st = fd < 0 ? pfr_fail_errno(err, errno, "make", path) : PFR_OK;
    if (fd >= 0)
        st = out_open_fd(out, fd, true, memory, NULL, err);
    if (fd >= 0 && st < 0)
        take_away(file);
    if (st < 0)
        forget(file);
    return st;
}

pfr_status whole_file_close(struct whole_file *file, struct output *out, bool is_whole, pfr_error *err) {
    pfr_status st = out_close(out, is_whole ? err : NULL);
    if (st >= 0 && is_whole && !file->is_device && rename(file->unfinished, file->path) < 0)
        st = pfr_fail_errno(err, errno, "name", file->path);
    if (st < 0 || !is_whole)
        take_away(file);
    forget(file);
    return st;
}

pfr_status whole_file_may_be(const char *path, pfr_error *err) {
    struct stat st;
    if (lstat(path, &st) < 0 || S_ISREG(st.st_mode))
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "output", "%.80s is not a regular file and is not replaced",
                    path);
}

pfr_status whole_file_may_go_to(const char *path, pfr_error *err) {
    return is_device(path) ? PFR_OK : whole_file_may_be(path, err);
}
