/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_MODEL_COLLECT_H
#define PFR_MODEL_OPEN_MODEL_COLLECT_H
/* Interface of model_collect.c, which describes how it works. */
#include "model/open/model_parts.h"

/* watch: may be NULL. */
void collector_init(struct collector *c, struct pfr_model *m, const struct model_watch *watch);
void collector_free(struct collector *c);

/* Call it when all samples are counted: moves the columns, the nodes of samples, the time spans of events, and the keys
   of threads and comms to the model. */
pfr_status collector_settle(struct collector *c, pfr_error *err);

#endif
