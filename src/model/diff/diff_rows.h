/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_ROWS_H
#define PFR_MODEL_DIFF_ROWS_H
/* Interface of diff_rows.c, which describes how it works. */
#include "model/diff/diff_parts.h"

pfr_status diff_rows_make(pfr_diff *d, pfr_error *err);

/* The name on the new side of a name on the base side, by options.same; `name` itself if it is not listed. */
const char *diff_same_name(const pfr_diff *d, const char *name);

#endif
