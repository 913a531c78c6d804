/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_PLAN_H
#define PFR_RECORD_PLAN_H
/* Events and options to attrs: see plan.c. */
#include "record/rings/recorder_parts.h"

pfr_status plan_events(pfr_recorder *r, pfr_error *err);

#endif
