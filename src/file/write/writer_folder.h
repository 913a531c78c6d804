/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_WRITER_FOLDER_H
#define PFR_FILE_WRITER_FOLDER_H
/* Recordings as directories. */
#include "file/write/recording_writer.h"

pfr_status folder_open(pfr_writer *w, const char *path, pfr_error *err);
pfr_status folder_part(pfr_writer *w, uint32_t number, pfr_error *err); /* opens data.N and makes it the current part */
pfr_status folder_whole(pfr_writer *w, pfr_error *err);                 /* gives the directory its final name */
void folder_close(pfr_writer *w, bool is_whole);

#endif
