/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_WRITER_PART_OPEN_H
#define PFR_FILE_WRITER_PART_OPEN_H
/* What other files use of writer_part_open.c, which says how it works. */
#include "file/write/recording_writer.h"

pfr_status part_open(pfr_writer *w, int fd, bool owned, uint32_t number, pfr_error *err);

#endif
