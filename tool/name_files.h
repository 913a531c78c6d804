/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_NAME_FILES_H
#define PERFRAY_TOOL_NAME_FILES_H
/* What the options --symfs, --debug-dir, --vmlinux and --kallsyms name, of commands that name addresses. */
#include <stdbool.h>

struct name_files { /* NULL: the option was not given */
    const char *symfs, *debug_dir, *vmlinux, *kallsyms;
};

/* Whether each is there and what the option means: a folder, an object file, a list of symbols. The first one that is
   not is told, as "who: --option name: why; what to do". A folder that is not there is told, and does. */
bool name_files_fit(const char *who, const struct name_files *files);

#endif
