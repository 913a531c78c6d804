/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_TRACING_DATA_H
#define PFR_RECORD_TRACING_DATA_H
/* What other files use of tracing_data.c, which says how it works. */
#include "record/rings/recorder_parts.h"

/* Read before privileges end, written into each file */
pfr_status trace_blob_read(pfr_recorder *r, pfr_error *err);
pfr_status trace_blob_put(pfr_recorder *r, pfr_error *err);

#endif
