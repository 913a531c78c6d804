/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_LIKELY_H
#define PFR_MODEL_DIFF_LIKELY_H
/* Interface of diff_likely.c, which describes how it works. */
#include "model/diff/diff_parts.h"

pfr_status diff_likely_find(pfr_diff *d, pfr_error *err);

#endif
