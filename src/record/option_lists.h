/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_OPTION_LISTS_H
#define PFR_RECORD_OPTION_LISTS_H
/* What other files use of option_lists.c, which says how it works. */
#include "record/rings/recorder_parts.h"

pfr_status plan_synthesis(pfr_recorder *r, pfr_error *err);

/* When counting is switched, by delay_ms or on_times. */
pfr_status plan_turns(pfr_recorder *r, pfr_error *err);

/* Once rings are there. */
pfr_status plan_drain(pfr_recorder *r, pfr_error *err);

#endif
