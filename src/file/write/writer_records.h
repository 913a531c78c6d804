/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_WRITER_RECORDS_H
#define PFR_FILE_WRITER_RECORDS_H
/* Writing of single records. */
#include "file/write/recording_writer.h"

/* Writes a record whose body (`length` bytes) is already in w->scratch, after space for its header. */
pfr_status record_emit(pfr_writer *w, uint32_t type, uint16_t misc, uint64_t length, pfr_error *err);

#endif
