/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_MODEL_FACTS_H
#define PFR_MODEL_OPEN_MODEL_FACTS_H
/* Interface of model_facts.c, which describes how it works. */
#include "model/open/model_parts.h"

pfr_status model_make_facts(struct pfr_model *m, pfr_error *err);

/* Whether --event NAME means the event of this id: see event_is_meant(). */
bool model_event_is(const pfr_model *model, uint32_t id, const char *typed);

/* Returns the name of the clock that the times are from: "perf", "monotonic", ... The clock of a
   trace must have been learnt before. */
const char *model_clock_name(const pfr_reader *reader);

#endif
