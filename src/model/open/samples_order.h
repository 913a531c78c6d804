/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_SAMPLES_ORDER_H
#define PFR_MODEL_OPEN_SAMPLES_ORDER_H
/* Interface of samples_order.c, which describes how it works. */
#include "model/open/model_parts.h"

pfr_status samples_order_open(struct pfr_samples *c, pfr_error *err);
pfr_status samples_order_next(struct pfr_samples *c, pfr_error *err);
void samples_order_rewind(struct pfr_samples *c);
void samples_order_close(struct pfr_samples *c);

#endif
