/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_LATENCY_H
#define PFR_MODEL_DIFF_LATENCY_H
/* Interface of diff_latency.c, which describes how it works. */
#include "model/diff/diff_parts.h"

pfr_status diff_latencies_make(pfr_diff *d, pfr_error *err);

#endif
