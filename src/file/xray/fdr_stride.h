/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_FDR_STRIDE_H
#define PFR_FILE_FDR_STRIDE_H
/* What other files use of fdr_stride.c, which says how it works. */
#include "file/xray/xray.h"

/* The distance between buffers of version 1, when the header says a wrong one. */
pfr_status fdr_settle_stride(pfr_reader *r, pfr_error *err);

#endif
