/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_SAMPLES_CURSOR_H
#define PFR_MODEL_OPEN_SAMPLES_CURSOR_H
/* Interface of samples_cursor.c, which describes how it works. */
#include "model/open/model_parts.h"

/* Fills a batch from the columns in memory. */
pfr_status samples_copy(struct pfr_samples *c, pfr_error *err);

/* Fills a batch in file order, from the columns or the recording. */
pfr_status samples_fill(struct pfr_samples *c, pfr_error *err);

#endif
