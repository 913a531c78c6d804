/* SPDX-License-Identifier: Apache-2.0 */
/* Folders that are outputs: see folder.h. */
#include "export/binary/folder.h"

#include "base/memory/fail.h"

#include <errno.h>
#include <sys/stat.h>

pfr_status folder_make(const char *path, pfr_error *err) {
    struct stat is;
    if (!path)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "path",
                        "the format is a directory; give its name with -o DIR");
    if (mkdir(path, 0700) == 0)
        return PFR_OK;
    if (errno != EEXIST)
        return pfr_fail_errno(err, errno, "cannot make", path);
    if (lstat(path, &is) < 0)
        return pfr_fail_errno(err, errno, "cannot look at", path);
    return S_ISDIR(is.st_mode)
               ? PFR_OK
               : pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "path", "%.200s is not a directory", path);
}

void folder_path(struct output *to, const char *path, const char *name) {
    out_text(to, path);
    out_char(to, '/');
    out_text(to, name);
    out_char(to, 0);
}
