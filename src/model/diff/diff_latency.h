/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_LATENCY_H
#define PFR_MODEL_DIFF_LATENCY_H
/* What other files use of diff_latency.c, which says how it works. */
#include "model/diff/diff_parts.h"

pfr_status diff_latencies_make(pfr_diff *d, pfr_error *err);

#endif
