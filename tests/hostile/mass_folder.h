/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_MASS_FOLDER_H
#define PFR_TESTS_MASS_FOLDER_H
/* Export formats that are folders: written into a folder below TMPDIR, which is then removed. */
#include "fuzz_drawn.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfray/export.h>

static void remove_folder(const char *path) {
    char name[600];
    DIR *dir = opendir(path);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        unlink(name); /* has no effect on . and .. */
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

static pfr_status print_folder(pfr_reader *reader, pfr_output *out, const char *format, const pfr_selection *of,
                               pfr_error *err) {
    const char *tmp = getenv("TMPDIR");
    char path[300];
    snprintf(path, sizeof path, "%s/perfray-mass-%ld", tmp ? tmp : "/tmp", (long)getpid());
    remove_folder(path);
    const pfr_export_options options = {.size = sizeof options, .format = format, .of = of, .path = path};
    const pfr_status st = pfr_export(reader, &options, out, err);
    remove_folder(path);
    return st;
}

#endif
