/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_PAIR_H
#define PFR_EXPORT_PAGE_PAIR_H
/*
 * Combines two models into one, for a page that compares them. Functions are the same if they agree in their name and
 * in the name and kind of their object, so that equal stacks of both models are a single node. Events of the newer
 * model come first, events of the baseline last. Baseline samples are moved in time so that both recordings begin
 * together. Calls and intervals are only those of the newer model.
 */
#include <perfray/model.h>

/* Returns NULL, with *err, on failure: MEMORY, LIMIT, and errors of reading samples. */
pfr_model *page_pair_make(const pfr_model *newer, const pfr_model *baseline, const pfr_alloc *alloc, pfr_error *err);

#endif
