/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_FDR_BUFFERS_H
#define PFR_FILE_FDR_BUFFERS_H
/* The record loop of flight-recorder traces. */
#include "file/xray/xray.h"

/* The next record of the trace. xray_basic.c and xray_profile.c have such a function for the other formats. */
pfr_status fdr_next(pfr_reader *r, pfr_record *rec, pfr_error *err);

#endif
