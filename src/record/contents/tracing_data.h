/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_TRACING_DATA_H
#define PFR_RECORD_TRACING_DATA_H
/* Tracepoint formats: see tracing_data.c. */
#include "record/rings/recorder_parts.h"

/* tracing_blob_read is called before privileges are dropped; tracing_blob_put writes the result into each file. */
pfr_status tracing_blob_read(pfr_recorder *r, pfr_error *err);
pfr_status tracing_blob_put(pfr_recorder *r, pfr_error *err);

#endif
