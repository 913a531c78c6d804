/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_BEGIN_FILE_H
#define PFR_RECORD_BEGIN_FILE_H
/* Start of an output file: see begin_file.c. */
#include "record/rings/recorder_parts.h"

pfr_status file_begin(pfr_recorder *r, pfr_error *err);

/* Writes CLOCK_DATA again, at the end of a file, with a second pair of times. */
pfr_status file_put_clocks(pfr_recorder *r, pfr_error *err);

/* Writes ID_INDEX records for the counters from number `counter` on. */
pfr_status file_put_ids(pfr_recorder *r, size_t counter, pfr_error *err);

#endif
