/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_REMARKS_H
#define PFR_MODEL_DIFF_REMARKS_H
/* Interface of diff_remarks.c, which describes how it works. */
#include "model/diff/diff_parts.h"

pfr_status diff_remark(pfr_diff *d, pfr_error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));
pfr_status diff_remarks_make(pfr_diff *d, pfr_error *err);

#endif
