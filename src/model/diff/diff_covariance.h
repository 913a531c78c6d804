/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_COVARIANCE_H
#define PFR_MODEL_DIFF_COVARIANCE_H
/* Interface of diff_covariance.c, which describes how it works. */
#include "model/diff/diff_parts.h"

/* Makes s->covariance from the rounds, if the series has so many cells that this is worth it. */
pfr_status diff_covariance_make(pfr_diff *d, struct diff_series *s, pfr_error *err);
void diff_covariance_free(pfr_diff *d, struct diff_series *s);

/* The variance over the rounds of the value that has these sums by slot. `scaled`: room for DIFF_SLOTS_MOST numbers. */
double diff_covariance_value(const struct diff_series *s, const double *slots, float *scaled);

#endif
