/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_SAMPLES_DECODE_H
#define PFR_MODEL_OPEN_SAMPLES_DECODE_H
/* Interface of samples_decode.c, which describes how it works. */
#include "model/open/model_parts.h"

/* Adds rows to the batch, as far as there is room. Rows that the filters exclude are left out. PFR_END: there are no
   more rows. */
pfr_status samples_decode(struct pfr_samples *c, pfr_error *err);
pfr_status samples_decode_open(struct pfr_samples *c, pfr_error *err);
void samples_decode_rewind(struct pfr_samples *c);
void samples_decode_close(struct pfr_samples *c);

#endif
