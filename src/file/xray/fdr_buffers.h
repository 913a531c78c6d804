/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_FDR_BUFFERS_H
#define PFR_FILE_FDR_BUFFERS_H
/* What other files use of fdr_buffers.c, which says how it works. */
#include "file/xray/xray.h"

/* Xray_basic.c, xray_profile.c */
pfr_status fdr_next(pfr_reader *r, pfr_record *rec, pfr_error *err);

#endif
