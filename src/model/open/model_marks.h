/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_MODEL_MARKS_H
#define PFR_MODEL_OPEN_MODEL_MARKS_H
/* Interface of model_marks.c, which describes how it works. */
#include "model/open/model_parts.h"

pfr_status model_make_marks(struct pfr_model *m, pfr_error *err);

#endif
