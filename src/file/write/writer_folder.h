/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_WRITER_FOLDER_H
#define PFR_FILE_WRITER_FOLDER_H
/* What other files use of writer_folder.c, which says how it works. */
#include "file/write/recording_writer.h"

pfr_status folder_open(pfr_writer *w, const char *path, pfr_error *err);
pfr_status folder_part(pfr_writer *w, uint32_t number, pfr_error *err); /* which becomes the current one */
pfr_status folder_whole(pfr_writer *w, pfr_error *err);                 /* gives it its name */
void folder_close(pfr_writer *w, bool is_whole);

#endif
