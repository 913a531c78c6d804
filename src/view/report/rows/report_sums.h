/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_SUMS_H
#define PFR_VIEW_REPORT_SUMS_H
/* Interface of report_sums.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* Adds the profile's sums to the rows. */
pfr_status walk_sums(struct report *r, pfr_error *err);

/* Whether all facts that distinguish rows are known when a frame is created. If so, sums_likeness is used as
 * profile_request.likeness. */
bool sums_can_be(const struct report *r);
unsigned sums_likeness(void *context, const struct profile *p, uint32_t frame, uint64_t *words);

#endif
