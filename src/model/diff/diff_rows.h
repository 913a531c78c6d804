/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_ROWS_H
#define PFR_MODEL_DIFF_ROWS_H
/* What other files use of diff_rows.c, which says how it works. */
#include "model/diff/diff_parts.h"

pfr_status diff_rows_make(pfr_diff *d, pfr_error *err);

/* Names given with options.same: of the base, as the new side has it. */
const char *diff_same_name(const pfr_diff *d, const char *name);

#endif
