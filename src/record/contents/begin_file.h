/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_BEGIN_FILE_H
#define PFR_RECORD_BEGIN_FILE_H
/* What other files use of begin_file.c, which says how it works. */
#include "record/rings/recorder_parts.h"

pfr_status file_begin(pfr_recorder *r, pfr_error *err);

/* CLOCK_DATA, at the end with a second pair of times. */
pfr_status file_put_clocks(pfr_recorder *r, pfr_error *err);

/* Which counter is which, from one on. */
pfr_status file_put_ids(pfr_recorder *r, size_t counter, pfr_error *err);

#endif
