/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_METADATA_RECORDS_H
#define PFR_FILE_METADATA_RECORDS_H
/* Handling of records that describe the recording itself. metadata_records.c has the table of functions by type. */
#include "file/read/recording.h"

/* Call it for each record read. Returns < 0 only for out of memory and exceeded limits. It may move rec->bytes. */
pfr_status notice(pfr_reader *r, pfr_record *rec, pfr_error *err);

#endif
