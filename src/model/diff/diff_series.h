/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_SERIES_H
#define PFR_MODEL_DIFF_SERIES_H
/* Interface of diff_series.c, which describes how it works. */
#include "model/diff/diff_parts.h"

pfr_status diff_series_read(pfr_diff *d, struct diff_series *s, pfr_error *err);
void diff_series_free(pfr_diff *d, struct diff_series *s);

#endif
