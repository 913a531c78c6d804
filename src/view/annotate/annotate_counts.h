/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_COUNTS_H
#define PFR_VIEW_ANNOTATE_COUNTS_H
/* Counts the samples of each frame. */
#include "view/annotate/annotate_parts.h"

/* Fills events, sums and, by line, line_sums. Errors: those of pfr_samples_next; USAGE: there is no such event. */
pfr_status annotate_count(struct annotate *a, pfr_error *err);

#endif
