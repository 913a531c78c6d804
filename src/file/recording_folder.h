/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_RECORDING_FOLDER_H
#define PFR_FILE_RECORDING_FOLDER_H
/* The files of a recording that is a directory. */
#include "file/read/recording.h"

/* Opens `data`, then all data.N in ascending order of their numbers. */
pfr_status open_parts(pfr_reader *reader, int folder, const struct input_setup *setup, pfr_error *err);

#endif
