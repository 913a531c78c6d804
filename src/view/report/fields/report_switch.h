/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_SWITCH_H
#define PFR_VIEW_REPORT_SWITCH_H
/*
 * --switch-on and --switch-off select samples by their position between the samples of two events. Samples are counted
 * in parallel and in any order, so an earlier pass over the recording finds the times of the switches, which become
 * time ranges.
 */
#include "view/report/fields/report_parts.h"

/* Fills r->switched; without these options, reads nothing. USAGE: there is no such event, or its samples have no
   time. */
pfr_status switch_learn(struct report *r, pfr_error *err);
void switch_free(struct report *r);

/* Whether the time is in one of the ranges; uses bisection, because there may be many. */
bool switch_is_on(const struct report *r, uint64_t time);

#endif
