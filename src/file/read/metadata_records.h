/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_METADATA_RECORDS_H
#define PFR_FILE_METADATA_RECORDS_H
/* What other files use of metadata_records.c, which says how it works. */
#include "file/read/recording.h"

/* Looks at a record that was just read; < 0 only for memory and limits. May move the record's
 * bytes. */
pfr_status notice(pfr_reader *r, pfr_record *rec, pfr_error *err);

#endif
