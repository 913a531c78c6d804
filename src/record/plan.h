/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_PLAN_H
#define PFR_RECORD_PLAN_H
/* What other files use of plan.c, which says how it works. */
#include "record/rings/recorder_parts.h"

pfr_status plan_events(pfr_recorder *r, pfr_error *err);

#endif
