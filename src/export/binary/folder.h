/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_FOLDER_H
#define PFR_EXPORT_FOLDER_H
/* Formats that are a folder of files. */
#include "base/io/output.h"

/* Makes the folder, with mode 0700, if it does not exist. USAGE: no path, or something else has this name (a symbolic
   link, too); IO, PERMISSION. */
pfr_status folder_make(const char *path, pfr_error *err);

/* "PATH/NAME" with its NUL into memory; failures stay with `to`. */
void folder_path(struct output *to, const char *path, const char *name);

#endif
