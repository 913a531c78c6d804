/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_FDR_STRIDE_H
#define PFR_FILE_FDR_STRIDE_H
/* The distance between buffers of version 1. */
#include "file/xray/xray.h"

/* If the header states a wrong distance, determines it from the buffers of the trace. */
pfr_status fdr_settle_stride(pfr_reader *r, pfr_error *err);

#endif
