/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_WRITER_PART_OPEN_H
#define PFR_FILE_WRITER_PART_OPEN_H
/* Opens one file of a recording for writing. */
#include "file/write/recording_writer.h"

pfr_status part_open(pfr_writer *w, int fd, bool owned, uint32_t number, pfr_error *err);

#endif
