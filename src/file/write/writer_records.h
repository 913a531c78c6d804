/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_WRITER_RECORDS_H
#define PFR_FILE_WRITER_RECORDS_H
/* What other files use of writer_records.c, which says how it works. */
#include "file/write/recording_writer.h"

/* A header and `length` bytes of body that stand behind it in w->scratch. */
pfr_status record_emit(pfr_writer *w, uint32_t type, uint16_t misc, uint64_t length, pfr_error *err);

#endif
