/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_FOLDER_H
#define PFR_EXPORT_FOLDER_H
/* Formats that are a folder of files. */
#include "base/io/output.h"

/* Makes the folder, with mode 0700, if it does not exist. Errors: USAGE: the path is missing, or something other than a
   folder has this name (even a symbolic link to a folder); IO, PERMISSION. */
pfr_status folder_make(const char *path, pfr_error *err);

/* Stores "PATH/NAME" with its NUL in `to`, an output in memory; errors are kept in `to`. */
void folder_path(struct output *to, const char *path, const char *name);

#endif
