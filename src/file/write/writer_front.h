/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_WRITER_FRONT_H
#define PFR_FILE_WRITER_FRONT_H
/* The parts of a recording before and after the records. */
#include "file/write/recording_writer.h"

pfr_status front_write(pfr_writer *w, pfr_error *err);
pfr_status front_event(pfr_writer *w, struct written_event *e, pfr_error *err); /* writes HEADER_ATTR, in a stream */
pfr_status back_write(pfr_writer *w, pfr_error *err);

#endif
