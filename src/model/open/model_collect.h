/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_MODEL_COLLECT_H
#define PFR_MODEL_OPEN_MODEL_COLLECT_H
/* Interface of model_collect.c, which describes how it works. */
#include "model/open/model_parts.h"

void collector_init(struct collector *c, struct pfr_model *m);
void collector_free(struct collector *c);

/* When all is counted: columns, nodes by sample, spans of events, and keys of threads and comms become the model's. */
pfr_status collector_settle(struct collector *c, pfr_error *err);

#endif
