/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_PAIR_H
#define PFR_EXPORT_PAGE_PAIR_H
/*
 * Two models as one, for a page that compares them: functions are the same if their names, the names of their objects
 * and the kinds of these are, so that equal stacks are one node of one tree. Events of the newer model come first,
 * those of the baseline after them. Baseline samples are moved in time: both recordings begin together. Calls and
 * intervals are those of the newer model.
 */
#include <perfray/model.h>

/* NULL, with *err: MEMORY, LIMIT, and what reading samples gives. */
pfr_model *page_pair_make(const pfr_model *newer, const pfr_model *baseline, const pfr_alloc *alloc, pfr_error *err);

#endif
