/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_ESTIMATE_H
#define PFR_MODEL_DIFF_ESTIMATE_H
/* Interface of diff_estimate.c, which describes how it works. */
#include "model/diff/diff_parts.h"

pfr_status diff_scratch_make(struct diff_scratch *scratch, const pfr_diff *d, pfr_error *err);
void diff_scratch_free(struct diff_scratch *scratch);
struct estimate diff_estimate(const pfr_diff *d, enum diff_side_name side, const struct diff_subject *subject,
                              struct diff_scratch *scratch);

/* Fits the distribution of the rows' dispersions if both sides have several runs. Call it before diff_measure. */
pfr_status diff_dispersions_fit(pfr_diff *d, struct diff_scratch *scratch, pfr_error *err);

/* Measures a subject on both sides. With PFR_DIFF_PER_TOTAL, the total itself is in percent of the base's total. */
pfr_diff_value diff_measure(const pfr_diff *d, const struct diff_subject *subject, struct diff_scratch *scratch);

#endif
