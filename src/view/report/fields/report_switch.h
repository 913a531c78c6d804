/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_SWITCH_H
#define PFR_VIEW_REPORT_SWITCH_H
/*
 * --switch-on and --switch-off: samples between the samples of two events. Samples are counted in parallel and in any
 * order, so the recording is read once before to find the times of the switches; they become time ranges.
 */
#include "view/report/fields/report_parts.h"

/* Fills r->switched; nothing is read without these options. USAGE: no such event, or its samples have no time. */
pfr_status switch_learn(struct report *r, pfr_error *err);
void switch_free(struct report *r);

/* Whether a sample at this time is between the switches; by bisection, since there may be many. */
bool switch_is_on(const struct report *r, uint64_t time);

#endif
