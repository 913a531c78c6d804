/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_VALUES_H
#define PFR_MODEL_DIFF_VALUES_H
/* Interface of diff_values.c, which describes how it works. */
#include "model/diff/diff_parts.h"

/* Whether the row [total] has a verdict. */
bool diff_total_is_judged(const pfr_diff *d);

pfr_status diff_rows_measure(pfr_diff *d, pfr_error *err);
/* Whether the row's share changed by the typical factor, within the limits of its interval. */
bool diff_row_follows(const pfr_diff *d, const pfr_diff_row *row);

#endif
