/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_MODEL_INTERVALS_H
#define PFR_MODEL_OPEN_MODEL_INTERVALS_H
/* Interface of model_intervals.c, which describes how it works. */
#include "model/open/model_parts.h"

/* Also makes the marks (model_marks.h). */
pfr_status model_make_intervals(struct pfr_model *m, pfr_error *err);

#endif
